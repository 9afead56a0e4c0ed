"""Refuses an answer that lost a value, a quotation, an error or a name of its source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.gates._values import values_in
from refold.gates.base import WORD, Gate, Refusal, Source, fold, some
from refold.gates.same_language import FUNCTION_WORDS
from refold.text.facts import find_quotes

_WORD: Final = re.compile(r"[^\W_]{2,}")
_EXCEPTION: Final = re.compile(r"\b[a-z_.]{0,60}(?:error|exception)(?=:)")
_STEM: Final = 5
_ESSENCE: Final = 0.5
"""The share of the words of an error line, small ones aside, that says the same."""


def _check(source: Source, answer: str) -> Refusal | None:
    missing = tuple(dict.fromkeys(_missing(source, answer)))
    if not missing:
        return None
    return Refusal(gate="facts_present", why=f"the answer lacks {some(missing)}", missing=missing)


def _missing(source: Source, answer: str) -> Iterator[str]:
    stated = values_in(answer)
    for value in source.values:
        if value.normal not in stated:
            yield value.text
    folded = fold(answer)
    facts = source.facts
    # Sets first: looking each fact up in the text takes long if there are thousands.
    words = set(WORD.findall(folded))
    said = words | {inside(quote) for quote in find_quotes(answer)}
    for quote in facts.quotes:
        content = inside(quote)
        if content not in said and content not in folded:
            yield quote
    stems = _stems(folded)
    for line in facts.errors:
        if not _says(fold(line), folded, stems):
            yield line
    beginnings = {word[:-cut] for word in words if not word.isascii() for cut in (1, 2)} | words
    for name in facts.names:
        if not _names(name, beginnings):
            yield name


def inside(quote: str) -> str:
    """Return what a quotation says, without its marks and the punctuation before the last one."""
    return fold(quote[1:-1]).rstrip(".,;:!?…。，！？ ")


def _says(line: str, folded: str, words: set[str]) -> bool:
    """Tell whether an answer says an error line, or its exception and most of its words."""
    if line in folded:
        return True
    kind = _EXCEPTION.search(line)
    if kind is not None and kind[0] not in folded:
        return False
    wanted = _stems(line[kind.start() :] if kind is not None else line)
    return bool(wanted) and len(wanted & words) >= _ESSENCE * len(wanted)


def _stems(folded: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(folded) if word not in FUNCTION_WORDS}


def _names(name: str, beginnings: set[str]) -> bool:
    """Tell whether an answer names someone: an identifier in full, people by the last name.

    Languages that inflect names rarely write them in ASCII; there the ending may differ.
    """
    last = WORD.findall(name.casefold())[-1]
    if last in beginnings:
        return True
    return not last.isascii() and len(last) > _STEM and last[:-2] in beginnings


GATE: Final = Gate("facts_present", _check)
