"""A verdict on a segment: a closed set of actions, each with the reason for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Depth = Literal["gentle", "moderate", "aggressive"]


@dataclass(frozen=True, slots=True)
class Keep:
    """Leave the text as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refer:
    """Replace a copy by a pointer to the one that stays."""

    to: int
    similarity: float | None = None
    """How alike a near copy is, from 0 to 1; `None` if it is the same to the letter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersede:
    """Shorten a statement that a later message corrects, and point to the correction."""

    by: int
    signal: str


@dataclass(frozen=True, slots=True)
class SplitCode:
    """Keep fenced code word for word and shorten the prose around it."""


@dataclass(frozen=True, slots=True)
class Summarize:
    """Shorten prose, together with its neighbours of the same role."""


Action = Keep | Refer | Supersede | SplitCode | Summarize


class Decision:
    """What is to happen to one segment, and why; read-only."""

    __slots__ = ("action", "reason")

    def __init__(self, action: Action, reason: str) -> None:
        self.action: Final[Action] = action
        self.reason: Final = reason
