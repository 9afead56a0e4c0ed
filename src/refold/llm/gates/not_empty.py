"""Refuses an answer without a single letter or digit."""

from __future__ import annotations

from typing import Final

from refold.llm.gates.base import Gate, Refusal, Source


def _check(_source: Source, answer: str) -> Refusal | None:
    if any(map(str.isalnum, answer)):
        return None
    return Refusal("the answer says nothing")


GATE: Final = Gate("not_empty", _check)
