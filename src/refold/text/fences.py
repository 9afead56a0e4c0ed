"""Fenced code: where it begins and ends, also when the closing fence never came."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

# An opening fence may carry an info string, but backticks in it would make it inline code. Models
# also open fences behind text on the same line; then only a language may follow.
_FENCE: Final = re.compile(
    r"^[ \t]*+(?P<marks>`{3,}+(?=[^`\n]*+$)|~{3,}+)(?P<info>[^\n]*+)$"
    r"|(?<=[^\n`])(?P<late>`{3})(?P<language>[\w+#.-]*+)$",
    re.M,
)


class Stretch(NamedTuple):
    """A piece of a text that is either all code or all prose."""

    start: int
    end: int
    is_code: bool


def split_fences(text: str) -> list[Stretch]:
    """Tile *text* with stretches of prose and of fenced code; an unclosed fence runs to the end."""
    stretches: list[Stretch] = []
    done = 0
    opening: re.Match[str] | None = None
    for start, end in marked_lines(text):
        line = _FENCE.search(text, start, end)
        if line is None:
            continue
        if opening is None:
            if line.start() > done:
                stretches.append(Stretch(done, line.start(), False))
            opening, done = line, line.start()
        elif _closes(line, opening):
            stretches.append(Stretch(done, line.end(), True))
            opening, done = None, line.end()
    if done < len(text):
        stretches.append(Stretch(done, len(text), opening is not None))
    return stretches


def _closes(line: re.Match[str], opening: re.Match[str]) -> bool:
    marks, opened = line["marks"] or "", opening["marks"] or opening["late"]
    return marks.startswith(opened) and not line["info"].strip()


def has_fence(text: str) -> bool:
    """Tell whether any line of *text* opens a fence."""
    return _opens(text, "```") or _opens(text, "~~~")


def _opens(text: str, marks: str) -> bool:
    """Tell whether a line with *marks* opens a fence; mostly the first one does, if any."""
    at = text.find(marks) if marks[0] in text else -1
    while at >= 0:
        end = _line_end(text, at)
        if _FENCE.search(text, text.rfind("\n", 0, at) + 1, end):
            return True
        at = text.find(marks, end)
    return False


def has_marks(text: str) -> bool:
    """Tell whether what a fence is made of stands anywhere in *text*."""
    # Most texts do not even have one of the characters, which is told much faster.
    return ("`" in text and "```" in text) or ("~" in text and "~~~" in text)


def marked_lines(text: str) -> list[tuple[int, int]]:
    """Return start and end of all lines with the marks of a fence: only they can be fences."""
    ticks = _lines_with(text, "```") if "`" in text else []
    tildes = _lines_with(text, "~~~") if "~" in text else []
    return sorted({*ticks, *tildes}) if ticks and tildes else ticks or tildes


def _lines_with(text: str, needle: str) -> list[tuple[int, int]]:
    lines = []
    at = text.find(needle)
    while at >= 0:
        end = _line_end(text, at)
        lines.append((text.rfind("\n", 0, at) + 1, end))
        at = text.find(needle, end)
    return lines


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
