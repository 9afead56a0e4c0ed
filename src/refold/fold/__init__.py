"""The fold: what a conversation shows in a token budget, and how that is chosen."""
