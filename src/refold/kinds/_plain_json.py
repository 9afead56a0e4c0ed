"""JSON as `refold.codecs` spells it: fields, rows below their names, texts that are not quoted.

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
from collections.abc import Iterator
from typing import Final

from refold.kinds._cut import cut_ends
from refold.kinds._members import NOTHING, RECORD, Members
from refold.kinds.base import PLAIN

_QUOTED: Final = r'"(?:[^"\\\n]++|\\.)*+"?+'
"""Without its end, a text takes the rest of its line: no part of that is looked at twice."""
_NAME: Final = rf"(?:{_QUOTED}|[^\s\"{{}}\[\],=:|<>]++)"
_STARTS: Final = re.compile(rf"(?:JSON lines )?\[?\n?\{{{_NAME}(?:=\S|: ?+(?!\"))")
_AFTER: Final = r",?+[ \t]*+\n?+"
_MEMBER: Final = re.compile(
    rf"\s*+(?:{_NAME}(?:=|: ?+))?+"
    rf"(?:(null|\"\"|\[\]|\{{\}})(?=[\s,}}\]]|\Z){_AFTER}"
    r"|([{\[])[ \t]*+\n?+"
    rf"|([}}\]]){_AFTER}"
    r"|<<(END|STOP|EOF|FIN)\n"
    rf"|(?:{_QUOTED}|[^\s\"{{}}\[\],]++|,){_AFTER}|\Z)"
)
_EMPTY, _OPEN, _CLOSE, _BLOCK = range(1, 5)
_LINE_BREAK: Final = "\n"
_ROWS: Final = re.compile(r"rows of [^\n]*+(?<=:)\n((?:(?!\])[^\n]*+\n)*+)")
_BLOCK_HEAD: Final = re.compile(r"<<(END|STOP|EOF|FIN)\n")
_SENTENCE: Final = re.compile(r"(?:[^\n.!?。！？]|[.!?](?![ \n]))*+[\n.!?。！？]*+[ \t\n]*+")
_FRAME_SHARE: Final = 0.5
"""Where one text that stands as it is takes more of a document, the rest is but its frame."""


def is_plain_json(text: str) -> bool:
    """Tell whether *text* begins as a document in the plain spelling."""
    return _STARTS.match(text) is not None


def is_frame(text: str) -> bool:
    """Tell whether a document in the plain spelling is little more than one text inside of it."""
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
