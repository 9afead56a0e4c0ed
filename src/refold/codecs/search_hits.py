"""Search hits: the path stands at the first hit in a file, `:line:` at the ones that follow.

src/server/queue.py:12:class Queue:
:40:    def put(self, job: Job, priority: int) -> None:
src/server/worker.py:7:from server.queue import Queue
"""

from __future__ import annotations

import re
from typing import Final

from refold.codecs.base import Codec, count_words
from refold.rows import Needs

_HIT: Final = re.compile(r"([^\s:]++):(?=\s*+\S)")
_TWICE: Final = re.compile(r"\n([^\s:]++)[:-](?=.*\n\1[:-])")
"""Two lines, one below the other, that may be hits in the same file."""
_PLACE: Final = re.compile(r":\d{1,7}:|-\d{1,7}-|:")
_SHORT: Final = re.compile(r":|-\d{1,7}-")


def _encode(text: str) -> str | None:
    out: list[str] = []
    path = ""
    weight = 0
    found = False
    for line in text.split("\n"):
        if path and _SHORT.match(line):
            return None  # it would be taken for a hit without its path
        if path and line.startswith(path) and _PLACE.match(line, len(path)):
            rest = line[len(path) :]
            # A hit with few words of its own would lose its company with the path.
            is_rich = count_words(rest) > weight
            found = found or is_rich
            out.append(rest if is_rich else line)
            continue
        path = _path_of(line)
        weight = count_words(path)
        out.append(line)
    return "\n".join(out) if found else None


def _path_of(line: str) -> str:
    """Return the path with which *line* starts, if it is a hit; else an empty text."""
    hit = _HIT.match(line) if ":" in line else None
    return hit[1] if hit and ("/" in hit[1] or "." in hit[1]) else ""


def _decode(text: str) -> str:
    out: list[str] = []
    path = ""
    for line in text.split("\n"):
        if path and _SHORT.match(line):
            out.append(path + line)
            continue
        if not (path and line.startswith(path) and _PLACE.match(line, len(path))):
            path = _path_of(line)
        out.append(line)
    return "\n".join(out)


CODEC: Final = Codec(
    name="search_hits", encode=_encode, decode=_decode, needs=Needs(":", ("/", "."), _TWICE)
)
