"""Sees a failed request by its status: "status: 503", "HTTP/1.1 404"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from heapq import merge
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs, words_of
from refold.scan.view import TextView

# The two patterns of findings read lower-cased text.
_PROTOCOL: Final = re.compile(r"http/[0-9]\.[0-9]\s{1,4}+[45][0-9]{2}(?!\w)")
_STATUS: Final = re.compile(
    r"status(?<!\wstatus)(?:(?P<code>\scode)(?:\sis\b)?)?(?P<gap>[\s:=]{1,4}+)[45][0-9]{2}(?!\w)"
)
# "status 404 main street" names a house, "status 450 units" counts: a bare number is not enough.
_COUNTS: Final = re.compile(
    r"\s(?:[\w'-]{1,30}+\s){0,2}?"
    r"(?:street|avenue|road|lane|drive|boulevard|square|court|place|suite|st|ave|rd|blvd"
    r"|people|persons|members|customers|units|items|pieces|orders|points|dollars|euros|miles)\b"
)


def _find(view: TextView) -> Iterator[Span]:
    yield from merge(_protocol(view.lower), _status(view.lower))


def _protocol(lower: str) -> Iterator[Span]:
    for found in _PROTOCOL.finditer(lower):
        yield found.span()


def _status(lower: str) -> Iterator[Span]:
    for found in _STATUS.finditer(lower):
        said = found["code"] or found["gap"].strip()
        if said or not _COUNTS.match(lower, found.end()):
            yield found.span()


DETECTOR: Final = Detector(
    reason="http_error",
    hard=True,
    needs=Needs(shapes=r"/[0-9]\.[0-9]", words=words_of("status")),
    find=_find,
)
