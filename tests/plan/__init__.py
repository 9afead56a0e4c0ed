"""The planner: one budget over a whole conversation, spent on what later turns will need."""
