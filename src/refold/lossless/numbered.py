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

import re
from typing import Final

from refold.lossless.base import Codec

_PADDED: Final = re.compile(r"( {1,12})([1-9]\d{0,6})(→|\t|:|\|)")
_PADDED_BELOW: Final = re.compile(rf"\n{_PADDED.pattern}")
_MIN_LINES: Final = 3


def _sees(text: str) -> bool:
    return "\n " in text and (
        _PADDED.match(text) is not None or _PADDED_BELOW.search(text) is not None
    )


class _Form:
    """How the lines of one run are numbered: the next number, the width, the separator."""

    __slots__ = ("number", "separator", "width")

    def __init__(self, first: re.Match[str]) -> None:
        self.width = len(first[1]) + len(first[2])
        self.separator = first[3]
        self.number = int(first[2]) + 1

    def padded(self) -> str:
        """Return what the next line starts with."""
        return f"{self.number:>{self.width}}{self.separator}"


def _form_of(line: str) -> _Form | None:
    """Return the form of a run that *line* begins; `None` if it begins none."""
    first = _PADDED.match(line) if line[:1] == " " else None
    return _Form(first) if first else None


def _encode(text: str) -> str | None:
    out: list[str] = []
    found = 0
    form: _Form | None = None
    for line in text.split("\n"):
        short = _shortened(line, form) if form else None
        if form is None or short is None:
            form = _form_of(line)
            out.append(line)
        else:
            found += 1
            form.number += 1
            out.append(short)
    return "\n".join(out) if found >= _MIN_LINES else None


def _shortened(line: str, form: _Form) -> str | None:
    """Return *line* in its short form if it counts on; else `None`."""
    padded = form.padded()
    if line == padded.rstrip():  # an empty one; blanks at its end have gone
        return str(form.number)
    return f"{form.number}\t{line[len(padded) :]}" if line.startswith(padded) else None


def _decode(text: str) -> str:
    out: list[str] = []
    form: _Form | None = None
    for line in text.split("\n"):
        full = _restored(line, form) if form else None
        if form is None or full is None:
            form = _form_of(line)
            out.append(line)
        else:
            form.number += 1
            out.append(full)
    return "\n".join(out)


def _restored(line: str, form: _Form) -> str | None:
    """Return *line* as it was if it counts on; else `None`."""
    number = str(form.number)
    if line == number:
        return form.padded().rstrip()
    short = f"{number}\t"
    return form.padded() + line[len(short) :] if line.startswith(short) else None


CODEC: Final = Codec(name="numbered", sees=_sees, encode=_encode, decode=_decode)
