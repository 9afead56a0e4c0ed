"""refold without code to change: beside coding agents, and between clients and providers."""
