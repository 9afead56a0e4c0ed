"""How much fits into a model's window, and what to do when it did not."""

from __future__ import annotations

from refold.window.manager import ContextWindowManager
from refold.window.memory import FactSheet, RollingSummary, SlidingWindow
from refold.window.models import DEFAULT_REGISTRY, Window, WindowRegistry, window_of
from refold.window.overflow import Overflow, parse_overflow
from refold.window.recovery import asend_fitting, send_fitting
from refold.window.reserve import Available, available_tokens, count_tools
from refold.window.result import FitResult

__all__ = [
    "DEFAULT_REGISTRY",
    "Available",
    "ContextWindowManager",
    "FactSheet",
    "FitResult",
    "Overflow",
    "RollingSummary",
    "SlidingWindow",
    "Window",
    "WindowRegistry",
    "asend_fitting",
    "available_tokens",
    "count_tools",
    "parse_overflow",
    "send_fitting",
    "window_of",
]
