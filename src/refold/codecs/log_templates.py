"""Log lines that differ in numbers, ids and names: the words once, then a row for each line.

    [A| ×3 from 10:00:01 to 10:00:09: 2031-05-02 10:00:{} INFO {} took job {} in {} ms]
    A|01 worker-3 7f31 15
    2031-05-02 10:00:04 WARN queue is full
    A|07 worker-1 7f35 240
    A|09 worker-3 7f36 18

Every line stays in its place. The template stands above the first of its lines, with how many they
are and, if they have any, the times of the first and the last; a row fills its gaps in order. Lines
that only begin with the same words have the rest in the last gap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Final

from refold.codecs.base import Codec, unreadable
from refold.codecs.line_index import spell_count
from refold.codecs.log_groups import (
    GAP,
    HAS_ENTRIES,
    Entry,
    Group,
    group_alike,
    group_beginnings,
    has_entries,
    read_entries,
    time_of,
    with_company,
)

_HEADING: Final = re.compile(r"\[([A-Z])\| ×[\d+]+(?: from \S+ to \S+)?: (.*)\]")
_MINUTE: Final = re.compile(r"((\d?\d:)[0-5]\d:)[0-5]\d")
_BEGINNINGS: Final = (6, 5, 4, 3)
"""How many words may stand before what an entry says: its time, host, program, level."""
_MIN_SAVED: Final = 16
"""How many characters each row must save: more than a date, which is left out more simply."""


@dataclass(frozen=True, slots=True)
class _Template:
    """What some lines share, and what each has of its own."""

    heading: str
    """The line above the first row, without its letter."""
    rows: list[str]
    places: list[int]
    saved: int
    """How many characters fewer it takes than the lines, beyond what each row must save."""


def _template(group: Group, lines: Sequence[str]) -> _Template:
    entries, pieces = group.entries, group.pieces.copy()
    own: list[list[str]] = []
    for at, piece in enumerate(pieces):
        if piece == GAP:
            column = [entry.pieces[at] for entry in entries]
            pieces[at] = shown = _shown(column)
            if shown.endswith(GAP):
                lifted = len(shown) - len(GAP)
                own.append([value[lifted:] for value in column] if lifted else column)
    rows = list(map(" ".join, zip(*own, strict=True))) or [""] * len(entries)
    places = [entry.place for entry in entries]
    first, last = (time_of(lines[places[end]]) for end in (0, -1))
    when = f" from {first} to {last}" if first and last else ""
    heading = f"| ×{spell_count(len(rows))}{when}: {''.join(pieces)}]"
    before = sum(len(lines[place]) for place in places)
    after = len(heading) + sum(map(len, rows)) + _MIN_SAVED * len(rows)
    return _Template(heading, rows, places, before - after)


def _shown(column: Sequence[str]) -> str:
    """Return what a template says in place of *column*: a gap, unless all are the same.

    The hour and the minute that all share stand before the gap. Only times are ever cut; everything
    else can be searched for as it was.
    """
    least, most = min(column), max(column)
    if least == most and GAP not in least:
        return least
    time = _MINUTE.match(least)
    lifted = filter(most.startswith, time.groups()) if time else iter(())
    return next(lifted, "") + GAP


def _encode(text: str) -> str | None:
    lines = text.split("\n")
    if any(line[1:2] == "|" and line[0] in ascii_uppercase for line in lines):
        return None  # it would be taken for a row
    templates = sorted(_find_templates(lines), key=lambda template: template.saved, reverse=True)
    return _written(lines, templates[: len(ascii_uppercase)]) if templates else None


def _find_templates(lines: Sequence[str]) -> list[_Template]:
    """Return templates of whole lines, and of how the others begin, the longest beginning first."""
    entries = read_entries(lines)
    found = _worthwhile(group_alike(entries), lines)
    left = with_company(_without(entries, found), _BEGINNINGS[-1])
    for count in _BEGINNINGS:
        more = _worthwhile(group_beginnings(left, count), lines)
        left = _without(left, more)
        found += more
    return found


def _worthwhile(groups: Iterable[Group], lines: Sequence[str]) -> list[_Template]:
    return [template for group in groups if (template := _template(group, lines)).saved > 0]


def _without(entries: Iterable[Entry], templates: Iterable[_Template]) -> list[Entry]:
    """Return the *entries* that none of *templates* is for."""
    done = {place for template in templates for place in template.places}
    return [entry for entry in entries if entry.place not in done]


def _written(lines: list[str], templates: list[_Template]) -> str:
    out = lines.copy()
    in_order = sorted(templates, key=lambda template: template.places[0])
    for letter, template in zip(ascii_uppercase, in_order, strict=False):
        for place, row in zip(template.places, template.rows, strict=True):
            out[place] = f"{letter}|{row}"
        first = template.places[0]
        out[first] = f"[{letter}{template.heading}\n{out[first]}"
    return "\n".join(out)


def _decode(text: str) -> str:
    out: list[str] = []
    known: dict[str, list[str]] = {}
    for line in text.split("\n"):
        heading = _HEADING.fullmatch(line) if line[2:3] == "|" else None
        if heading:
            known[heading[1]] = heading[2].split(GAP)
        elif line[1:2] == "|" and line[0] in known:
            out.append(_filled(known[line[0]], line))
        else:
            out.append(line)
    return "\n".join(out)


def _filled(between: list[str], line: str) -> str:
    """Return the line that a row stands for."""
    gaps = len(between) - 1
    values = line[2:].split(" ", gaps - 1) if gaps else line[2:].split()
    if len(values) != gaps:
        raise unreadable(CODEC.name, line)
    pieces = [between[0]]
    for value, after in zip(values, between[1:], strict=True):
        pieces += (value, after)
    return "".join(pieces)


CODEC: Final = Codec(
    name="log_templates",
    encode=_encode,
    decode=_decode,
    needs=HAS_ENTRIES,
    sees=has_entries,
    reads_in_parts=False,
)
