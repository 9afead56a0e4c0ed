"""Refuses an answer in another language than its source, where both are plain to see."""

from __future__ import annotations

from typing import Final

from refold.llm.gates._words import LANGUAGES, language_of
from refold.llm.gates.base import Gate, Refusal, Source


def _check(source: Source, answer: str) -> Refusal | None:
    theirs = language_of(answer)
    if theirs is None:
        return None
    ours = language_of(source.text)
    if ours is None or ours == theirs or _may_be_same(ours, theirs):
        return None
    return Refusal(f"the source is {ours}, the answer {theirs}")


def _may_be_same(one: str, other: str) -> bool:
    """Latin letters without a known language may be any language that uses them."""
    if "Latin" in {one, other}:
        return {one, other} - {"Latin"} <= set(LANGUAGES)
    return False


GATE: Final = Gate("same_language", _check)
