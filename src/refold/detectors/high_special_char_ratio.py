"""Sees texts that consist of brackets, operators and other signs to more than 15 %."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.view import TextView

_SPECIAL: Final = rb"{}[]<>|\;:@#$%^&*()=+`~"
_MAX_SHARE: Final = 0.15
"""The contract's."""


def _find(view: TextView) -> Iterator[Span]:
    plain = view.plain
    if len(plain) - len(plain.translate(None, _SPECIAL)) > _MAX_SHARE * len(plain):
        yield 0, len(plain)


DETECTOR: Final = Detector(
    reason="high_special_char_ratio",
    hard=True,
    find=_find,
)
