"""Refuses an answer that gives to one what the source says of another: names and values swapped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.gates._clauses import Clause, split_clauses
from refold.gates._languages import FUNCTION_WORDS
from refold.gates._values import read_values
from refold.gates.base import WORD, Gate, Refusal, Source
from refold.text.alphabet import LOWER, UPPER
from refold.text.facts import NUMBER

_UNIT: Final = r"(?: ?[A-Za-z%°$€£¥µ]{1,8}+)?"
_TO: Final = r"(?: | ?(?:to|auf|à|a|→|->|=>|bis|hasta|升到|降到|到|至|から) ?){1,3}"
_FROM_TO: Final = re.compile(rf"(?<![0-9A-Za-z_.,'’٬])({NUMBER}){_UNIT}{_TO}({NUMBER})")
"""Two values of which the first became the second."""
_FULL_NAME: Final = re.compile(rf"(?<!\w)([{UPPER}][{LOWER}]++) ([{UPPER}][{LOWER}]++)(?!\w)")
_ALIKE: Final = 2
"""Two clauses speak of the same thing if they have so many words in common."""


def _check(source: Source, answer: str) -> Refusal | None:
    swapped = next(_swapped(source, answer), None)
    if swapped is None:
        return None
    why = f"the source says it of another: {swapped.strip()[:80]!r}"
    return Refusal(gate="same_pairs", why=why, is_false=True)


def _swapped(source: Source, answer: str) -> Iterator[str]:
    ours = set(_FROM_TO.findall(source.text))
    for first, second in _FROM_TO.findall(answer):
        if (second, first) in ours and (first, second) not in ours:
            yield f"{first} -> {second}"
    people = _people(source.text)
    for clause in split_clauses(answer):
        words = set(WORD.findall(clause.text))
        if len(people & words) == 1 and _is_of_another(source, clause, people, people & words):
            yield clause.text
        yield from _values_of_another(source, clause)


def _people(text: str) -> set[str]:
    """Return the last names of those whom *text* names by first and last name."""
    return {
        last
        for first, last in _FULL_NAME.findall(text)
        if first.lower() not in FUNCTION_WORDS and last.lower() not in FUNCTION_WORDS
    }


def _is_of_another(source: Source, clause: Clause, people: set[str], named: set[str]) -> bool:
    """Tell whether what is most like *clause* in the source is said of somebody else alone."""
    names = {word[:4].lower() for word in WORD.findall(clause.text) if word[:1].isupper()}
    stems = frozenset(clause.stems - names)
    best, is_other = 0, False
    for place, common in source.clauses.overlaps(stems).items():
        who = people & set(WORD.findall(source.clauses.clauses[place].text))
        if common > best:
            best, is_other = common, bool(who) and not who & named
        elif common == best and (not who or who & named):
            is_other = False
    return is_other and best >= min(_ALIKE, len(stems))


def _values_of_another(source: Source, clause: Clause) -> Iterator[str]:
    """Yield *clause* if the source states its values elsewhere, and others where it says this."""
    found = read_values(clause.text)
    if not found or not clause.stems:
        return
    overlaps = source.clauses.overlaps(clause.stems)
    most = max(overlaps.values(), default=0)
    if most < _ALIKE:
        return
    best = [source.clauses.clauses[place] for place, common in overlaps.items() if common == most]
    if not all(one.values for one in best):
        return
    stated = set().union(*(one.values for one in best))
    near = stated.union(*(source.clauses.clauses[place].values for place in overlaps))
    if not any({value.normal, *value.parts, *value.others} & near for value in found):
        yield clause.text


GATE: Final = Gate("same_pairs", _check)
