"""Logs of one day: the date stands on the first line of that day, the time on every line.

2031-05-02 10:00:01 INFO server listens on port 8080
10:00:04 WARN queue of worker-3 is full, 12 jobs wait
"""

from __future__ import annotations

import re
from typing import Final

from refold.codecs.base import Codec, count_words
from refold.rows import Needs

_DATED: Final = re.compile(r"(\[?)(\d{4}[-/]\d\d[-/]\d\d[T ])(?=\d\d:\d\d:\d\d)")
_TIMED: Final = re.compile(r"(\[?)(?=\d\d:\d\d:\d\d)")
_BELOW: Final = re.compile(
    r"\n[\[0-9](?s:(?<=.\n.))(?:(?<=\[)\d|(?<=\d))\d{3}[-/]\d\d[-/]\d\d[T ]\d\d:"
)
"""A line with a date that has another line above it."""
_DATE_WORDS: Final = 3
"""A line with a date and so few words more is no entry of a log. From 1 to 6 the recorded results
are the same."""


def _encode(text: str) -> str | None:
    out: list[str] = []
    date = ""
    found = False
    for line in text.split("\n"):
        dated = _DATED.match(line)
        if date and not dated and _TIMED.match(line):
            return None  # it would be taken for a line without its date
        rest = line[dated.end() :] if dated else line
        # A line with few words of its own would lose its company with the date.
        if dated and dated[2] == date and count_words(rest) > _DATE_WORDS:
            found = True
            out.append(dated[1] + rest)
        else:
            out.append(line)
            date = dated[2] if dated else date
    return "\n".join(out) if found else None


def _decode(text: str) -> str:
    out: list[str] = []
    date = ""
    for line in text.split("\n"):
        dated = _DATED.match(line)
        timed = _TIMED.match(line) if date and not dated else None
        date = dated[2] if dated else date
        out.append(f"{timed[1]}{date}{line[timed.end() :]}" if timed else line)
    return "\n".join(out)


CODEC: Final = Codec(
    name="dates", encode=_encode, decode=_decode, needs=Needs(_BELOW), reads_in_parts=False
)
