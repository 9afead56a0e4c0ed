"""How much fits into a model's window, and what to do when it did not."""

from __future__ import annotations

from refold.window.manager import ContextWindowManager
from refold.window.models import DEFAULT_REGISTRY, Window, WindowRegistry, window_of
from refold.window.overflow import Overflow, parse_overflow
from refold.window.reserve import Available, available_tokens, count_tools
from refold.window.result import FitResult

__all__ = [
    "DEFAULT_REGISTRY",
    "Available",
    "ContextWindowManager",
    "FitResult",
    "Overflow",
    "Window",
    "WindowRegistry",
    "available_tokens",
    "count_tools",
    "parse_overflow",
    "window_of",
]
