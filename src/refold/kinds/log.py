"""Logs: lines with times and levels; what is only for debugging counts less."""

from __future__ import annotations

import re
from heapq import merge
from operator import attrgetter
from typing import Final

from refold.kinds._errors import find_in_output, find_starts, settle
from refold.kinds._lines import any_of, line_pattern, line_rules, tile
from refold.kinds.base import Grade, Kind, Pieces, Sample
from refold.rows import Needs

_DEBUG: Final = Grade("boilerplate", 0.3, room=120)
_ENTRY: Final = Grade("entry", 1.0)

_TIME: Final = any_of(
    r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ]",
    r"[0-9]{2}:[0-9]{2}:[0-9]{2}",
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ 0-9][0-9] [0-9]{2}:",
    r"[0-9]{2}/(?:[A-Z][a-z]{2}|[0-9]{2})/[0-9]{2,4}[: ]",
    r"[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:",  # Android
    r"[0-9]{10,13}[. ]",
)
_LEVEL: Final = (
    r"(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE|NOTICE|CRITICAL|debug|info|warn|error)\b"
)
_IS_ENTRY: Final = line_pattern(
    rf"[\[(<]?{_TIME}",
    rf"\[?{_LEVEL}",
    r"\S{1,60}+ - - \[",  # web servers
    r"(?:time|ts|level)=",
    r"[IWEF][0-9]{4} [0-9]{2}:",  # Kubernetes
)
_LETTERED: Final = re.compile(
    r"\n(?:[0-9]{2}-[0-9]{2} [0-9:.]{8,18}+(?: ++[0-9]++){0,2}+ ++(?=[EWF] )"
    r"|(?=[EWF][0-9]{4} [0-9]{2}:))(?:(?P<error>[EF])|(?P<warning>W))"
)
"""An entry whose level is a single letter: as Android and Kubernetes write them."""
_MARKS: Final = line_rules(
    rf"(?:[\[(<]?{_TIME}[^\n]{{0,40}}?[\s\[|(])?\[?",
    (_DEBUG, r"(?:DEBUG|TRACE|debug|trace)\b"),
    (_ENTRY, r"(?:INFO|NOTICE|info)\b"),
)
_place: Final = attrgetter("place")


def _claims(sample: Sample) -> bool:
    return sample.share(_IS_ENTRY) >= 0.5


def split_log(text: str) -> Pieces:
    """Cut a log into its entries."""
    marks = _MARKS(text)
    errors = merge(find_in_output(text), find_starts(_LETTERED, text), key=_place)
    return tile(text, marks, settle(text, errors, marks))


KIND: Final = Kind(
    name="log", claims=_claims, needs=Needs(_IS_ENTRY, line_breaks=3), split=split_log
)
