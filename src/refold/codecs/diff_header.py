"""Diffs: the two lines that repeat the paths of the `diff --git` line above them.

The hunks follow at once; a reader knows from the first line which file they change.
"""

from __future__ import annotations

import re
from typing import Final

from refold.codecs.base import Codec
from refold.rows import Needs

_START: Final = re.compile(r"diff --git (a/\S+) (b/\S+)")
_BETWEEN: Final = ("index ", "old mode ", "new mode ", "similarity ", "rename ")


def _encode(text: str) -> str | None:
    lines = text.split("\n")
    out: list[str] = []
    paths: tuple[str, str] | None = None
    place = 0
    while place < len(lines):
        line = lines[place]
        start = _START.fullmatch(line) if line.startswith("diff --git ") else None
        if start:
            paths = (f"--- {start[1]}", f"+++ {start[2]}")
        elif paths and tuple(lines[place : place + 2]) == paths:
            paths = None
            place += 2
            continue
        elif not line.startswith(_BETWEEN):
            paths = None
        out.append(line)
        place += 1
    return "\n".join(out) if len(out) < len(lines) else None


def _decode(text: str) -> str:
    out: list[str] = []
    paths: tuple[str, str] | None = None
    for line in text.split("\n"):
        start = _START.fullmatch(line) if line.startswith("diff --git ") else None
        if start:
            paths = (f"--- {start[1]}", f"+++ {start[2]}")
        elif paths and not line.startswith(_BETWEEN):
            if line.startswith("@@ "):
                out += paths
            paths = None
        out.append(line)
    return "\n".join(out)


CODEC: Final = Codec(
    name="diff_header", encode=_encode, decode=_decode, needs=Needs("diff --git a/")
)
