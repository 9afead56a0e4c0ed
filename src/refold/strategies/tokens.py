"""Shorten a text to the words that a caller's classifier keeps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

_BEFORE: Final = re.compile(r"\s++([.,;:!?\])}])")
_AFTER: Final = re.compile(r"([(\[{])\s++")
_GAPS: Final = re.compile(r"\s{2,}+")
_SURE: Final = 0.5


@dataclass(frozen=True, slots=True)
class TokenVerdict:
    """One word of a text: whether to keep it, and how sure that is."""

    token: str
    keep: bool
    confidence: float = 1.0


ClassifyTokens = Callable[[str], Iterable[TokenVerdict]]
"""Cuts a text into words and judges each."""


def join_kept(verdicts: Iterable[TokenVerdict]) -> str:
    """Join the words that stay: those to keep, and those whose removal is uncertain."""
    kept = [v.token for v in verdicts if v.keep or v.confidence < _SURE]
    text = _AFTER.sub(r"\1", _BEFORE.sub(r"\1", " ".join(kept)))
    return _GAPS.sub(" ", text).strip()
