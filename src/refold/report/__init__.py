"""The report: what a fold keeps and drops, told to people."""
