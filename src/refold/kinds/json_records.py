"""JSON, in any layout: pieces are records that are short enough, else their members.

So is JSON as `refold.codecs` spells it: there rows are pieces, too, and texts that stand as they
are fall into sentences.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from refold.kinds._error_patterns import ERROR_FIELD, EXIT_FIELD, LEVEL_FIELD
from refold.kinds._errors import count_repeats, find_in_source, settle, without_digits
from refold.kinds._json_members import (
    MEMBER,
    NOTHING,
    Members,
    find_members,
    is_frame,
    is_plain_json,
)
from refold.kinds._lines import GradesByLine, Spot, join, tile
from refold.kinds.base import ERROR, LONG, WARNING, Kind, Pieces, Sample
from refold.rows import Needs

_STRING: Final = r'(?:"(?:[^"\\\n]++|\\.)*+"?+|\'(?:[^\'\\\n]++|\\.)*+\'?+)'
_BAD: Final = (
    rf"[\"'](?:{ERROR_FIELD}[\"']\s*+:\s*+"
    r"(?!null|None|false|False|0\b|\"\"|''|\[\]|\{\})\S"
    rf"|(?:{LEVEL_FIELD}|status|log\.level)[\"']\s*+:\s*+"
    r"(?:[\"'](?i:error|fatal|critical|failed|failure|warn|warning|alert|emergency|panic)\b"
    r"|[456]0[,}\s])"  # Node's loggers count levels
    rf"|{EXIT_FIELD}[\"']\s*+:\s*+-?[1-9]"
    r"|success[\"']\s*+:\s*+(?i:false)|(?:Error: |Traceback ))"
)
"""A member that reports an error, a warning, or an exit code other than 0."""
_WARNS: Final = re.compile(r"(?i)[\"'](?:warn|warning)\Z|40[,}\s]\Z")

# One token a member: its key, its value if that is no container, the comma, the rest of the line.
_AFTER: Final = r"\s*+,[ \t\r]*+\n?+|[ \t\r]*+\n?+"
_TOKEN: Final = re.compile(
    rf"\s*+(?:(?=({_BAD}))|)(?:{_STRING}\s*+:\s*+)?+"
    rf"(?:(null|None|\"\"|''|\[\s*+\]|\{{\s*+\}})(?:{_AFTER})"
    r"|([{\[])[ \t\r]*+\n?+"
    rf"|([}}\]])(?:{_AFTER})"
    rf"|(?:{_STRING}|[^\s\"'{{}}\[\],]++)(?:{_AFTER})|,[ \t\r]*+\n?+|\Z)"
)
_WRONG, _EMPTY, _OPEN, _CLOSE = range(1, 5)

_STARTS: Final = re.compile(r"\s*+(?:\{\s*+[\"'}]|\[\s*+[\[\]{\"'0-9-])")


def _claims(sample: Sample) -> bool:
    text = sample.text
    if sample.is_unwrapped or not _STARTS.match(text):
        return is_plain_json(text) and not is_frame(text)
    return text[-200:].rstrip().endswith(("}", "]")) or text[:4000].count('":') >= 5


def split_json(text: str) -> Pieces:
    """Cut JSON, or what looks much like it, into records and members."""
    marks: GradesByLine = {}
    spots = settle(text, find_in_source(text), marks)
    if is_plain_json(text):
        return _split_plain(text, marks, spots)
    return tile(text, marks, spots) if marks or spots else _split_members(text)


def _split_plain(text: str, marks: GradesByLine, spots: list[Spot]) -> Pieces:
    """Cut JSON in the plain spelling; what *marks* say of a line holds for its members."""
    members = find_members(text)
    ends, grades = members.ends, members.grades
    number = 0
    for start, grade in sorted(marks.items()):
        number = bisect_right(ends, start, number)
        end = text.find("\n", start)
        while number < len(ends) and (end < 0 or ends[number] <= end + 1):
            grades[number] = grade
            number += 1
    return join(text, ends, grades, spots, cuts=False)


def _split_members(text: str) -> Pieces:
    members = Members()
    spots: list[Spot] = []
    said: dict[bytes, list[int]] = {}
    for token in _TOKEN.finditer(text):
        what, end = token.lastindex, token.end()
        if what == _CLOSE:
            members.close(end)
            continue
        if what is not None and what != _EMPTY and token[_WRONG]:
            place = token.start(_WRONG)
            same = said.setdefault(_said_from(place, text), [])
            if not same:
                spots.append((place, WARNING if _WARNS.search(token[_WRONG]) else ERROR))
            same.append(-len(spots))
        if what == _OPEN:
            members.open(token.start(), end)
        else:
            members.add(end, NOTHING if what == _EMPTY else MEMBER)
    count_repeats(said.values(), {}, spots)
    return join(text, members.ends, members.grades, spots, cuts=False)


def _said_from(place: int, text: str) -> bytes:
    """Return the rest of the line without numbers: errors of a log are compared by it."""
    end = text.find("\n", place, place + LONG)
    return without_digits(text[place : end if end >= 0 else place + LONG])


KIND: Final = Kind(
    name="json_records",
    claims=_claims,
    needs=Needs(("{", "[")),
    on_one_line=True,
    is_excerpted=False,
    split=split_json,
)
