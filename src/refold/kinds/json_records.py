"""JSON, in any layout: pieces are records that are short enough, else their members.

So is JSON as `refold.codecs` spells it: there rows are pieces, too, and texts that stand as they
are fall into sentences.

    {order=7f3 items:[{name=tea price:3}
    rows of name|price:
    cake|4
    ] note=<<END
    Two lines,
    as they are.
    END}
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from refold.kinds._error_patterns import ERROR_FIELD, EXIT_FIELD, LEVEL_FIELD
from refold.kinds._errors import count_repeats, find_in_source, settle, without_digits
from refold.kinds._lines import GradesByLine, Spot, cut_ends, join, tile
from refold.kinds.base import ERROR, LONG, PLAIN, WARNING, Grade, Kind, Pieces, Sample
from refold.rows import Needs

MEMBER: Final = Grade("member", 1.3)
RECORD: Final = Grade("record", 1.2)
NOTHING: Final = Grade("empty", 0.2, room=200)
_FIRST: Final = {grade: replace(grade, begins=True) for grade in (MEMBER, RECORD)}
"""With what a container begins: it is never shown as if it belonged to the one before."""


class Members:
    """Where the members of a document end, and what each is worth."""

    def __init__(self) -> None:
        self.ends: list[int] = []
        self.grades: list[Grade] = []
        self._opened: list[tuple[int, int]] = []
        """Where each open container starts, and how many ends came before."""
        self._is_new = False
        """Whether a container was opened last: its name and bracket go with its first member."""

    def add(self, end: int, grade: Grade = MEMBER) -> None:
        """Add a member that begins where the last one ends."""
        if self._is_new:
            self._is_new = False
            self.ends[-1], self.grades[-1] = end, grade
        else:
            self.ends.append(end)
            self.grades.append(grade)

    def open(self, start: int, end: int) -> None:
        """Add the beginning of a container."""
        known = len(self.ends) - self._is_new
        self._opened.append((start, known))
        self.add(end)
        self._is_new = True

    def close(self, end: int) -> None:
        """End the container that was opened last: a short one becomes one record."""
        if not self._opened:
            self.add(end)
            return
        self._is_new = False
        start, known = self._opened.pop()
        if end - start > LONG:
            self.ends[-1] = end  # a closing bracket goes with the member before it
            self.grades[known] = _FIRST.get(self.grades[known], self.grades[known])
            return
        del self.ends[known:], self.grades[known:]
        self.add(end, RECORD)


_QUOTED: Final = r'"(?:[^"\\\n]++|\\.)*+"?+'
"""Without its end, a text takes the rest of its line: no part of that is looked at twice."""
_NAME: Final = rf"(?:{_QUOTED}|[^\s\"{{}}\[\],=:|<>]++)"
_PLAIN_STARTS: Final = re.compile(rf"(?:JSON lines )?\[?\n?\{{{_NAME}(?:=\S|: ?+(?!\"))")
_PLAIN_AFTER: Final = r",?+[ \t]*+\n?+"
_MEMBER: Final = re.compile(
    rf"\s*+(?:{_NAME}(?:=|: ?+))?+"
    rf"(?:(null|\"\"|\[\]|\{{\}})(?=[\s,}}\]]|\Z){_PLAIN_AFTER}"
    r"|([{\[])[ \t]*+\n?+"
    rf"|([}}\]]){_PLAIN_AFTER}"
    r"|<<(END|STOP|EOF|FIN)\n"
    rf"|(?:{_QUOTED}|[^\s\"{{}}\[\],]++|,){_PLAIN_AFTER}|\Z)"
)
_BLOCK: Final = 4
"""The group of `_MEMBER` with the tag of a text that is not quoted."""
_LINE_BREAK: Final = "\n"
_ROWS: Final = re.compile(r"rows of [^\n]*+(?<=:)\n((?:(?!\])[^\n]*+\n)*+)")
_BLOCK_HEAD: Final = re.compile(r"<<(END|STOP|EOF|FIN)\n")
_SENTENCE: Final = re.compile(r"(?:[^\n.!?。！？]|[.!?](?![ \n]))*+[\n.!?。！？]*+[ \t\n]*+")
_FRAME_SHARE: Final = 0.5
"""Where one text that stands as it is takes more of a document, the rest is but its frame."""


def is_plain_json(text: str) -> bool:
    """Return whether *text* begins as a document in the plain spelling."""
    return _PLAIN_STARTS.match(text) is not None


def is_frame(text: str) -> bool:
    """Return whether a document in the plain spelling is little more than one text inside of it."""
    longest = max((end - start for start, end in _find_blocks(text)), default=0)
    return longest > _FRAME_SHARE * len(text)


def _find_blocks(text: str) -> Iterator[tuple[int, int]]:
    end = 0
    for found in _BLOCK_HEAD.finditer(text) if "=<<" in text else ():
        if found.start() >= end:
            end = _block_end(text, found.end(), found[1])
            yield found.end(), end


def _block_end(text: str, start: int, tag: str) -> int:
    """Return where the last line ends of the text that starts there."""
    end = text.find(f"\n{tag}", start)
    return len(text) if end < 0 else end + 1


def find_members(text: str) -> Members:
    """Find the members of a document in the plain spelling."""
    members = Members()
    place = 0
    while place < len(text):
        rows = _ROWS.match(text, place) if text.startswith(_LINE_BREAK, place - 1) else None
        if rows:
            members.add(rows.start(1))
            _add_rows(text, rows.start(1), rows.end(), members)
            place = rows.end()
            continue
        found = _MEMBER.match(text, place)
        if found is None or found.end() == place:
            members.add(len(text))
            break
        end = found.end()
        match found.lastindex:
            case None:
                members.add(end)
            case 1:
                members.add(end, NOTHING)
            case 2:
                members.open(found.start(), end)
            case 3:
                members.close(end)
            case _:
                stop = _block_end(text, end, found[_BLOCK])
                _add_sentences(text, end, stop, members)
                has_sentences = stop > end
                end = min(len(text), stop + len(found[_BLOCK]))
                if has_sentences:  # its name goes with the first of them, its end with the last
                    members.ends[-1] = end
                else:
                    members.add(end)
        place = end
    return members


def _add_rows(text: str, start: int, end: int, members: Members) -> None:
    while start < end:
        start = text.index("\n", start) + 1
        members.add(start, RECORD)


def _add_sentences(text: str, start: int, end: int, members: Members) -> None:
    while start < end:
        found = _SENTENCE.match(text, start, end)
        stop = found.end() if found and found.end() > start else end
        for cut in cut_ends(text, start, stop):
            members.add(cut, PLAIN)
        start = stop


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
