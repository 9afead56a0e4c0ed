"""Shortening one kind of text."""
