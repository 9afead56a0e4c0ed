"""A text as it reads without its line breaks or escapes, and where each character was."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from refold.text.runs import Span

_INNER: Final = "[A-Za-z0-9_-]"
_BREAK: Final = re.compile(
    "|".join(
        rf"{first}(?<={_INNER}{first}){rest}(?={_INNER})"
        for first, rest in (
            (r"\\", r"\r?\n[ \t>|]*+"),
            (r"\r", r"\n[ \t>|]*+"),
            (r"\n", r"[ \t>|]*+"),
            ('"', r"[ \t]*+[\\+]?\r?\n[ \t]*+\""),
            ("'", r"[ \t]*+[\\+]?\r?\n[ \t]*+'"),
        )
    )
)
"""A line break inside a word, or between the halves of a string.

Each way begins with a sign, which can be looked for, and not with a look behind.
"""
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A text with something taken out of it."""

    text: str
    places: list[int]
    """Where each character was."""

    def span(self, start: int, end: int) -> Span:
        """Return where a piece of the text was."""
        return self.places[start], self.places[end - 1] + 1


def join_lines(text: str) -> Unwrapped | None:
    """Return *text* without the line breaks inside words; None if there are none."""
    return _replaced(text, _BREAK, lambda _: "")


def unescape(text: str) -> Unwrapped | None:
    """Return *text* with the characters that JSON spells as numbers; None if there are none."""
    if "\\u" not in text:
        return None
    return _replaced(text, _ESCAPE, lambda found: chr(int(found[1], 16)))


def _replaced(
    text: str, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str]
) -> Unwrapped | None:
    """Replace what *pattern* finds by at most one character each."""
    pieces: list[str] = []
    places: list[int] = []
    done = 0
    for found in pattern.finditer(text):
        start, end = found.span()
        char = replace(found)
        pieces += text[done:start], char
        places += range(done, start)
        places += [start] * len(char)
        done = end
    if done == 0:
        return None
    pieces.append(text[done:])
    places += range(done, len(text))
    return Unwrapped("".join(pieces), places)
