"""The steps of the pipeline, seen from outside."""
