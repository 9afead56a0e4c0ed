"""Refuses an answer that hardly speaks of what the source speaks of."""

from __future__ import annotations

import re
from typing import Final

from refold.llm.gates.base import STEM_CHARS, Gate, Refusal, Source
from refold.scan.patterns import IDEOGRAPHS

_CONTENT: Final = re.compile(rf"[^\W\d_{IDEOGRAPHS}]{{4,}}+|[{IDEOGRAPHS}]{{2}}")
_PAIR: Final = re.compile(rf"(?=([{IDEOGRAPHS}]{{2}}))")
_FEW: Final = 12
"""A source with fewer content words than this leaves nothing to compare."""
_MIN_SHARED: Final = 2
"""One word in common may be chance."""
_MIN_SHARE: Final = 0.4
"""At least so much of an answer is in the source's own words."""


def _check(source: Source, answer: str) -> Refusal | None:
    known = source.once(_known)
    if len(known) < _FEW:
        return None
    said = _stems(answer)
    shared = said & known
    if len(shared) < _MIN_SHARED:
        return Refusal("it says next to nothing of the text")
    if len(shared) < _MIN_SHARE * len(said):
        return Refusal("it speaks of other things than the text")
    return None


def _known(source: Source) -> set[str]:
    return _stems(source.text) | set(_PAIR.findall(source.text))


def _stems(text: str) -> set[str]:
    return {word[:STEM_CHARS] for word in _CONTENT.findall(text.casefold())}


GATE: Final = Gate("on_topic", _check)
