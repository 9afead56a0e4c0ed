"""Refuses an answer with markup that its source lacks, or that breaks out of its stand-in."""

from __future__ import annotations

import re
from typing import Final

from refold.llm.gates.base import Gate, Refusal, Source
from refold.notation.recognize import IMITATION, KEPT_LINE

_MARKUP: Final = re.compile(
    r"(?<![\w<])</?[A-Za-z][\w:-]{0,40}(?:\s[^<>\n]{0,200})?/?>|<!--|<!\[CDATA\[|<\?xml|<!DOCTYPE"
    r"|`{3,}|~{3,}|!?\[[^\[\]\n]{0,200}\]\([^()\n]{0,400}\)|\x1b\[|&(?:[a-z]{2,8}|#x?[0-9a-f]{1,6});"
    r"|\bjavascript:|\bdata:[a-z]{2,20}/",
    re.IGNORECASE,
)
"""Tags, comments, fences, links, colours of a terminal, entities. Lists, tables, headings and
emphasis are how people write summaries."""


def _check(source: Source, answer: str) -> Refusal | None:
    body = KEPT_LINE.sub("", answer)  # the last line of a repair is ours
    ours = IMITATION.search(body)
    if ours is not None:
        return Refusal(f"it imitates a stand-in: {ours[0]!r}")
    for found in _MARKUP.finditer(body):
        if found[0] not in source.text:
            return Refusal(f"the source has no {found[0]!r}")
    depth = 0
    for char in body:
        depth += (char == "[") - (char == "]")
        if depth < 0:
            return Refusal("it closes a bracket that it has not opened")
    return None


GATE: Final = Gate("no_markup", _check)
