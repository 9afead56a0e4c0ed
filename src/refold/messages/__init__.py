"""Messages as values: read from any format, written back, and proven to be what they were."""
