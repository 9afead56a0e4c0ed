"""The frames of a stack trace: those of the user's own code matter, those of libraries hardly."""

from __future__ import annotations

import re
from typing import Final

from refold.kinds._lines import GradesByLine
from refold.kinds.base import DETAIL, ERROR, FAILURE, LONG, OTHER_FRAME, REPEAT, USER_FRAME, Grade

MOST_LINES: Final = 40
"""A trace is followed for this many lines."""

FRAME: Final = re.compile(
    r"[ \t|]++(?:(?:at (?:async |new )?|❯ )\S|File \"|"
    r"\.\.\. [0-9]++ (?:more|common)|[0-9]++: [ \t]*+\S"
    r"|(?:/|[A-Za-z]:\\|[\w.-]++/)[^\n:]{1,300}+:[0-9]++(?:[: ]|$)|from \S{1,300}+:[0-9]++:in )"
)
"""A line that names a place in the code: JavaScript and Java, Python, Rust, Go, Ruby."""

TRACEBACK: Final = "Traceback (most recent call last)"
"""How the trace of a Python program starts."""

LIBRARY: Final = re.compile(
    r"site-packages|dist-packages|/lib(?:64)?/python[0-9]|<frozen |node_modules|node:internal"
    r"|\(internal/|/rustc/|/\.cargo/registry|/usr/local/go/src|/go/pkg/mod/|/libexec/|/gems/"
    r"|at (?:java|javax|jdk|sun|com\.sun|kotlin|scala|org\.junit|org\.springframework|org\.gradle"
    r"|org\.apache|org\.mockito|reactor|io\.netty)\.|\bstd::|\bcore::|\bruntime\.|testing\.tRunner"
    r"|\.\.\. [0-9]++ (?:more|common)|rust_begin_unwind|at (?:System|Microsoft)\."
)
"""A frame in code that is not the user's."""


def follow_trace(text: str, start: int, end: int, marks: GradesByLine, seen: set[str]) -> int:
    """Grade the lines of the trace below the error line `text[start:end]`; return where it ends.

    *seen* holds the lines that are a must already; what repeats one is not a must again.
    """
    head = text[start:end]
    is_python = TRACEBACK in head
    is_rust = "' panicked at " in head and head.rstrip().endswith(":")
    is_go = head.startswith("goroutine ")
    indent = head[: len(head) - len(head.lstrip(" \t|+>"))]
    frame: Grade | None = None
    pos = end + 1
    for _ in range(MOST_LINES):
        if pos >= len(text):
            break
        stop = text.find("\n", pos)
        stop = len(text) if stop < 0 else stop
        line = text[pos : min(stop, pos + LONG)]
        deeper = line.startswith((indent + " ", indent + "\t"))
        if FRAME.match(line) and (deeper or not is_python):
            frame = OTHER_FRAME if LIBRARY.search(line) else USER_FRAME
            _mark(line, pos, frame, marks, seen)
        elif is_python and deeper and frame is not None:
            _mark(line, pos, frame, marks, seen)
        elif is_rust and pos == end + 1:  # what was wrong
            _mark(line, pos, ERROR, marks, seen)
        elif is_rust and line.startswith("stack backtrace"):
            _mark(line, pos, DETAIL, marks, seen)
        elif is_go and line:  # the name of a function, above the place
            _mark(line, pos, OTHER_FRAME if LIBRARY.search(line) else USER_FRAME, marks, seen)
        elif is_python:
            if line.strip():
                _mark(line, pos, ERROR, marks, seen)
            break
        elif not (deeper and frame is not None):
            break
        pos = stop + 1
    return pos


def _mark(line: str, pos: int, grade: Grade, marks: GradesByLine, seen: set[str]) -> None:
    key = line.strip()
    if grade.must and key in seen:
        grade = REPEAT
    seen.add(key)
    known = marks.get(pos)
    if known is None or known.weight < FAILURE.weight:
        marks[pos] = grade
