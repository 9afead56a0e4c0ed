"""Sees texts that consist of brackets, operators and other signs to more than 15 %."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.text.view import TextView

_SPECIAL: Final = rb"{}[]<>|\;:@#$%^&*()=+`~"
_MAX_SHARE: Final = 0.15


def _find(view: TextView) -> Iterator[Span]:
    # The signs are ASCII, so they can be counted in UTF-8, where deleting them is one fast pass.
    data = view.text.encode("utf-8", "surrogatepass")
    special = len(data) - len(data.translate(None, _SPECIAL))
    if special > _MAX_SHARE * len(view.text):
        yield 0, len(view.text)


DETECTOR: Final = Detector(reason="high_special_char_ratio", hard=True, find=_find)
