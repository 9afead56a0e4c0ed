"""Shorten line-by-line tool output to the files it names and its status lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from refold.plan.shorten.prose import ELLIPSIS
from refold.scan.truncate import cut_words

_MIN_LINES: Final = 6
"""By the contract, like the next: tool output has several lines, and short ones."""
_MAX_CHARS_PER_FEED: Final = 80
"""At least one line break per 80 characters."""
_MAX_FILES: Final = 3
"""So many files are named, the others counted."""
_MAX_STATUS_LINES: Final = 3
"""The first failures say most: later ones follow from them."""

_VERDICTS: Final = ("PASS", "FAIL", "ERROR", "WARNING", "WARN", "OK", "SKIP")
"""Words that a status line may begin with."""
_STATUS_WORDS: Final = (
    *("pass", "fail", "error", "warning", "warn", "test", "tests", "total", "duration"),
    *("passed", "failed"),
)
"""Words of status lines, anywhere in a line."""
_STEMS: Final = ("pass", "fail", "error", "warn", "test", "total", "duration")
"""Cheap check beforehand: every status word contains one of these stems."""

_SHAPE: Final = re.compile(
    r"[^\s:.]*+\.[^\s:]*+:[0-9]++:"
    r"|[ \t]++[-•*]"
    r"|[ \t]*+\w[\w ./-]*+:\s"
    rf"|(?:{'|'.join(_VERDICTS)})(?![\w])"
)
_STATUS: Final = re.compile(rf"(?<![\w])(?:{'|'.join(_STATUS_WORDS)})(?![\w])", re.I)


def is_structured(text: str) -> bool:
    """Tell whether most lines of *text* look like hits, bullets, pairs or status lines."""
    feeds = text.count("\n")
    if feeds < _MIN_LINES - 1 or feeds * _MAX_CHARS_PER_FEED < len(text):
        return False
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < _MIN_LINES:
        return False
    needed = len(lines) // 2 + 1
    for number, line in enumerate(lines):
        if _SHAPE.match(line):
            needed -= 1
        if not needed or needed > len(lines) - number - 1:
            break
    return not needed


def summarize_structured(text: str, budget: int) -> str:
    """Name the files and show the first status lines; without either, first and last lines."""
    lines = _bare_lines(text)
    files = list(dict.fromkeys([file for line in lines if (file := _file_of(line))]))
    pieces = []
    if files:
        more = f" +{len(files) - _MAX_FILES} more" if len(files) > _MAX_FILES else ""
        pieces.append(f"files: {', '.join(files[:_MAX_FILES])}{more}")
    pieces += _status_lines(text, lines)
    if not pieces:
        pieces = [*lines[:3], ELLIPSIS, f"{lines[-1]} ({len(lines)} lines)"]
    summary = " | ".join(pieces)
    if len(summary) <= budget:
        return summary
    return cut_words(summary, budget - len(ELLIPSIS)) + ELLIPSIS


def _bare_lines(text: str) -> list[str]:
    return [bare for line in text.split("\n") if (bare := line.strip())]


def _file_of(line: str) -> str:
    """Return the file that *line* is about if it is a hit, `src/a.py:12: …`."""
    file, _, rest = line.partition(":")
    number, colon, _ = rest.partition(":")
    is_place = colon and number.isascii() and number.isdecimal()
    return file if is_place and "." in file and file.split() == [file] else ""


def _status_lines(text: str, lines: Sequence[str]) -> dict[str, None]:
    """Return the first few distinct status lines."""
    lower = text.lower()
    stems = [stem for stem in _STEMS if stem in lower]
    found: dict[str, None] = {}
    if not stems and text.isascii():
        return found
    for line in lines:
        if _may_tell(line, stems) and _STATUS.search(line):
            found[line] = None
            if len(found) == _MAX_STATUS_LINES:
                break
    return found


def _may_tell(line: str, stems: Sequence[str]) -> bool:
    """Search for the stems, which is many times faster than the pattern.

    Beyond ASCII, case-insensitive patterns match other letters as well.
    """
    lower = line.lower()
    for stem in stems:
        if stem in lower:
            return True
    return not line.isascii()
