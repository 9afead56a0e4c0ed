"""Search hits: the path once as a heading, and below it each hit with its line number.

src/server/
queue.py
12:class Queue:
40:    def put(self, job: Job, priority: int) -> None:
41-        # Add a job to the queue.
worker.py
7:from server.queue import Queue
:import time

Files of one folder, one after the other, stand below it; a hit without a number keeps its colon.
"""

from __future__ import annotations

from itertools import groupby
from typing import Final

from refold.lazy import regex

_PATH: Final = r"(?:\./|/)?(?:[\w.@()\[\]+-]++/)*+[\w@()\[\]+.-]*?\.\w{1,8}"
_HIT: Final = regex(rf"({_PATH})(?::(?=\d{{1,7}}:)|-(?=\d{{1,7}}-)|(?=:))")
_HEADING: Final = regex(rf"{_PATH}|(?:\./|/)?(?:[\w.@()\[\]+-]++/)++")
_ROW: Final = regex(r"(?:\d{1,7}([:-])|:)")
_TWO: Final = regex(r"\n([^\s:]{3})[^\n]*\n(?=\1[^\n:-]*[:-])")
"""Two lines, one below the other, that may be hits in the same folder."""


def encode(text: str) -> str | None:
    """Put paths above their hits; `None` if no two hits share one."""
    if _TWO.search(f"\n{text}") is None:
        return None
    lines = text.split("\n")
    if any(_HEADING.fullmatch(line) for line in lines):
        return None  # it would be taken for a heading of ours
    out: list[str] = []
    files = [(path, list(hits)) for path, hits in groupby(lines, _path_of)]
    is_open = False
    for folder, group in groupby(files, lambda file: file[0].rpartition("/")[0]):
        run = list(group)
        in_folder = bool(folder) and len(run) > 1
        if in_folder:
            out.append(f"{folder}/")
        for path, hits in run:
            is_in_none = is_open and not folder  # its name would be read as one in the folder above
            if path and not is_in_none and (in_folder or len(hits) > 1):
                out.append(path[len(folder) + 1 :] if in_folder else path)
                hits = list(map(_row_of, hits))  # noqa: PLW2901
            out += hits
            is_open = in_folder
    return "\n".join(out)


def _path_of(line: str) -> str:
    """Return the path with which *line* starts, if it is a hit; else an empty text."""
    hit = _HIT.match(line)
    return hit[1] if hit else ""


def _row_of(line: str) -> str:
    """Return what stands of a hit below its path: a colon where it has no number."""
    hit = _HIT.match(line)
    return line[hit.end() :] if hit else line


def decode(text: str) -> str:
    """Undo `encode`."""
    out: list[str] = []
    folder = path = ""
    for line in text.split("\n"):
        row = _ROW.match(line) if path else None
        if row:
            out.append(f"{path}{row[1] or ''}{line}")
        elif _HEADING.fullmatch(line) is None:
            folder = path = ""
            out.append(line)
        elif line.endswith("/"):
            folder, path = line, ""
        else:
            folder = "" if "/" in line else folder
            path = folder + line
    return "\n".join(out)
