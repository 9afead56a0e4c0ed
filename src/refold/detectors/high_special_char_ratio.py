"""Sees texts that consist of brackets, operators and other signs to more than 15 %."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from refold.detectors import _signs as signs
from refold.detectors._measures import is_mostly_signs
from refold.detectors.base import Detector, Span
from refold.text.view import TextView

_SPECIAL: Final = rb"{}[]<>|\;:@#$%^&*()=+`~"


def _is_special(view: TextView) -> bool:
    plain = view.plain
    return is_mostly_signs(len(plain) - len(plain.translate(None, _SPECIAL)), len(plain))


def _find(view: TextView) -> Iterator[Span]:
    if _is_special(view):
        yield 0, len(view.text)


DETECTOR: Final = Detector(
    reason="high_special_char_ratio",
    hard=True,
    sign=signs.HIGH_SPECIAL_CHAR_RATIO,
    gate=_is_special,
    find=_find,
)
