"""Attacks on refold's promises, one module an area."""
