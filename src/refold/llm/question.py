"""What the pipeline may ask of a model, and what comes back."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A classifier's word on a text."""

    preserve: bool
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """Texts that a model should judge, or write shorter; each distinct text once."""

    judge: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    contexts: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a text to write is, for some of them."""
    rules: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the rules would write for some of these texts: an answer that lacks facts has to be
    better than that; of other texts it must not lack any."""
    stretches: frozenset[str] = frozenset()
    """Those of these texts that are many messages: their answers are checked line by line."""

    def __len__(self) -> int:
        return len(self.judge) + len(self.write)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a model said and the gates let through; a text that is not there has no answer."""

    judged: Mapping[str, Judgement] = field(default_factory=dict[str, Judgement])
    written: Mapping[str, str] = field(default_factory=dict[str, str])


Flow = Generator[Questions, Answers, T]
"""Pure logic that yields questions and resumes with the answers."""
