"""Counting tokens: exactly, by estimate, by model."""
