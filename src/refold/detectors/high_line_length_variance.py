"""Sees texts whose line lengths vary more than those of prose do."""

from __future__ import annotations

from collections.abc import Iterator
from operator import mul
from typing import Final

from refold.detectors.base import Detector, Span
from refold.text.view import TextView

_MIN_LINES: Final = 4
_MAX_VARIATION: Final = 1.2
"""Standard deviation over mean."""


def _find(view: TextView) -> Iterator[Span]:
    lengths = list(map(len, view.lines))
    total = len(view.text) - len(lengths) + 1
    squares = sum(map(mul, lengths, lengths))
    # deviation > limit × mean, both sides squared and multiplied by the number of lines, squared.
    spread = len(lengths) * squares - total * total
    if len(lengths) >= _MIN_LINES and spread > _MAX_VARIATION**2 * total * total:
        yield 0, len(view.text)


def _may_see(view: TextView) -> bool:
    return view.text.count("\n") >= _MIN_LINES - 1


DETECTOR: Final = Detector(reason="high_line_length_variance", hard=True, find=_find, gate=_may_see)
