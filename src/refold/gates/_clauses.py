"""The clauses of a text, and by which words two of them speak of the same thing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from refold.gates._counts import in_digits
from refold.gates._languages import FUNCTION_WORDS
from refold.gates._values import values_in
from refold.text.alphabet import LOWER, UPPER
from refold.text.facts import find_no, pieces

_BORDER: Final = re.compile(
    r"[,:](?!\d)|[，、：—–]|(?<!\w)(?:and|but|while|whereas|und|aber|nachdem|bevor|et|mais|après|"
    r"avant|y|pero|mientras|(?:after|before)(?! (?:she|he|they|it|that|this)(?!\w)))(?!\w)",
    re.IGNORECASE,
)
"""Where one clause ends and the next begins; not inside of a number or a time."""
_ONLY_NAMES: Final = re.compile(rf"\s*+(?:[{UPPER}][{LOWER}]++\s*+){{1,3}}+")
_WORD: Final = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]{3,}+")
_PAIR: Final = re.compile(r"(?=([\u30a1-\u30ff\u3400-\u9fff]{2}))")
"""What Japanese writes in hiragana is mostly grammar."""
_STEM: Final = 4
"""So many letters of a word tell what it is about, whatever its ending: signs, signed, signing."""
_MOST_ALIKE: Final = 24
"""A word that more clauses have in common does not tell what they are about."""


@dataclass(frozen=True)
class Clause:
    """A part of a sentence."""

    text: str

    @cached_property
    def lower(self) -> str:
        """The clause in small letters."""
        return self.text.lower()

    @cached_property
    def stems(self) -> frozenset[str]:
        """What it is about; of scripts without blanks the pairs of characters."""
        return stems_of(self.lower)

    @cached_property
    def values(self) -> set[str]:
        """The values that it states."""
        return values_in(self.text)

    @cached_property
    def says_no(self) -> bool:
        """Whether something in it is denied."""
        return bool(find_no(self.lower))


def stems_of(lower: str) -> frozenset[str]:
    """Return what a text in small letters is about."""
    words = (word for word in _WORD.findall(lower) if word not in FUNCTION_WORDS)
    return frozenset({word[:_STEM] for word in words} | set(_PAIR.findall(lower)))


def split_clauses(text: str) -> list[Clause]:
    """Cut *text* into clauses, its numbers in digits."""
    found: list[Clause] = []
    for sentence in pieces(in_digits(text)):
        names = ""
        for part in _BORDER.split(sentence):
            if _ONLY_NAMES.fullmatch(part):  # what somebody did together with others
                names += part
            elif part.strip():
                found.append(Clause(names + part))
                names = ""
        if names:
            found.append(Clause(names))
    return found


class ClauseIndex:
    """The clauses of a source by what they are about."""

    def __init__(self, clauses: Sequence[Clause]) -> None:
        self.clauses = clauses
        self._by_stem: defaultdict[str, list[int]] = defaultdict(list)
        for place, clause in enumerate(clauses):
            for stem in clause.stems:
                if len(self._by_stem[stem]) <= _MOST_ALIKE:
                    self._by_stem[stem].append(place)

    def overlaps(self, stems: frozenset[str]) -> dict[int, int]:
        """Return how many of *stems* each clause has that has any; the work is bounded."""
        shared: defaultdict[int, int] = defaultdict(int)
        for stem in stems:
            places = self._by_stem.get(stem, [])
            for place in places if len(places) <= _MOST_ALIKE else ():
                shared[place] += 1
        return shared
