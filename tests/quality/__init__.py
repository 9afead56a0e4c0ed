"""What the figures say about a folded conversation."""
