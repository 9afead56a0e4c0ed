"""Search hits: the path once as a heading, and below it each hit with its line number.

src/server/queue.py
12:class Queue:
40:    def put(self, job: Job, priority: int) -> None:
41-        # Add a job to the queue.
src/server/worker.py:7:from server.queue import Queue
"""

from __future__ import annotations

import re
from itertools import groupby, pairwise
from typing import Final

from refold.codecs.base import Codec
from refold.rows import Needs

_PATH: Final = r"(?:\./|/)?(?:[\w.@()\[\]+-]++/)*+[\w@()\[\]+.-]*?\.\w{1,8}"
_HIT: Final = re.compile(rf"({_PATH})(?::(?=\d{{1,7}}:)|-(?=\d{{1,7}}-))")
_HEADING: Final = re.compile(_PATH)
_ROW: Final = re.compile(r"\d{1,7}([:-])")
_TWICE: Final = re.compile(r"\n([^\s:]++)[:-](?=.*\n\1[:-])")
"""Two lines, one below the other, that may be hits in the same file."""


def _encode(text: str) -> str | None:
    out: list[str] = []
    lines = text.split("\n")
    if any(_ROW.match(below) and _HEADING.fullmatch(line) for line, below in pairwise(lines)):
        return None  # it would be taken for hits below a heading of ours
    for path, group in groupby(lines, _path_of):
        hits = list(group)
        if path and len(hits) > 1:
            out.append(path)
            out += [line[len(path) + 1 :] for line in hits]
        else:
            out += hits
    return "\n".join(out) if len(out) > len(lines) else None


def _path_of(line: str) -> str:
    """Return the path with which *line* starts, if it is a hit; else an empty text."""
    hit = _HIT.match(line)
    return hit[1] if hit else ""


def _decode(text: str) -> str:
    out: list[str] = []
    path = ""
    for line in text.split("\n"):
        row = _ROW.match(line) if path else None
        if row:
            if out[-1] == path:
                out.pop()
            out.append(f"{path}{row[1]}{line}")
        else:
            path = line if _HEADING.fullmatch(line) else ""
            out.append(line)
    return "\n".join(out)


CODEC: Final = Codec(
    name="search_hits", encode=_encode, decode=_decode, needs=Needs((":", "-"), ".", _TWICE)
)
