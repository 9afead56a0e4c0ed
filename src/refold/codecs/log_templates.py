"""Log lines that differ in numbers, ids and names: the words once, then a row for each line.

    [A| ×3 from 10:00:01 to 10:00:09: 2031-05-02 10:00:{} INFO {} took job {} in {} ms]
    A|01 worker-3 7f31 15
    2031-05-02 10:00:04 WARN queue is full
    A|07 worker-1 7f35 240
    A|09 worker-3 7f36 18

Every line stays in its place. The template stands above the first of its lines, with how many they
are and, if they have any, the times of the first and the last; a row fills its gaps in order. Lines
that only begin with the same words have the rest in the last gap. Alike are entries with the same
signs, and the same words without digits where these come often.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Final, NamedTuple

from refold.errors import FormatError
from refold.lazy import regex

_HEADING: Final = regex(r"\[([A-Z])\| ×\d+(?: from \S+ to \S+)?: (.*)\]")
_MINUTE: Final = regex(r"((\d?\d:)[0-5]\d:)[0-5]\d")
_LENGTHS: Final = (None, 6, 5, 4, 3)
"""How many words a template has: all, or those before what an entry says."""
_MIN_SAVED: Final = 16
"""How many characters each row must save: more than a date, which is left out more simply."""
_GAP: Final = "{}"
_MIN_LINES: Final = 3
"""Two entries save nothing beside their heading."""
_MIN_SHARE: Final = 0.25
"""So many of the entries with the same signs have a word that is no gap; .55 saves as much."""
_MAX_BEFORE: Final = 80
"""Characters before the end of the time in an entry."""
_AFTER_HOUR: Final = r":[0-5]\d:[0-5]\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_MINUTES: Final = regex(r":[0-5]\d:[0-5]\d")
_BARE: Final = regex(r"\d{6} (\d{6}) ")
"""A date and a time as Hadoop writes them."""
_UPTIME: Final = regex(r"\[ *(\d{1,8}\.\d{3,9})\] ")
"""The seconds since a machine was started, as Linux writes them."""
_LEVEL: Final = regex(
    r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b"
    r"|\[(?:trace|debug|info|notice|warn|warning|error|fatal|critical)\]|level="
)
"""How an entry without a time begins."""
_BELOW: Final = regex(
    rf"\n(?=[0-9\[TDINWEFCl])(?:{_BARE.pattern}|{_UPTIME.pattern}|{_LEVEL.pattern})"
)
_TIME: Final = regex(rf"(?<!\d)\d?\d{_AFTER_HOUR}")
_NO_ENTRY: Final = regex(r"\{(?!\"?[@\w]{1,20}\"?[=:]\"?\d{4}-\d\d-\d\d[T ]\d\d:)")
"""A record that does not begin with its time."""
_BREAKS: Final = r"\s=,;()\[\]{}\"'<>|"
_REST: Final = rf"[^:{_BREAKS}]*+(?::++[^:{_BREAKS}]++)*+"
_WORD: Final = regex(
    rf"((?!T\d\d:)[^\d:{_BREAKS}]{_REST}"
    rf"|\d\d(?:\d\d-\d\d-\d\d(?=T\d\d:)|/[A-Z][a-z]{{2}}/\d{{4}}(?=:\d\d:)|{_AFTER_HOUR})"
    rf"|\d{_REST}|\{{\}})"
)
"""What stands between breaks: a name, a path, an address; a date before a time; a time; a gap."""
_STAYS: Final = regex(r"\d{4}[-/]\d\d[-/]\d\d|\d\d/[A-Z][a-z]{2}/\d{4}|[^0-9]*")
"""What may be no gap: a date, or what has no digits."""
Entry = tuple[int, list[str]]
"""Which line it is, and its words, which stand at odd places, with what is between them."""


class _Template(NamedTuple):
    """What some lines share, as a line without its letter, and what each has of its own."""

    heading: str
    rows: list[str]
    places: list[int]
    saved: int
    """How many characters fewer it takes than the lines, beyond what each row must save."""


def encode(text: str) -> str | None:
    """Respell the entries of *text*; `None` if there are none worth it."""
    if len(_MINUTES.findall(text)) < _MIN_LINES and _BELOW.search(text) is None:
        return None
    lines = text.split("\n")
    if any(line[1:2] == "|" and line[0] in ascii_uppercase for line in lines):
        return None  # it would be taken for a row
    left = [
        (place, _WORD.split(line))
        for place, line in enumerate(lines)
        if (_time_of(line) or _LEVEL.match(line)) and not _NO_ENTRY.match(line)
    ]
    templates: list[_Template] = []
    for _ in _LENGTHS:
        by_length = [_find(left, lines, count) for count in _LENGTHS]
        best = max(by_length, key=lambda templates: sum(template.saved for template in templates))
        done = {place for template in best for place in template.places}
        left = [entry for entry in left if entry[0] not in done]
        templates += best
    templates.sort(key=lambda template: template.saved, reverse=True)
    chosen = sorted(templates[: len(ascii_uppercase)], key=lambda template: template.places[0])
    for letter, template in zip(ascii_uppercase, chosen, strict=False):
        for place, row in zip(template.places, template.rows, strict=True):
            lines[place] = f"{letter}|{row}"
        first = template.places[0]
        lines[first] = f"[{letter}{template.heading}\n{lines[first]}"
    return "\n".join(lines) if templates else None


def _time_of(line: str) -> str | None:
    """Return the time near the beginning of *line*, if there is one."""
    time = _TIME.search(line, 0, _MAX_BEFORE) or _BARE.match(line) or _UPTIME.match(line)
    return time[time.lastindex or 0] if time else None


def _find(entries: list[Entry], lines: Sequence[str], count: int | None) -> list[_Template]:
    """Return the templates of *count* words that are shorter than their lines."""
    if count is not None:
        end = 2 * count + 1
        entries = [
            (place, [*pieces[:end], "".join(pieces[end:]), ""])
            for place, pieces in entries
            if len(pieces) > end
        ]
    # Numbered: what stands between the words of a long line would be hashed anew for each of them.
    known: dict[tuple[str, ...], int] = {}
    signs = [known.setdefault(tuple(pieces[::2]), len(known)) for _, pieces in entries]
    totals = Counter(signs)
    times = Counter(
        (between, at, word)
        for between, (_, pieces) in zip(signs, entries, strict=True)
        for at, word in enumerate(pieces[1::2])
    )
    groups: dict[tuple[int | str, ...], list[Entry]] = {}
    for between, entry in zip(signs, entries, strict=True):
        least = max(_MIN_LINES, _MIN_SHARE * totals[between])
        shape = [
            word if times[between, at, word] >= least and _STAYS.fullmatch(word) else _GAP
            for at, word in enumerate(entry[1][1::2])
        ]
        groups.setdefault((between, *shape), []).append(entry)
    made = [_template(group, lines) for group in groups.values() if len(group) >= _MIN_LINES]
    return [template for template in made if template.saved > 0]


def _template(group: list[Entry], lines: Sequence[str]) -> _Template:
    pieces: list[str] = []
    gaps: list[Sequence[str]] = []
    for column in zip(*(pieces for _, pieces in group), strict=True):
        common = _shared(column)
        pieces.append(common)
        if common != column[0] or common == _GAP:
            lifted = len(common) - len(_GAP)
            gaps.append([value[lifted:] for value in column])
    rows = list(map(" ".join, zip(*gaps, strict=True))) or [""] * len(group)
    places = [place for place, _ in group]
    first, last = _time_of(lines[places[0]]), _time_of(lines[places[-1]])
    when = f" from {first} to {last}" if first and last else ""
    heading = f"| ×{len(rows)}{when}: {''.join(pieces)}]"
    saved = sum(len(lines[place]) for place in places) - _MIN_SAVED * len(rows)
    return _Template(heading, rows, places, saved - len(heading) - sum(map(len, rows)))


def _shared(column: Sequence[str]) -> str:
    """Return what a template says in place of *column*: a gap, unless all are the same.

    The hour and the minute that all share stand before the gap: only times are ever cut.
    """
    least, most = min(column), max(column)
    if least == most and _GAP not in least:
        return least
    time = _MINUTE.match(least)
    return next(filter(most.startswith, time.groups() if time else ()), "") + _GAP


def decode(text: str) -> str:
    """Undo `encode`; raises `FormatError` for a text that it did not write."""
    out: list[str] = []
    known: dict[str, list[str]] = {}
    for line in text.split("\n"):
        heading = _HEADING.fullmatch(line) if line[2:3] == "|" else None
        if heading:
            known[heading[1]] = heading[2].split(_GAP)
        elif line[1:2] == "|" and line[0] in known:
            first, *between = known[line[0]]
            values = line[2:].split(" ", len(between) - 1) if between else line[2:].split()
            if len(values) != len(between):
                raise FormatError(f"no row of its template: {line[:80]!r}")
            pairs = zip(values, between, strict=True)
            out.append(first + "".join([value + after for value, after in pairs]))
        else:
            out.append(line)
    return "\n".join(out)
