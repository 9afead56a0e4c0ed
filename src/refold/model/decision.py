"""A verdict on a segment: a closed set of actions, each with the reason for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Keep:
    """Leave the text as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refer:
    """Replace a duplicate by a pointer to the copy that stays; similarity 1 means exact."""

    to: int
    similarity: float = 1.0

    @property
    def exact(self) -> bool:
        """Whether both copies are the same to the letter."""
        return self.similarity >= 1.0


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What is to happen to one segment, and why."""

    action: Action
    reason: str
