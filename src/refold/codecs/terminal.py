"""Terminal noise: colour codes, lines that a progress bar wrote over, blanks at line ends.

Runs of blank lines stay: a tokenizer spends one token on a run of any usual length.
"""

from __future__ import annotations

from typing import Final

from refold.lazy import regex

_CONTROL: Final = regex(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, cursor moves, erasing
    r"|\][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # window titles, links
    r"|[()][0-9A-Z]|[=>78cDEHM])"
)
_ERASE: Final = regex(r"\x1b\[[012]?K")
_BLANKS: Final = " \t"


def encode(text: str) -> str:
    """Return *text* as a terminal would show it in the end."""
    if "\x1b" in text or "\r" in text:
        return "\n".join([_clean_line(line) for line in text.split("\n")])
    if " \n" in text or "\t\n" in text or text.endswith((" ", "\t")):
        return "\n".join([line.rstrip(_BLANKS) for line in text.split("\n")])
    return text


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
        visible = _CONTROL.sub("", layer)
        top += visible[len(top) :]
        if _ERASE.search(layer):
            break
    return top
