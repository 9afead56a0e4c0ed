"""refold without changing code: inside coding agents, and between clients and providers."""
