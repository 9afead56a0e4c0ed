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
    for start, end in marked_lines(text):  # noqa: SIM110 - most texts have none
        if _FENCE.search(text, start, end):
            return True
    return False


def has_marks(text: str) -> bool:
    """Tell whether what a fence is made of stands anywhere in *text*."""
    # Most texts do not even have one of the characters, which is told much faster.
    return ("`" in text and "```" in text) or ("~" in text and "~~~" in text)


def marked_lines(text: str) -> list[tuple[int, int]]:
    """Return start and end of all lines with the marks of a fence: only they can be fences."""
    ticks = _lines_with(text, "```") if "`" in text else []
    tildes = _lines_with(text, "~~~") if "~" in text else []
    return sorted({*ticks, *tildes}) if tildes else ticks


def _lines_with(text: str, needle: str) -> list[tuple[int, int]]:
    lines = []
    at = text.find(needle)
    while at >= 0:
        end = text.find("\n", at)
        if end < 0:
            end = len(text)
        lines.append((text.rfind("\n", 0, at) + 1, end))
        at = text.find(needle, end)
    return lines


def _stretches(text: str) -> Iterator[Stretch]:
    done = 0
    opening: re.Match[str] | None = None
    for start, end in marked_lines(text):
        line = _FENCE.search(text, start, end)
        if line is None:
            continue
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
