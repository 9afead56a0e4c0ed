"""Sees encoded data: 40 or more characters of the base64 alphabet that are no path."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs
from refold.scan.runs import RunTest, churn
from refold.scan.view import TextView

_MIN_CHARS: Final = 40
"""Shorter runs are words of a URL, keys and hashes, which have reasons of their own."""
_RUN: Final = RunTest(f"{string.ascii_letters}{string.digits}+/", _MIN_CHARS)
_PADDING: Final = re.compile("={0,2}+")
_MIN_CHURN: Final = 0.3
"""Random letters and digits are above 0.4, words and camelCase names below 0.25: see `churn`."""
_HASH: Final = re.compile(r"(?i:(?=[0-9a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{40,64})")


def _find(view: TextView) -> Iterator[Span]:
    for start, stop in _RUN.spans(view.plain):
        padding = _PADDING.match(view.text, stop)
        end = stop if padding is None else padding.end()
        if _is_data(view.text[start:end]):
            yield start, end


def _is_data(run: str) -> bool:
    """Tell data from paths, rulers and hashes, which are a softer reason of their own."""
    if _HASH.fullmatch(run):
        return False
    if _has_unbroken(run) or churn(run) >= _MIN_CHURN:
        return True
    return run.endswith("=") and len(run) % 4 == 0 and any(map(str.isalnum, run))


def _has_unbroken(run: str) -> bool:
    pieces = run.replace("+", "/").split("/")
    return any(len(piece.rstrip("=")) >= _MIN_CHARS for piece in pieces)


DETECTOR: Final = Detector(
    reason="base64_content", hard=True, needs=Needs(shapes="[A-Za-z0-9+/]{40}"), find=_find
)
