"""Log lines that differ only in numbers and ids: the words once, then a row for each line.

    [A| ×3 from 10:00:01 to 10:00:09: 2031-05-02 {} INFO worker-{} took job {} in {} ms]
    A|10:00:01|3|7f31|15
    2031-05-02 10:00:04 WARN queue is full
    A|10:00:07|1|7f35|240
    A|10:00:09|3|7f36|18

Every line stays in its place. The template stands above the first of its lines, with how many they
are and the times of the first and the last; a row fills its gaps in order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from string import ascii_uppercase
from typing import Final

from refold.lossless.base import Codec, count_words, unreadable
from refold.lossless.line_index import spell_count

_TIME: Final = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_START: Final = re.compile(
    rf"\[?(?:\d{{4}}[-/]\d\d[-/]\d\d[T ]|[A-Z][a-z]{{2}} [ \d]\d )?({_TIME})(?=[\]\s])"
)
_ANYWHERE: Final = re.compile(rf"\n{_START.pattern}")
_BREAKS: Final = r"\s=:,;()\[\]{}\"'<>|/"
_FIELD: Final = re.compile(
    rf"(?:(?<![^{_BREAKS}])|(?<=T))"
    rf"(?:\d{{4}}-\d\d-\d\d(?=T\d\d:)|{_TIME}(?![^{_BREAKS}])|[^\d{_BREAKS}]*+\d[^{_BREAKS}]*+)"
)
"""A time, or a word with a digit in it; a date before a time is a field of its own."""
_GAP: Final = "{}"
_ROW: Final = re.compile(r"([A-Z])\|")
_HEADING: Final = re.compile(r"\[([A-Z])\| ×[\d+]+ from \S+ to \S+: (.*)\]")
_MIN_LINES: Final = 4


def _sees(text: str) -> bool:
    return _ANYWHERE.search(text) is not None


@dataclass(frozen=True, slots=True)
class _Template:
    """What some lines share, and what each has of its own."""

    text: str
    rows: list[str]
    places: list[int]

    def heading(self, letter: str, lines: Sequence[str]) -> str:
        """Spell the line above the first row."""
        first, last = (_time_of(lines[self.places[end]]) for end in (0, -1))
        return f"[{letter}| ×{spell_count(len(self.places))} from {first} to {last}: {self.text}]"


def _time_of(line: str) -> str:
    found = _START.match(line)
    return found[1] if found else ""


def _encode(text: str) -> str | None:
    lines = text.split("\n")
    if any(line[1:2] == "|" and _ROW.match(line) for line in lines):
        return None  # it would be taken for a row
    templates = [
        template
        for key, places in _groups(lines).items()
        if len(places) >= _MIN_LINES and (template := _template(key, lines, places))
    ]
    if not templates:
        return None
    templates.sort(key=lambda template: len(template.places), reverse=True)
    return _written(lines, templates[: len(ascii_uppercase)])


def _groups(lines: Sequence[str]) -> dict[str, list[int]]:
    """Group the places of lines with a time that are the same but for their fields.

    Plain words are in no field, so that most lines without company are told by them.
    """
    by_words: dict[str, list[int]] = {}
    for place, line in enumerate(lines):
        if _START.match(line) and _GAP not in line:
            by_words.setdefault(" ".join(filter(str.isalpha, line.split())), []).append(place)
    groups: dict[str, list[int]] = {}
    for places in by_words.values():
        if len(places) >= _MIN_LINES:
            for place in places:
                groups.setdefault(_FIELD.sub(_GAP, lines[place]), []).append(place)
    return groups


def _template(key: str, lines: Sequence[str], places: list[int]) -> _Template | None:
    """Make a template of lines with the same words; `None` if a row would say too little.

    Words that all lines share are dropped from the rows. So each row must have as many words of
    its own as are dropped from it, or a value could no longer be told by what stands around it.
    """
    fields = [_FIELD.findall(lines[place]) for place in places]
    first = fields[0]
    varying = [any(row[n] != value for row in fields) for n, value in enumerate(first)]
    filled = [_GAP if varies else value for value, varies in zip(first, varying, strict=True)]
    text = _fill(key.split(_GAP), filled)
    rows = ["|".join(compress(row, varying)) for row in fields]
    if min(map(count_words, rows)) < count_words(text):
        return None
    return _Template(text, rows, places)


def _fill(words: list[str], values: list[str]) -> str:
    """Put *values* between *words*, of which there is one more."""
    return "".join(word + value for word, value in zip(words, [*values, ""], strict=True))


def _written(lines: list[str], templates: list[_Template]) -> str:
    letters = iter(ascii_uppercase)
    above: dict[int, str] = {}
    rows: dict[int, str] = {}
    for template in sorted(templates, key=lambda template: template.places[0]):
        letter = next(letters)
        above[template.places[0]] = template.heading(letter, lines)
        for place, row in zip(template.places, template.rows, strict=True):
            rows[place] = f"{letter}|{row}"
    out: list[str] = []
    for place, line in enumerate(lines):
        if place in above:
            out.append(above[place])
        out.append(rows.get(place, line))
    return "\n".join(out)


def _decode(text: str) -> str:
    out: list[str] = []
    known: dict[str, list[str]] = {}
    for line in text.split("\n"):
        heading = _HEADING.fullmatch(line) if line[2:3] == "|" else None
        row = _ROW.match(line) if line[1:2] == "|" else None
        if heading:
            known[heading[1]] = heading[2].split(_GAP)
        elif row and row[1] in known:
            out.append(_filled(known[row[1]], line))
        else:
            out.append(line)
    return "\n".join(out)


def _filled(words: list[str], line: str) -> str:
    values = line.split("|")[1:]
    if len(values) != len(words) - 1:
        raise unreadable(CODEC.name, line)
    return _fill(words, values)


CODEC: Final = Codec(name="log_templates", sees=_sees, encode=_encode, decode=_decode)
