"""The steps of the pipeline; each adds decisions and never takes one back."""
