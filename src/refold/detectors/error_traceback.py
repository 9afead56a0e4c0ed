"""Sees the stack of a crash: Python tracebacks, frames of Java and JavaScript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.patterns import TRACEBACK
from refold.scan.prefilter import Needs, words_of
from refold.scan.view import TextView

_NEEDLES: Final = (
    TRACEBACK,
    "Exception in thread",
    "  at ",
    "\tat ",
    "\n at ",
)
_HEAD_OR_FRAME: Final = re.compile(
    rf"^(?:[ \t|+>]{{0,40}}+(?:{re.escape(TRACEBACK)}|Exception in thread\b)"
    r"|[ \t]++at (?:[A-Za-z0-9_][A-Za-z0-9_$.]*+\("
    r"|[^\s(][^\n(]{0,200}+\([^\n():]{0,400}+:(?:[^\n():]{0,400}+:)?[0-9]++(?::[0-9]++)?\)))",
    re.MULTILINE,
)


def _find(view: TextView) -> Iterator[Span]:
    if any(needle in view.text for needle in _NEEDLES):
        for found in _HEAD_OR_FRAME.finditer(view.text):
            yield found.span()


DETECTOR: Final = Detector(
    reason="error_traceback",
    hard=True,
    needs=Needs(shapes=r"[ \t]at ", words=words_of("traceback exception")),
    find=_find,
)
