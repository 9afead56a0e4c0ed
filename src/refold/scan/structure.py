"""Structure in a text: fenced code, JSON, and lines compared with those of another text."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
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


_new_stretch: Final = partial(tuple.__new__, Stretch)
"""Makes a stretch from a tuple, which is faster than passing its fields."""


def split_fences(text: str) -> list[Stretch]:
    """Tile *text* with stretches of prose and of fenced code; an unclosed fence runs to the end."""
    return list(iter_stretches(text))


def iter_stretches(text: str) -> Iterator[Stretch]:
    """Yield the stretches one by one, where a list could be very long."""
    done = 0
    opened = ""  # the marks of the fence that is open
    for start, end in marked_lines(text):
        if opened:
            if _closes(text[start:end], opened):
                yield _new_stretch((done, end, True))
                opened, done = "", end
            continue
        line = _FENCE.search(text, start, end)
        if line is not None:
            begin = line.start()
            if begin > done:
                yield _new_stretch((done, begin, False))
            opened, done = line["marks"] or line["late"], begin
    if done < len(text):
        yield _new_stretch((done, len(text), bool(opened)))


def _closes(line: str, opened: str) -> bool:
    """Tell whether a line is nothing but marks, of the kind and at least of the number *opened*."""
    marks = line.rstrip().lstrip(" \t")
    return marks.startswith(opened) and not marks.strip(opened[0])


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


def marked_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of all lines with the marks of a fence: only they can be fences."""
    ticks = text.find("```") if "`" in text else -1
    tildes = text.find("~~~") if "~" in text else -1
    while ticks >= 0 or tildes >= 0:
        at = max(ticks, tildes) if min(ticks, tildes) < 0 else min(ticks, tildes)
        end = _line_end(text, at)
        yield text.rfind("\n", 0, at) + 1, end
        if 0 <= ticks < end:
            ticks = text.find("```", end)
        if 0 <= tildes < end:
            tildes = text.find("~~~", end)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def is_json(text: str) -> bool:
    """Tell whether *text* is one valid JSON object or array."""
    body = text.strip()
    if not body or body[0] not in "{[" or body[-1] not in "}]":
        return False
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def normal_lines(text: str) -> list[str]:
    """Return the non-blank lines of *text*, trimmed and in lower case."""
    return [line for raw in text.split("\n") if (line := raw.strip().lower())]


def bag_of(lines: list[str]) -> Counter[str]:
    """Count how often each line occurs."""
    return Counter(lines)


def jaccard(a: Counter[str], b: Counter[str]) -> float:
    """Return the share of common lines: Σ min ÷ Σ max of their counts, 1 for two empty bags."""
    if len(a) > len(b):
        a, b = b, a
    common = sum(min(count, b[line]) for line, count in a.items())
    total = a.total() + b.total() - common
    return common / total if total else 1.0


def lines_missing_from(text: str, other: str) -> list[str]:
    """Return the lines of *text* that *other* does not have verbatim, in order."""
    known = Counter(other.split("\n"))
    missing = []
    for line in text.split("\n"):
        if known[line] > 0:
            known[line] -= 1
        elif line.strip():
            missing.append(line)
    return missing
