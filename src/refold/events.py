"""Progress events that a long run reports to a callback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

EventKind = Literal["start", "item", "failed", "done"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One step of asking a model: the beginning, an answer, a failure, the end."""

    kind: EventKind
    done: int
    """Questions settled so far in this pass."""
    total: int
    """Questions of this pass."""
    detail: str = ""
    """What went wrong, for a failure."""


Listener = Callable[[Event], None]
"""Progress callback; an exception aborts the run."""
