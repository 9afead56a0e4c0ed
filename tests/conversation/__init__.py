"""Folding inside an agent loop."""
