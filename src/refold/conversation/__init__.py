"""Conversations that grow: what is shown of one, and how much of it a model's window takes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from refold.conversation.limits import Available, available_tokens, count_tools
    from refold.conversation.models import DEFAULT_REGISTRY, Window, WindowRegistry, window_of
    from refold.conversation.overflow import Overflow, parse_overflow
    from refold.conversation.report import FitResult, SessionReport
    from refold.conversation.session import Session
    from refold.conversation.window import ContextWindowManager

_HOMES = {
    name: f"{__name__}.{module}"
    for module, names in {
        "limits": "Available available_tokens count_tools",
        "models": "DEFAULT_REGISTRY Window WindowRegistry window_of",
        "overflow": "Overflow parse_overflow",
        "report": "FitResult SessionReport",
        "session": "Session",
        "window": "ContextWindowManager",
    }.items()
    for name in names.split()
}
"""The module of every public name: who wants a session need not wait for the table of windows."""


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        from refold.gone import missing  # only on the way to an error

        raise missing(__name__, name)
    value = getattr(import_module(home), name)
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
    "available_tokens",
    "count_tools",
    "parse_overflow",
    "window_of",
]
