"""Blocks of lines that are all indented: what they share is said once.

[all indented by 8 spaces]
if self.limit is None:
    return
[end of indented]
"""

from __future__ import annotations

import re
from typing import Final

from refold.codecs.base import Codec, unreadable
from refold.rows import Needs

_HEADING: Final = re.compile(r"\[all indented by (\d{1,2}) (spaces|tabs)\]")
_MARK: Final = "[all indented by "
_END: Final = "[end of indented]"
_INDENT: Final = re.compile(r" {4,99}|\t{1,99}")
_MIN_LINES: Final = 12
"""Shorter blocks hardly pay for their mark: with 3, 6 or 24 lines, 3,050 recorded results save up
to .04 % less."""
_INDENTED: Final = re.compile(
    rf"\n(?: {{4}}|\t)[^\n]*+(?:\n(?: {{4}}|\t)[^\n]*+|\n(?=\n)){{{_MIN_LINES - 1}}}"
)
"""So many indented and empty lines below each other."""
_UNITS: Final = {"spaces": " ", "tabs": "\t"}


def _encode(text: str) -> str | None:
    lines = text.split("\n")
    out: list[str] = []
    found = False
    place = 0
    while place < len(lines):
        end, shared = _block(lines, place)
        if end - place >= _MIN_LINES:
            found = True
            unit = "spaces" if shared[0] == " " else "tabs"
            out.append(f"{_MARK}{len(shared)} {unit}]")
            out += [line[len(shared) :] for line in lines[place:end]]
            out.append(_END)
        else:
            out += lines[place:end]
        place = end
    return "\n".join(out) if found else None


def _block(lines: list[str], place: int) -> tuple[int, str]:
    """Return the end of the block of indented lines at *place*, and what they share.

    A block has no blank line at either end; a line that is not indented is a block of its own.
    """
    first = _INDENT.match(lines[place])
    if not first:
        return place + 1, ""
    shared = first[0]
    end = last = place
    for end in range(place, len(lines)):
        line = lines[end]
        if line.startswith(shared):
            last = end
        elif line:
            own = _INDENT.match(line)
            if not own or own[0][0] != shared[0]:
                break
            shared = own[0]
            last = end
    return last + 1, shared


def _decode(text: str) -> str:
    out: list[str] = []
    indent = ""
    for line in text.split("\n"):
        if indent:
            if line == _END:
                indent = ""
            else:
                out.append(indent + line if line else line)
            continue
        heading = _HEADING.fullmatch(line) if line.startswith(_MARK) else None
        if heading:
            indent = _UNITS[heading[2]] * int(heading[1])
        else:
            out.append(line)
    if indent:
        raise unreadable(CODEC.name, text[-80:])
    return "\n".join(out)


CODEC: Final = Codec(
    name="indent",
    encode=_encode,
    decode=_decode,
    needs=Needs(_INDENTED, lacks=(_MARK,), line_breaks=_MIN_LINES),
)
