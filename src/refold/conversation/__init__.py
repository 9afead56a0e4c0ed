"""Conversations that grow: what is shown of one, and how much of it a model's window takes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from refold.conversation.limits import Available, available_tokens, count_tools
    from refold.conversation.models import DEFAULT_REGISTRY, Window, WindowRegistry, window_of
    from refold.conversation.overflow import Overflow, asend_fitting, parse_overflow, send_fitting
    from refold.conversation.report import FitResult, SessionReport
    from refold.conversation.session import Session
    from refold.conversation.window import ContextWindowManager

_HOMES = {
    "DEFAULT_REGISTRY": "models",
    "Available": "limits",
    "ContextWindowManager": "window",
    "FitResult": "report",
    "Overflow": "overflow",
    "Session": "session",
    "SessionReport": "report",
    "Window": "models",
    "WindowRegistry": "models",
    "asend_fitting": "overflow",
    "available_tokens": "limits",
    "count_tools": "limits",
    "parse_overflow": "overflow",
    "send_fitting": "overflow",
    "window_of": "models",
}
"""The module of every public name: who wants a session need not wait for the table of windows."""


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        from refold.gone import GONE_NAMES  # only on the way to an error

        if name in GONE_NAMES:
            raise AttributeError(f"{__name__}.{name} is gone: {GONE_NAMES[name]}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value  # so that the next look-up is an ordinary one
    return value


__all__ = [
    "DEFAULT_REGISTRY",
    "Available",
    "ContextWindowManager",
    "FitResult",
    "Overflow",
    "Session",
    "SessionReport",
    "Window",
    "WindowRegistry",
    "asend_fitting",
    "available_tokens",
    "count_tools",
    "parse_overflow",
    "send_fitting",
    "window_of",
]
