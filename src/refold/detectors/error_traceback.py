"""Sees the stack of a crash: Python tracebacks, frames of Java and JavaScript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors import _signs as signs
from refold.detectors._vocabulary import seen_in
from refold.detectors.base import Detector, Span, needs_any
from refold.text.view import TextView

_NEEDLES: Final = (
    "Traceback (most recent call last)",
    "Exception in thread",
    "  at ",
    "\tat ",
    "\n at ",
)
_HEAD_OR_FRAME: Final = re.compile(
    r"^(?:[ \t|+>]{0,40}+(?:Traceback \(most recent call last\)|Exception in thread\b)"
    r"|[ \t]++at (?:[A-Za-z0-9_][A-Za-z0-9_$.]*+\("
    r"|[^\s(][^\n(]{0,200}+\([^\n():]{0,400}+:(?:[^\n():]{0,400}+:)?[0-9]++(?::[0-9]++)?\)))",
    re.MULTILINE,
)

# A frame in the first line is told by the blank before it.
_LATER_FRAME: Final = re.compile(r"\n[ \t]++at [^\n(]*+\(")
_HEADS: Final = frozenset((b"traceback", b"exception"))

_has_needle: Final = needs_any(*_NEEDLES)


def _find(view: TextView) -> Iterator[Span]:
    if _has_needle(view):
        for found in _HEAD_OR_FRAME.finditer(view.text):
            yield found.span()


def _may_see(view: TextView) -> bool:
    seen = seen_in(view)
    if not _HEADS.isdisjoint(seen):
        return True
    text = view.text
    return b"at" in seen and (text.startswith((" ", "\t")) or _LATER_FRAME.search(text) is not None)


DETECTOR: Final = Detector(
    reason="error_traceback",
    hard=True,
    sign=signs.ERROR_TRACEBACK,
    gate=_may_see,
    find=_find,
)
