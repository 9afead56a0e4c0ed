"""Stack traces: the error and the frames of the user's own code matter, library frames hardly."""

from __future__ import annotations

from typing import Final

from refold.kinds._error_patterns import FRAME, LIBRARY
from refold.kinds._errors import split_output
from refold.kinds._lines import GradesByLine, line_pattern
from refold.kinds.base import OTHER_FRAME, Grade, Kind, Pieces, Sample
from refold.rows import Needs

_FRAME: Final = Grade("frame", 1.5)
"""A frame that belongs to no error line, or comes after many."""

_IS_FRAME: Final = line_pattern(FRAME.pattern)
_HEAD: Final = line_pattern(
    r"Traceback \(most recent|Stack \(most recent|Exception in thread ",
    r"Caused by: |Uncaught |Unhandled ",
    r"panic: |goroutine [0-9]++ \[|thread '[^'\n]*+' panicked|stack backtrace:",
    r"[A-Za-z_][\w.$]{0,120}+(?:(?<=Error)|(?<=Exception)): ",
)


def _claims(sample: Sample) -> bool:
    frames = sample.count(_IS_FRAME)
    if frames < 2 or frames < 0.2 * len(sample.lines):
        return False  # nearly every text ends here
    signs = ("Error", "Exception", "Traceback", "panic", "goroutine", "Stack (")
    return sample.has(*signs) and sample.count(_HEAD) >= 1


def split_trace(text: str) -> Pieces:
    """Cut a trace into its error lines and frames."""
    marks: GradesByLine = {}
    pos = 0
    for line in text.split("\n"):
        if FRAME.match(line):
            marks[pos] = OTHER_FRAME if LIBRARY.search(line) else _FRAME
        pos += len(line) + 1
    return split_output(text, marks)


KIND: Final = Kind(name="stack_trace", claims=_claims, needs=Needs(_IS_FRAME), split=split_trace)
