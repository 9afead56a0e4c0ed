"""The values that travel through the pipeline: messages, segments, decisions, plans."""
