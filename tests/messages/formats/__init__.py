"""Message shapes of providers and session files."""
