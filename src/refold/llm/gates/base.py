"""What a gate is: one question that a replacement must answer before it may be used."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from refold.llm.gates._clauses import ClauseIndex, split_clauses, split_sentences
from refold.llm.gates._counts import in_digits
from refold.llm.gates._limits import changes_in, limits_of
from refold.llm.gates._names import Names
from refold.llm.gates._places import Row
from refold.llm.gates._reading import read
from refold.llm.gates._values import Value, list_labels, read_values, stated_by
from refold.scan.facts import Facts, extract_facts

WORD: Final = re.compile(r"\w+")
_BARE: Final = re.compile(r"[0-9.]++")
_MEASURED: Final = re.compile(r"-?([0-9]++(?:\.[0-9]++)?)([^0-9]*+)")
_NUMERALS: Final = "〇一二三四五六七八九十"


class Source:
    """The text that a replacement stands for, with what the gates need of it, made once."""

    def __init__(self, text: str, count_tokens: Callable[[str], int]) -> None:
        self.text = text
        self.count_tokens = count_tokens
        self._rows: dict[int, Row] = {}

    @cached_property
    def facts(self) -> Facts:
        """The facts that must not get lost."""
        return extract_facts(self.text)

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """The values among the facts, in a form that does not depend on the spelling."""
        return read_values(self.text)

    @cached_property
    def stated(self) -> set[str]:
        """Every value that a replacement may name."""
        return stated_by(self.text, self.values) | list_labels(self.text)

    @cached_property
    def bare(self) -> set[str]:
        """The numbers without a unit."""
        return {value.normal for value in self.values if _BARE.fullmatch(value.normal)}

    @cached_property
    def measures(self) -> dict[str, set[str]]:
        """The numbers, and the units that they have; "" for none."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for value in self.values:
            measured = _MEASURED.fullmatch(value.normal)
            if measured is not None:
                found[measured[1]].add(measured[2])
        return found

    @cached_property
    def numerals(self) -> set[str]:
        """What may be numbers in Chinese characters: 三楼."""
        return {str(_NUMERALS.find(char)) for char in self.text if char in _NUMERALS}

    @cached_property
    def folded(self) -> str:
        """The text with case and white space made equal, to look up words in."""
        return fold(self.text)

    @cached_property
    def spaced(self) -> str:
        """The text with white space made equal, to look up quotations in."""
        return " ".join(self.text.split())

    @cached_property
    def reading(self) -> str:
        """The text as it reads, see `read`, with white space made equal."""
        return fold(read(self.text))

    @cached_property
    def spelled(self) -> set[str]:
        """The words of the text letter by letter, identifiers whole."""
        return set(WORD.findall(self.text))

    @cached_property
    def words(self) -> set[str]:
        """The words of the folded text, identifiers whole."""
        return set(WORD.findall(self.folded))

    @cached_property
    def clauses(self) -> ClauseIndex:
        """The clauses of the text, by what they are about."""
        return ClauseIndex(split_clauses(self.text))

    def row(self, place: int) -> Row:
        """Return the words of one sentence, by the place of its clauses."""
        if place not in self._rows:
            self._rows[place] = Row(self.clauses.at(place))
        return self._rows[place]

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of the text, by the places of the clauses; none if they cannot be told."""
        found = tuple(sentence.strip() for sentence in split_sentences(self.text))
        places = len(split_sentences(in_digits(self.text)))
        return found if len(found) == places else ()

    @cached_property
    def own_sentences(self) -> frozenset[str]:
        """The sentences of the text, letter by letter; a part of one may say something else."""
        return frozenset(sentence.strip() for sentence in split_sentences(self.text))

    @cached_property
    def limits(self) -> dict[str, set[str]]:
        """The limits beside each value: at most, at least, before, about."""
        return limits_of(self.text)

    @cached_property
    def changes(self) -> set[tuple[str, str]]:
        """Which values became which."""
        return changes_in(self.text)

    @cached_property
    def names(self) -> Names:
        """Whom and what the text names."""
        return Names(self.text)

    @cached_property
    def tokens(self) -> int:
        """What the text costs."""
        return self.count_tokens(self.text)


def fold(text: str) -> str:
    """Make case and white space equal."""
    return " ".join(text.casefold().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a replacement may not be used."""

    gate: str
    why: str
    missing: tuple[str, ...] = ()
    """Facts of the source that the replacement lacks: asking again with them may help."""
    is_false: bool = False
    """Whether it says the opposite of a fact: then appending the fact does not make it true."""


Check = Callable[[Source, str], Refusal | None]
"""Looks at a source and a replacement; refuses, or has nothing against it."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A check and the name under which a report shows it."""

    name: str
    check: Check


def some(facts: tuple[str, ...] | list[str], *, most: int = 3) -> str:
    """Show the first few of many."""
    shown = ", ".join(fact if len(fact) <= 60 else fact[:57] + "..." for fact in facts[:most])
    return shown + (f" and {len(facts) - most} more" if len(facts) > most else "")
