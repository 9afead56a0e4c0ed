"""Sees texts whose line lengths vary more than those of prose do."""

from __future__ import annotations

from collections.abc import Iterator
from operator import mul
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs
from refold.scan.view import TextView

_MIN_LINES: Final = 4
"""Fewer lines have no variance to speak of."""
_MAX_VARIATION: Final = 1.2
"""Standard deviation over mean."""


def _find(view: TextView) -> Iterator[Span]:
    if view.text.count("\n") < _MIN_LINES - 1:
        return
    lengths = list(map(len, view.lines))
    total = len(view.text) - len(lengths) + 1
    # deviation > limit × mean, both sides squared and multiplied by the number of lines, squared.
    spread = len(lengths) * sum(map(mul, lengths, lengths)) - total * total
    if spread > _MAX_VARIATION**2 * total * total:
        yield 0, len(view.text)


DETECTOR: Final = Detector(
    reason="high_line_length_variance",
    hard=True,
    needs=Needs(shapes=r"\n"),
    find=_find,
)
