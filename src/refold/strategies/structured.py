"""Shorten line-by-line output of tools: the files it names and its status lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from refold.native import scanner
from refold.strategies.prose import ELLIPSIS
from refold.text.truncate import cut_words

_MIN_LINES: Final = 6
_MAX_CHARS_PER_FEED: Final = 80
_MAX_FILES: Final = 3
_MAX_STATUS_LINES: Final = 3

_VERDICTS: Final = ("PASS", "FAIL", "ERROR", "WARNING", "WARN", "OK", "SKIP")
"""What a line may begin with."""
_STATUS_WORDS: Final = (
    *("pass", "fail", "error", "warning", "warn", "test", "tests", "total", "duration"),
    *("passed", "failed"),
)
"""What tells how something went, anywhere in a line."""
_STEMS: Final = ("pass", "fail", "error", "warn", "test", "total", "duration")
"""One of these is in every one of those words."""
_VERDICT_BYTES: Final = " ".join(_VERDICTS).encode()
_STATUS_BYTES: Final = " ".join(_STATUS_WORDS).encode()

_SHAPE: Final = re.compile(
    r"[^\s:.]*+\.[^\s:]*+:[0-9]++:"
    r"|[ \t]++[-•*]"
    r"|[ \t]*+\w[\w ./-]*+:\s"
    rf"|(?:{'|'.join(_VERDICTS)})(?![\w])"
)
_STATUS: Final = re.compile(rf"(?<![\w])(?:{'|'.join(_STATUS_WORDS)})(?![\w])", re.I)


def is_structured(text: str) -> bool:
    """Tell whether most lines of *text* look like hits, bullets, pairs or status lines."""
    shaped = None
    if scanner is not None:
        shaped = scanner.are_shaped(text, _VERDICT_BYTES, _MIN_LINES, _MAX_CHARS_PER_FEED)
    return are_shaped(text) if shaped is None else shaped


def are_shaped(text: str) -> bool:
    """Tell whether most lines of *text* have one of the shapes, and there are enough of them."""
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
    told = None
    if scanner is not None:
        told = scanner.told(text, _STATUS_BYTES, _MAX_STATUS_LINES)
    files, status = map(list, told or told_by_lines(text))
    pieces = []
    if files:
        more = f" +{len(files) - _MAX_FILES} more" if len(files) > _MAX_FILES else ""
        pieces.append(f"files: {', '.join(files[:_MAX_FILES])}{more}")
    pieces += status
    if not pieces:
        lines = _bare_lines(text)
        pieces = [*lines[:3], ELLIPSIS, f"{lines[-1]} ({len(lines)} lines)"]
    summary = " | ".join(pieces)
    if len(summary) <= budget:
        return summary
    return cut_words(summary, budget - len(ELLIPSIS)) + ELLIPSIS


def told_by_lines(text: str) -> tuple[dict[str, None], dict[str, None]]:
    """Find the files that lines of *text* name, and the first lines that tell how it went."""
    lines = _bare_lines(text)
    files = dict.fromkeys([file for line in lines if (file := _file_of(line))])
    return files, _status_lines(text, lines)


def _bare_lines(text: str) -> list[str]:
    return [bare for line in text.split("\n") if (bare := line.strip())]


def _file_of(line: str) -> str:
    """Return the file that *line* is about if it is a hit, `src/a.py:12: …`."""
    file, _, rest = line.partition(":")
    number, colon, _ = rest.partition(":")
    is_place = colon and number.isascii() and number.isdecimal()
    return file if is_place and "." in file and file.split() == [file] else ""


def _status_lines(text: str, lines: Sequence[str]) -> dict[str, None]:
    """Return the first few distinct lines that tell how something went."""
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
    """Look for the words themselves, which is many times faster than the pattern.

    Beyond ASCII there are letters that the pattern takes for others.
    """
    lower = line.lower()
    for stem in stems:
        if stem in lower:
            return True
    return not line.isascii()
