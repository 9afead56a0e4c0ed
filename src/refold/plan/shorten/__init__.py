"""Arguments of calls, written shorter."""
