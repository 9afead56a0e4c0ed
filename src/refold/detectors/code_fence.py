"""Sees fenced code: ``` or ~~~ at a line start, closed or cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs
from refold.scan.structure import marked_lines
from refold.scan.view import TextView

# Backticks after the opening run would be inline code. More than five tildes underline a heading.
_FENCE_LINE: Final = re.compile(
    r"^ {0,3}(?:(?P<ticks>`{3,}+)(?P<info>[^`\n]*+)|(?P<tildes>~{3,5}+)(?P<name>[^~\n]*+))$",
    re.MULTILINE,
)


def _find(view: TextView) -> Iterator[Span]:
    opening: re.Match[str] | None = None
    for start, end in marked_lines(view.text):
        line = _FENCE_LINE.match(view.text, start, end)
        if line is None:
            continue
        if opening is None:
            opening = line
        elif _closes(line, opening):
            yield opening.start(), line.end()
            opening = None
    if opening is not None:
        # A streamed or cut message ends inside its code: still code, to the end of the text.
        yield opening.start(), len(view.text)


def _closes(line: re.Match[str], opening: re.Match[str]) -> bool:
    fence, label = _parts(line)
    opened_with, _ = _parts(opening)
    return not label.strip() and fence.startswith(opened_with)


def _parts(line: re.Match[str]) -> tuple[str, str]:
    ticks = line["ticks"]
    return (ticks, line["info"]) if ticks is not None else (line["tildes"], line["name"])


DETECTOR: Final = Detector(
    reason="code_fence", hard=True, needs=Needs(shapes="```|~~~"), find=_find
)
