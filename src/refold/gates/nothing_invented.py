"""Refuses an answer with a number, id, address, path or quotation that its source does not have.

Counts written as words are not looked at, and the numbers of a list that counts its own lines are
free; a number that the source writes as a word may be written with digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.gates._values import read_values
from refold.gates.base import Gate, Refusal, Source, some
from refold.gates.facts_present import inside
from refold.text.facts import NAME, find_quotes

_PATH: Final = re.compile(r"(?<![\w/.-])\w[\w.-]*+(?:/[\w.-]*\w)++")
"""Words joined by slashes: a path or not, the source has to say them so."""


def _check(source: Source, answer: str) -> Refusal | None:
    invented = list(dict.fromkeys(_invented(source, answer)))
    if not invented:
        return None
    return Refusal(gate="nothing_invented", why=f"the source does not say {some(invented)}")


def _invented(source: Source, answer: str) -> Iterator[str]:
    for value in read_values(answer):
        if value.normal not in source.stated:
            yield value.text
    # Sets first: looking each quotation up in the text takes long if there are thousands.
    quoted = {inside(quote) for quote in source.facts.quotes}
    for quote in dict.fromkeys(find_quotes(answer)):
        content = inside(quote)
        if content not in quoted and content not in source.folded:
            yield quote
    known = set(_PATH.findall(source.text.replace("./", ""))) if "/" in answer else set()
    yield from (path for path in _PATH.findall(answer) if path not in known)
    for found in NAME.finditer(answer):
        if found["code"] and found[0].casefold() not in source.words:
            yield found[0]


GATE: Final = Gate("nothing_invented", _check)
