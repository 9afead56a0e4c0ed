"""Sees e-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs
from refold.scan.view import TextView

# Searching for the sign and reading back from it is linear: a long word without one costs nothing.
_AT_HOST: Final = re.compile(r"@[A-Za-z0-9-]{1,63}+(?:\.[A-Za-z0-9-]{1,63}+)++(?<=[A-Za-z]{2})")
_LOCAL: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_%"
_MAX_LOCAL: Final = 64
"""The longest that RFC 5321 allows before the sign."""


def _find(view: TextView) -> Iterator[Span]:
    text = view.text
    for found in _AT_HOST.finditer(text):
        at = found.start()
        before = text[max(0, at - _MAX_LOCAL) : at]
        local = before[len(before.rstrip(_LOCAL)) :].lstrip(".-")
        top = found[0].rpartition(".")[2]
        if local and len(top) > 1 and top.isalpha():
            yield at - len(local), found.end()


DETECTOR: Final = Detector(reason="email", hard=False, needs=Needs(shapes="@"), find=_find)
