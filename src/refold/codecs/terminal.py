"""Terminal noise: colour codes, lines that a progress bar wrote over, blanks at line ends.

Runs of blank lines stay: a tokenizer spends one token on a run of any usual length.
"""

from __future__ import annotations

import re
from typing import Final

from refold.codecs.base import Codec, same
from refold.rows import Needs

_CONTROL: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, cursor moves, erasing
    r"|\][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # window titles, links
    r"|[()][0-9A-Z]|[=>78cDEHM])"
)
_ERASE: Final = re.compile(r"\x1b\[[012]?K")
_BLANKS: Final = " \t"
# It goes from line break to line break: four times as fast as looking for either blank before one.
_BLANK_END: Final = re.compile(r"\n(?<=[ \t]\n)")


def _clean(text: str) -> str:
    """Return *text* as a terminal would show it in the end."""
    if "\x1b" not in text and "\r" not in text:
        return "\n".join([line.rstrip(_BLANKS) for line in text.split("\n")])
    return "\n".join([_clean_line(line) for line in text.split("\n")])


def _clean_line(line: str) -> str:
    ending = "\r" if line.endswith("\r") else ""  # a line end of another system, not noise
    body = line[:-1] if ending else line
    if "\r" in body:
        body = _overwritten(body.split("\r"))
    if "\x1b" in body:
        body = _CONTROL.sub("", body)
    return body.rstrip(_BLANKS) + ending


def _overwritten(layers: list[str]) -> str:
    """Lay texts written at the same place over each other; the last one is on top.

    Going backwards, each layer can only add what sticks out, so that the time is linear.
    """
    top = ""
    for layer in reversed(layers):
        shown = _CONTROL.sub("", layer)
        top += shown[len(top) :]
        if _ERASE.search(layer):
            break
    return top


CODEC: Final = Codec(
    name="terminal",
    encode=_clean,
    decode=same,
    normal=_clean,
    needs=Needs(("\x1b", "\r", _BLANK_END)),
    on_one_line=True,
)
