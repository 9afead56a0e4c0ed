"""What holds for every conversation, checked with generated ones."""
