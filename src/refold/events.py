"""Progress events of asking models, reported to a callback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

EventKind = Literal["start", "item", "failed", "done"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One step of asking a model: its start, an answer, a failure, or the end."""

    kind: EventKind
    done: int
    """How many questions of this pass are settled."""
    total: int
    """How many questions this pass has."""
    detail: str = ""
    """For a failure, what went wrong."""


Listener = Callable[[Event], None]
"""Progress callback; an exception aborts the run."""
