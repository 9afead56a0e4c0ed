"""Refuses an answer that lost a value, a quotation, an error or a name of its source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.llm.gates._values import values_in
from refold.llm.gates._words import FUNCTION_WORDS
from refold.llm.gates.base import STEM_CHARS, WORD, Gate, Refusal, Source, fold, some
from refold.scan.facts import NAME, find_quotes
from refold.scan.patterns import IDEOGRAPHS

_WORD: Final = re.compile(rf"[^\W_{IDEOGRAPHS}]{{2,}}|[{IDEOGRAPHS}]{{2}}")
_PAIR: Final = re.compile(rf"(?=([{IDEOGRAPHS}]{{2}}))")
_EXCEPTION: Final = re.compile(r"\b[a-z_.]{0,60}(?:error|exception)(?=:)")
_ENDINGS: Final = re.compile(r"[\u3040-\u309f]{2}")
"""What Japanese writes in hiragana is mostly grammar."""
_HEX: Final = re.compile(r"[0-9A-Fa-f]++")
_ESSENCE: Final = 0.5
"""The share of the words of an error line, small ones aside, that says the same."""


def _check(source: Source, answer: str) -> Refusal | None:
    missing = missing_facts(source, answer)
    if not missing:
        return None
    return Refusal(f"the answer lacks {some(missing)}", missing=missing)


def missing_facts(source: Source, answer: str) -> tuple[str, ...]:
    """Return the values, quotations, errors and names of *source* that *answer* lacks."""
    return tuple(dict.fromkeys(_missing(source, answer)))


def _missing(source: Source, answer: str) -> Iterator[str]:
    stated = values_in(answer)
    for value in source.values:
        if not value.is_stated(stated):
            yield value.text
    folded = fold(answer)
    facts = source.facts
    # Sets first: looking each fact up in the text takes long if there are thousands.
    spelled, words = set(WORD.findall(answer)), set(WORD.findall(folded))
    said, spaced = spelled | quoted_in(answer), " ".join(answer.split())
    for quote in facts.quotes:
        if not is_quoted(quote, said, spaced):
            yield quote
    stems = _stems(folded) | set(_PAIR.findall(folded))
    for line in facts.errors:
        quotes = list(find_quotes(line))
        if quotes and all(is_quoted(quote, said, spaced) for quote in quotes):
            continue  # what failed is quoted; the rest of the sentence is talk
        if not _says(fold(line), folded, stems):
            yield line
    beginnings = {word[:-cut] for word in words if not word.isascii() for cut in (1, 2)} | words
    for name in facts.names:
        if name not in spelled if is_code(name) else not _names(name, beginnings):
            yield name


def is_code(name: str) -> bool:
    """Tell whether a name is an identifier, of which every letter counts.

    What may be a part of a hash is not: the case of a hash does not matter.
    """
    found = NAME.fullmatch(name)
    return found is not None and found["code"] is not None and not _HEX.fullmatch(name)


def quoted_in(text: str) -> set[str]:
    """Return what the quotations of *text* say."""
    return {inside(quote) for quote in find_quotes(text)}


def is_quoted(quote: str, said: set[str], spaced: str) -> bool:
    """Tell whether a text says what *quote* does: its quotations and words, and all of it.

    Letter by letter; only a sentence may begin with a large or a small one.
    """
    content = inside(quote)
    forms = {content}
    if " " in content:
        forms |= {content[0].lower() + content[1:], content[0].upper() + content[1:]}
    return any(form in said or form in spaced for form in forms)


def inside(quote: str) -> str:
    """Return what a quotation says, without its marks and the punctuation before the last one."""
    return " ".join(quote[1:-1].split()).rstrip(".,;:!?…。，！？ ")


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
    return {
        word[:STEM_CHARS]
        for word in _WORD.findall(folded)
        if word not in FUNCTION_WORDS and not _ENDINGS.fullmatch(word)
    }


def _names(name: str, beginnings: set[str]) -> bool:
    """Tell whether an answer names someone, people by the last name.

    Languages that inflect names rarely write them in ASCII; there the ending may differ.
    """
    last = WORD.findall(name.casefold())[-1]
    if last in beginnings:
        return True
    return not last.isascii() and len(last) > STEM_CHARS and last[:-2] in beginnings


GATE: Final = Gate("facts_present", _check)
