"""Shorten a text to the words that a caller's classifier keeps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

_BEFORE: Final = re.compile(r"(?<!\s)\s++([.,;:!?\])}])")
_AFTER: Final = re.compile(r"([(\[{])\s++")
_GAPS: Final = re.compile(r"\s{2,}+")
_SURE: Final = 0.5
"""A classifier that is less sure that a word can go has not said so."""


@dataclass(frozen=True, slots=True)
class TokenVerdict:
    """One word of a text: whether to keep it, and how sure that is."""

    token: str
    keep: bool
    confidence: float = 1.0


ClassifyTokens = Callable[[str], Iterable[TokenVerdict | Mapping[str, Any]]]
"""Cuts a text into words and judges each; a mapping with the names of a verdict will do."""


def join_kept(text: str, verdicts: Iterable[TokenVerdict | Mapping[str, Any]]) -> str:
    """Join the words of *text* that stay: those to keep, and those whose removal is uncertain.

    Whoever judges the words may leave some out, but add none: they are in the text, in this order.
    """
    kept: list[str] = []
    place = 0
    for given in verdicts:
        verdict = TokenVerdict(**given) if isinstance(given, Mapping) else given
        place = text.index(verdict.token, place) + len(verdict.token)
        if verdict.keep or verdict.confidence < _SURE:
            kept.append(verdict.token)
    joined = _AFTER.sub(r"\1", _BEFORE.sub(r"\1", " ".join(kept)))
    return _GAPS.sub(" ", joined).strip()
