"""Fenced code: where it begins and ends, also when the closing fence never came."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# An opening fence may carry an info string, but backticks in it would make it inline code. Models
# also open fences behind text on the same line; then only a language may follow.
_FENCE: Final = re.compile(
    r"^[ \t]*+(?P<marks>`{3,}+(?=[^`\n]*+$)|~{3,}+)(?P<info>[^\n]*+)$"
    r"|(?<=[^\n`])(?P<late>`{3})(?P<language>[\w+#.-]*+)$",
    re.M,
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of a text that is either all code or all prose."""

    start: int
    end: int
    is_code: bool


def split_fences(text: str) -> tuple[Stretch, ...]:
    """Tile *text* with stretches of prose and of fenced code; an unclosed fence runs to the end."""
    return tuple(_stretches(text))


def has_fence(text: str) -> bool:
    """Tell whether any line of *text* opens a fence."""
    return ("```" in text or "~~~" in text) and _FENCE.search(text) is not None


def _stretches(text: str) -> Iterator[Stretch]:
    done = 0
    opening: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opening is None:
            if line.start() > done:
                yield Stretch(done, line.start(), False)
            opening, done = line, line.start()
        elif _closes(line, opening):
            yield Stretch(done, line.end(), True)
            opening, done = None, line.end()
    if done < len(text):
        yield Stretch(done, len(text), opening is not None)


def _closes(line: re.Match[str], opening: re.Match[str]) -> bool:
    marks, opened = line["marks"] or "", opening["marks"] or opening["late"]
    return marks.startswith(opened) and not line["info"].strip()
