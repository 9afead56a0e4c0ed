"""Files shown with line numbers: the padding goes, and the separator becomes a tab.

        76→def call(name, *args):
    77<tab>    if isinstance(name, str):
    78<tab>        name = name.strip()
    79

The first line keeps its form, which tells the decoder how the numbers were written. All numbers
stay, those of blank lines too: lines are asked for and edited by their numbers. A tab costs no
token of its own before most words.
"""

from __future__ import annotations

from typing import Final

from refold.lazy import regex
from refold.scan.patterns import NUMBERED_LINE

_PADDED: Final = regex(rf"( {{1,12}}){NUMBERED_LINE}")
_PADDED_BELOW: Final = regex(rf"\n{_PADDED.pattern}")
_MIN_LINES: Final = 3
"""Two lines have consecutive numbers by chance. With 2 the recorded results are the same, with 6
five of 1,386 are no longer shorter."""


def encode(text: str) -> str | None:
    """Respell the numbers of *text*; `None` if there are no lines with numbers."""
    if _PADDED_BELOW.search(text) is None and _PADDED.match(text) is None:
        return None
    out: list[str] = []
    count = 0
    number = width = 0
    separator = ""
    for line in text.split("\n"):
        if separator:
            short = str(number)
            padded = short.rjust(width) + separator
            if line.startswith(padded):
                rest = line[len(padded) :]
                out.append(f"{short}\t{rest}" if rest or separator == "\t" else short)
            elif line == padded.rstrip():  # an empty one; blanks at its end have gone
                out.append(short)
            else:
                separator = ""
        if separator:
            count += 1
            number += 1
        else:
            number, width, separator = _form_below(line)
            out.append(line)
    return "\n".join(out) if count >= _MIN_LINES else None


def decode(text: str) -> str:
    """Undo `encode`."""
    out: list[str] = []
    number = width = 0
    separator = ""
    for line in text.split("\n"):
        if separator:
            short = str(number)
            rest = line[len(short) :] if line.startswith(short) else "-"
            if not rest:
                out.append((short.rjust(width) + separator).rstrip())
            elif rest[0] == "\t":
                out.append(short.rjust(width) + separator + rest[1:])
            else:
                separator = ""
        if separator:
            number += 1
        else:
            number, width, separator = _form_below(line)
            out.append(line)
    return "\n".join(out)


def _form_below(line: str) -> tuple[int, int, str]:
    """Return the number, the width and the separator of the line below, if *line* begins a run."""
    first = _PADDED.match(line) if line[:1] == " " else None
    if first is None:
        return 0, 0, ""
    return int(first[2]) + 1, len(first[1]) + len(first[2]), first[3]
