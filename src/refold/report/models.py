"""Which models a session was held with, as its records say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

_PLACES: Final = ("message", "payload")
"""Where Claude Code and Codex have the turn, and the model beside it."""
_MAX_CHARS: Final = 100
"""No model has a longer name; what is longer is something else."""
USUAL_MODELS: Final = (
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "gpt-6.1-sol",
    "gpt-6.1-terra",
    "gemini-4-argon",
    "gemini-3.8-flash",
)
"""Whose prices are shown where nobody says which model reads: large and small, of three makers."""


def models_in(wires: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of the models in order of their last appearance, the latest first."""
    found: dict[str, None] = {}
    for wire in wires:
        name = _model_of(wire)
        if name:
            found.pop(name, None)
            found[name] = None
    return list(reversed(found))


def _model_of(wire: Mapping[str, Any]) -> str:
    for place in (wire, *(wire.get(name) for name in _PLACES)):
        name = place.get("model") if isinstance(place, Mapping) else None
        # Claude Code writes `<synthetic>` where it speaks itself.
        if isinstance(name, str) and 0 < len(name) <= _MAX_CHARS and not name.startswith("<"):
            return name
    return ""
