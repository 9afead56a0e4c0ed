"""Sees texts whose line lengths vary more than those of prose do."""

from __future__ import annotations

from collections.abc import Iterator
from operator import mul
from typing import Final

from refold.detectors import _signs as signs
from refold.detectors._measures import MIN_LINES, lengths_vary
from refold.detectors.base import Detector, Span
from refold.text.view import TextView


def _find(view: TextView) -> Iterator[Span]:
    lengths = list(map(len, view.lines))
    total = len(view.text) - len(lengths) + 1
    if lengths_vary(len(lengths), total, sum(map(mul, lengths, lengths))):
        yield 0, len(view.text)


def _may_see(view: TextView) -> bool:
    return view.text.count("\n") >= MIN_LINES - 1


DETECTOR: Final = Detector(
    reason="high_line_length_variance",
    hard=True,
    sign=signs.HIGH_LINE_LENGTH_VARIANCE,
    gate=_may_see,
    find=_find,
)
