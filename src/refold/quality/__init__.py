"""How much of the original a folded conversation still shows."""
