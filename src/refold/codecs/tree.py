"""Drawn directory trees: one sign and the depth instead of drawn lines.

    src
    ├server
     ├queue.py
     └worker.py
    └README.md

A corner says that no more siblings follow, so the lines to draw follow from the signs.
"""

from __future__ import annotations

import re
from typing import Final

from refold.codecs.base import Codec, unreadable
from refold.rows import Needs

_DRAWN: Final = re.compile(r"((?:│   |    )*)(├|└)── (.+)")
_SHORT: Final = re.compile(r"( *)(├|└)(.+)")
_STEP: Final = 4
"""Characters that `tree` draws for each level."""
_BARS: Final = {"├": "│   ", "└": "    "}


def _encode(text: str) -> str | None:
    out: list[str] = []
    for line in text.split("\n"):
        drawn = _DRAWN.fullmatch(line)
        if not drawn and _SHORT.fullmatch(line):
            return None  # drawn in another way
        out.append(f"{' ' * (len(drawn[1]) // _STEP)}{drawn[2]}{drawn[3]}" if drawn else line)
    return "\n".join(out)


def _decode(text: str) -> str:
    out: list[str] = []
    bars: list[str] = []  # what the lines of each ancestor look like further down
    for line in text.split("\n"):
        short = _SHORT.fullmatch(line)
        if not short:
            out.append(line)
            bars = []
            continue
        depth = len(short[1])
        if depth > len(bars):
            raise unreadable(CODEC.name, line)
        del bars[depth:]
        out.append(f"{''.join(bars)}{short[2]}── {short[3]}")
        bars.append(_BARS[short[2]])
    return "\n".join(out)


CODEC: Final = Codec(name="tree", encode=_encode, decode=_decode, needs=Needs("├── "))
