"""Sees formulas written with mathematical characters: ∀x ∈ S, a ≤ b ≠ c."""

from __future__ import annotations

import re
from collections.abc import Iterator
from heapq import merge
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs
from refold.scan.view import TextView

# A strong sign needs an operand after it: "(・∀・)" is a face, not a formula.
_STRONG: Final = re.compile(
    r"[∀∃∄∈∉⊂⊆⊃⊇∪∩∧∨¬∑∏∫√∂∇]\s?(?:[A-Za-z0-9Α-Ωα-ωℂℕℚℝℤ∅({\[∀∃¬√∑∫]|[_^][A-Za-z0-9{(])"
)
# Relations, and signs of arithmetic that do not stand at a number ("300×250", "± 5").
_WEAK: Final = re.compile(r"([≈≠≤≥∞])\1*+|([±×÷])(?!\s?[0-9])(?<![0-9].)(?<![0-9]\s.)")
_SIGNS: Final = "∀∃∄∈∉⊂⊆⊃⊇∪∩∧∨¬∑∏∫√∂∇≈≠≤≥∞±×÷"
_NEAR: Final = 40
"""Two different weak signs at most this far apart make a formula; one alone is prose."""


def _find(view: TextView) -> Iterator[Span]:
    yield from merge(_strong(view.text), _weak_pairs(view.text))


def _strong(text: str) -> Iterator[Span]:
    for found in _STRONG.finditer(text):
        yield found.span()


def _weak_pairs(text: str) -> Iterator[Span]:
    before: re.Match[str] | None = None
    for sign in _WEAK.finditer(text):
        if (
            before is not None
            and before[0][0] != sign[0][0]
            and sign.start() - before.end() <= _NEAR
        ):
            yield before.start(), sign.end()
        before = sign


DETECTOR: Final = Detector(
    reason="unicode_math", hard=True, needs=Needs(shapes=f"[{_SIGNS}]"), find=_find
)
