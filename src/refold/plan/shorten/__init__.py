"""How to shorten one kind of text without a model."""
