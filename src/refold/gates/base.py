"""What a gate is: one question that a replacement must answer before it may be used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from refold.text.facts import Facts, extract_facts


class Source:
    """The text that a replacement stands for, with what the gates need of it, made once."""

    def __init__(self, text: str, count_tokens: Callable[[str], int]) -> None:
        self.text = text
        self.count_tokens = count_tokens

    @cached_property
    def facts(self) -> Facts:
        """The facts that must not get lost."""
        return extract_facts(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a replacement may not be used."""

    gate: str
    why: str
    missing: tuple[str, ...] = ()
    """Facts of the source that the replacement lacks: asking again with them may help."""


Gate = Callable[[Source, str], Refusal | None]
"""Looks at a source and a replacement; refuses, or has nothing against it."""
