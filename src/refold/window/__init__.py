"""How much fits into a model's window, and what to do when it did not."""

from __future__ import annotations

from refold.window.models import DEFAULT_REGISTRY, Window, WindowRegistry, window_of
from refold.window.overflow import Overflow, parse_overflow
from refold.window.reserve import Available, available_tokens, count_tools

__all__ = [
    "DEFAULT_REGISTRY",
    "Available",
    "Overflow",
    "Window",
    "WindowRegistry",
    "available_tokens",
    "count_tools",
    "parse_overflow",
    "window_of",
]
