"""Texts that are more than prose: fenced code, line-by-line output of tools, JSON, shortened."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from refold.classic.sentences import ELLIPSIS, cut
from refold.lazy import regex
from refold.scan.runs import Span

# Fenced code: where it is, and how the prose around it is shortened in its place.

LEAST_PROSE: Final = 80  # characters; a text with code and less prose stays as it is
_SHORT_PROSE: Final = 60  # a shorter stretch of prose between code stays as it is
_LEAST_ROOM: Final = 40  # the least length of a summary of such a stretch
_MARKS: Final = regex("```|~~~")
# An opening fence may carry an info string, but backticks in it would make it inline code. Models
# also open fences after text on the same line; then only a language may follow.
_OPENING: Final = regex(
    r"^[ \t]*+(?P<marks>`{3,}+(?=[^`\n]*+$)|~{3,5}+(?!~))[^\n]*+$"
    r"|(?<=[^\n`])(?P<late>`{3})[\w+#.-]*+$",
    re.M,
)


def fences(text: str) -> Iterator[Span]:
    """Yield the fenced code of *text*; a fence that is never closed runs to its end."""
    start = done = 0
    opened = ""
    for mark in _MARKS.finditer(text):
        if mark.start() < done:
            continue  # the same line
        line = text.rfind("\n", 0, mark.start()) + 1
        end = text.find("\n", mark.start())
        done = len(text) if end < 0 else end
        if opened:
            bare = text[line:done].strip(" \t\r")
            if bare.startswith(opened) and not bare.strip(opened[0]):
                yield start, done
                opened = ""
        elif opening := _OPENING.search(text, line, done):
            start, opened = opening.start(), opening["marks"] or opening["late"]
    if opened:
        yield start, len(text)


def has_fence(text: str) -> bool:
    """Tell whether any line of *text* opens a fence."""
    return ("```" in text or "~~~" in text) and next(fences(text), None) is not None


def prose_around(text: str) -> list[Span]:
    """Return the stretches between the fences of *text*."""
    stretches: list[Span] = []
    at = 0
    for start, end in fences(text):
        stretches.append((at, start))
        at = end
    return [(start, end) for start, end in (*stretches, (at, len(text))) if end > start]


def has_prose(text: str) -> bool:
    """Tell whether there is enough prose around the code of *text* to shorten."""
    return sum(len(text[a:b].strip()) for a, b in prose_around(text)) >= LEAST_PROSE


def shorten_around(
    text: str, budget: Callable[[int], int], make_tag: Callable[[str, int], str]
) -> str:
    """Replace each stretch of prose in *text* by its tag, where that is shorter.

    *budget* gives the room for all prose together, which is divided by length; *make_tag* makes
    the tagged summary of a stretch, given its room.
    """
    stretches = [(a, b, len(text[a:b].strip())) for a, b in prose_around(text)]
    total = sum([size for _, _, size in stretches])
    share = min(1.0, budget(total) / max(total, 1))
    pieces: list[str] = []
    done = 0
    for start, end, size in stretches:
        if size < _SHORT_PROSE:
            continue
        prose = text[start:end].strip()
        tag = make_tag(prose, max(_LEAST_ROOM, int(size * share + 0.5)))
        if len(tag) < size:
            first = text.index(prose, start)
            pieces += (text[done:first], tag)
            done = first + size
    return "".join([*pieces, text[done:]])


# Line-by-line tool output: which texts are, and the files and status lines that stand for one.

_MIN_LINES: Final = 6  # tool output has several lines, and short ones
_MAX_CHARS_PER_FEED: Final = 80  # on average: lines of prose are longer
_MAX_FILES: Final = 3  # so many files are named, the others counted
_MAX_STATUS_LINES: Final = 3  # of lines that report no failure and count nothing
_MAX_FAILURES: Final = 3  # the first failures say most: later ones follow from them
_MAX_COUNTS: Final = 2  # the last lines that count tell how it ended

_SHAPE: Final = regex(
    r"[^\s:.]*+\.[^\s:]*+:[0-9]++:|[ \t]++[-•*]|[ \t]*+\w[\w ./-]*+:\s"
    r"|(?:PASS|FAIL|ERROR|WARNING|WARN|OK|SKIP)(?!\w)"
)
_STATUS: Final = regex(
    r"(?<!\w)(?:pass|fail|error|warning|warn|tests?|total|duration|passed|failed)(?!\w)", re.I
)
_FAILURE: Final = regex(
    r"(?<!\w)(?:FAIL(?:ED|URES?)?|ERRORS?|[Ff]ailed|[Ff]ailures?|[Ee]rror:|\w*Error:)(?!\w)"
    r"|^[✕✗✘●×]"
)
_NO_FAILURE: Final = regex(r"(?<![\w.])0 (?:failed|failures?|errors?)|no (?:errors|failures)", re.I)
_COUNT: Final = regex(
    r"(?<![\w.])[0-9]++ (?:passed|failed|skipped|passing|failing|errors?|failures?|total|tests?)"
    r"(?!\w)|(?:tests|suites|failures|errors|total)\b[^\n:]{0,20}: *[0-9]",
    re.I,
)


def is_structured(text: str) -> bool:
    """Tell whether most lines of *text* look like hits, bullets, pairs or status lines."""
    feeds = text.count("\n")
    if feeds < _MIN_LINES - 1 or feeds * _MAX_CHARS_PER_FEED < len(text):
        return False
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) >= _MIN_LINES and (
        2 * sum([_SHAPE.match(line) is not None for line in lines]) > len(lines)
    )


def summarize_structured(text: str, budget: int) -> str:
    """Name the files, failures, counts and first status lines; else first and last lines."""
    lines = [bare for line in text.split("\n") if (bare := line.strip())]
    files = list(dict.fromkeys([file for line in lines if (file := _file_of(line))]))
    pieces = []
    if files:
        more = f" +{len(files) - _MAX_FILES} more" if len(files) > _MAX_FILES else ""
        pieces.append(f"files: {', '.join(files[:_MAX_FILES])}{more}")
    status = dict.fromkeys(lines) if _STATUS.search(text) or not text.isascii() else {}
    counts = dict.fromkeys([line for line in status if _COUNT.search(line)])
    left = [line for line in status if line not in counts]
    failed = [line for line in left if _FAILURE.search(_NO_FAILURE.sub("", line))]
    # What failed comes first, then how many did; what passed only where there is room.
    chosen = dict.fromkeys((*failed[:_MAX_FAILURES], *[*counts][-_MAX_COUNTS:]))
    others = (line for line in status if line not in chosen and _STATUS.search(line))
    pieces += [*chosen, *islice(others, max(0, _MAX_STATUS_LINES - len(chosen)))]
    if not pieces:
        pieces = [*lines[:3], ELLIPSIS, f"{lines[-1]} ({len(lines)} lines)"]
    return cut(" | ".join(pieces), budget)


def _file_of(line: str) -> str:
    """Return the file that *line* is about if it is a hit, `src/a.py:12: …`."""
    file, _, rest = line.partition(":")
    number, colon, _ = rest.partition(":")
    is_place = colon and number.isascii() and number.isdecimal()
    return file if is_place and "." in file and file.split() == [file] else ""


# JSON: its beginning.

_JSON_SIGNS: Final = regex(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{},]')


def cut_json(text: str, limit: int) -> str:
    """Return the beginning of a JSON text in at most *limit* characters, as valid JSON.

    It ends after a value, after a whole record if that is not much shorter, and what is open there
    is closed.
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    open_: list[str] = []
    ends: dict[int, tuple[int, str]] = {}
    for sign in _JSON_SIGNS.finditer(text, 0, limit):
        if sign[0] in "[{":
            open_.append("]" if sign[0] == "[" else "}")
            if sign.end() + len(open_) <= limit or not ends:
                ends.setdefault(len(open_), (sign.end(), "".join(reversed(open_))))
        elif sign[0] in "]}":
            open_.pop()
        elif sign[0] == "," and sign.start() + len(open_) <= limit:
            ends[len(open_)] = (sign.start(), "".join(reversed(open_)))
    for depth in sorted(ends):
        end, closing = ends[depth]
        if 2 * end >= limit:
            return text[:end] + closing
    end, closing = max(ends.values(), default=(0, ""))
    return text[:end] + closing
