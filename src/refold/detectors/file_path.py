"""Sees file paths of at least two steps: /usr/bin, src/refold/model.py."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs
from refold.scan.view import TextView

# Searching for the first slash and reading back from it keeps long words without one free.
_STEPS: Final = re.compile(r"/[A-Za-z0-9_.-]++(?:/[A-Za-z0-9_.-]++)++")
_NAME: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-~@"
_MAX_NAME: Final = 128
"""How far the first step is read back from its slash; it bounds the time."""


def _find(view: TextView) -> Iterator[Span]:
    text = view.text
    for found in _STEPS.finditer(text):
        start = found.start()
        before = text[max(0, start - _MAX_NAME) : start]
        first = len(before) - len(before.rstrip(_NAME))
        yield start - first, found.end() - _sentence_end(found[0])


def _sentence_end(steps: str) -> int:
    return len(steps) - len(steps.rstrip(".")) if not steps.endswith("/..") else 0


DETECTOR: Final = Detector(reason="file_path", hard=False, needs=Needs(shapes="/"), find=_find)
