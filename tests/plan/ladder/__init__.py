"""What a token budget promises, checked against the messages themselves."""
