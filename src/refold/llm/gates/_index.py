"""A source, sentence by sentence, to lay the sentences of an answer beside it.

Clauses are found by what they are about; the words of a sentence, by their neighbours: another word
between the same neighbours stands in the place of the source's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from refold.llm.gates._clauses import SIDES, Clause, split_clauses, split_sentences, stem_of
from refold.llm.gates._counts import in_digits
from refold.llm.gates._words import FUNCTION_WORDS, HELPING_WORDS, words_of
from refold.llm.gates.base import Source
from refold.llm.gates.known_names import Names
from refold.llm.gates.limits_kept import AS_GOOD, LIMIT, changes_in
from refold.scan.facts import find_no
from refold.scan.patterns import HAN, KANA

_COUNTING: Final = frozenset("any all every each everyone everybody more than our".split())
"""Words that help others, but say of how many: these are compared."""
_SMALL: Final = (FUNCTION_WORDS | HELPING_WORDS) - _COUNTING | frozenset(words_of("left out"))
"""Words that are left out or exchanged without another meaning."""
_TOKEN: Final = re.compile(
    r"(?P<number>[0-9](?:[0-9.,:/]*[0-9])?)"
    rf"|(?P<sign>[{HAN}])|(?P<kana>[\u30a1-\u30ff]++)|(?P<word>[^\W\d_{KANA}{HAN}]++)"
)
_ONE: Final = "一"
"""It is no number where it begins a word; of these each sign stands alone."""
_SEPARATOR: Final = re.compile(r"[.,:]")
_MOST_CLAUSES: Final = 24
"""A word that more clauses have in common does not tell what they are about."""
_MOST_ALIKE: Final = 8
"""Places of a word in one sentence that are looked at: it keeps the work linear."""
_LONGEST: Final = 2
"""At most so many words, or Chinese characters, are compared with as many in their place; tuned on
the lists of answers up to `fresh_j`."""
_LEAST_PART: Final = 2
"""Letters of a word that another may have inside of it."""
_NEGATING: Final = re.compile(r"un|in|im|ir|il|non|dis|miss|més|des|dés")
"""With these before it, a word is its opposite."""
_PASSIVE: Final = re.compile(r"(?<!\w)(?:by|von|durch|par|por)(?!\w)|由|被|により")
"""Where only one of two sentences has such a word, who does something is behind it."""


class _Word(NamedTuple):
    stem: str
    text: str
    kind: str


_EDGE: Final = _Word("", "", "edge")


class Index:
    """The clauses, names and changes of a source, and which sentence speaks of what."""

    def __init__(self, source: Source) -> None:
        self._text = source.text
        self.clauses = split_clauses(source.text)
        self.stems = frozenset().union(*(clause.stems for clause in self.clauses))
        self._rows: dict[int, Row] = {}
        self._sentences: defaultdict[int, list[Clause]] = defaultdict(list)
        self._by_sign: defaultdict[str, list[int]] = defaultdict(list)
        for place, clause in enumerate(self.clauses):
            self._sentences[clause.place].append(clause)
            for sign in clause.stems | clause.values:
                if len(self._by_sign[sign]) <= _MOST_CLAUSES:
                    self._by_sign[sign].append(place)

    def sentence_of(self, clause: Clause) -> list[Clause]:
        """Return all clauses of the sentence that *clause* is of."""
        return self._sentences[clause.place]

    def row(self, place: int) -> Row:
        """Return the words of one sentence, by the place of its clauses."""
        if place not in self._rows:
            self._rows[place] = Row(self._sentences[place])
        return self._rows[place]

    def overlaps(self, signs: Set[str]) -> dict[int, float]:
        """Return how much of *signs*, stems or values, each clause has that has any.

        What few clauses have tells more. The work is bounded.
        """
        shared: defaultdict[int, float] = defaultdict(float)
        for sign in signs:
            places = self._by_sign.get(sign, [])
            for place in places if len(places) <= _MOST_CLAUSES else ():
                shared[place] += len(places) ** -0.5
        return shared

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of the text, by the places of the clauses; none if they cannot be told."""
        found = tuple(sentence.strip() for sentence in split_sentences(self._text))
        places = len(split_sentences(in_digits(self._text)))
        return found if len(found) == places else ()

    @cached_property
    def own_sentences(self) -> frozenset[str]:
        """The sentences of the text, letter by letter; a part of one may say something else."""
        return frozenset(sentence.strip() for sentence in split_sentences(self._text))

    @cached_property
    def changes(self) -> set[tuple[str, str]]:
        """Which values became which."""
        return changes_in(self._text)

    @cached_property
    def names(self) -> Names:
        """Whom and what the text names."""
        return Names(self._text)


class Row:
    """The words of a sentence in their order, with an edge before and behind each clause."""

    def __init__(self, clauses: Sequence[Clause]) -> None:
        self.words = [_EDGE, *(word for clause in clauses for word in (*_words(clause), _EDGE))]
        self.places: defaultdict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(self.words):
            if len(self.places[word.stem]) < _MOST_ALIKE:
                self.places[word.stem].append(place)
        self.pairs = {(one.stem, other.stem) for one, other in pairwise(self.words)}
        self.is_passive = any(_PASSIVE.search(clause.lower) for clause in clauses)


def _words(clause: Clause) -> Iterator[_Word]:
    for found in _TOKEN.finditer(clause.lower):
        if found[0] not in _SMALL:
            text, kind = found[0], found.lastgroup or ""
            if text == _ONE:
                text, kind = "1", "number"
            yield _Word(_plain(text, kind), text, kind)


def _plain(text: str, kind: str) -> str:
    if kind == "word":
        return stem_of(text)
    return _SEPARATOR.sub("", text) if kind == "number" else text


def has_other_word(ours: Row, theirs: Row) -> bool:
    """Tell whether *ours* has another word in the place of one of *theirs*, or two exchanged."""
    words, is_turned = ours.words, ours.is_passive != theirs.is_passive
    for start in range(1, len(words)):
        before = words[start - 1]
        for end in range(start + 1, min(start + _LONGEST, len(words) - 1) + 1):
            said = words[start:end]
            if _EDGE in said:
                break
            if _is_beside(theirs, before, said, words[end], is_turned=is_turned):
                continue
            for instead in _between(theirs, before, words[end], len(said)):
                if _is_other(ours, theirs, said, instead):
                    return True
    return False


def _is_beside(
    row: Row, before: _Word, said: Sequence[_Word], behind: _Word, *, is_turned: bool
) -> bool:
    """Tell whether some words stand beside one of their neighbours in *row*, too."""
    if said[0].kind == "sign":
        return False  # a character is hardly ever a word
    pairs = {(before.stem, said[0].stem), (said[-1].stem, behind.stem)}
    if is_turned:
        pairs |= {(said[-1].stem, before.stem), (behind.stem, said[0].stem)}
    return any("" not in pair and pair in row.pairs for pair in pairs)


def _between(row: Row, before: _Word, behind: _Word, count: int) -> Iterator[Sequence[_Word]]:
    """Yield what stands between two words: as many words as *count*, or fewer beside an edge."""
    if before is behind is _EDGE:
        return
    is_beside_edge = _EDGE in (before, behind)
    for place in row.places.get(before.stem, ()):
        for end in range(place + 2, min(place + 2 + _LONGEST, len(row.words))):
            found = row.words[place + 1 : end]
            if row.words[end].stem != behind.stem or _EDGE in found:
                continue
            are_signs = all(word.kind == "sign" for word in found)
            if are_signs or len(found) == count or (is_beside_edge and len(found) < count):
                yield found


def _is_other(ours: Row, theirs: Row, said: Sequence[_Word], instead: Sequence[_Word]) -> bool:
    """Tell whether *said* is something else than what stands there *instead*.

    Values, what denies or limits, and opposites are compared by clauses.
    """
    if any(word.kind == "number" for word in (*said, *instead)):
        return _is_exchanged(ours, theirs, said, instead)
    if any(_is_same(word, other) for word in said for other in instead):
        return False
    if any(word.stem in theirs.places for word in said) and not any(
        word.stem in ours.places for word in instead
    ):
        return False
    senses = [frozenset().union(*(_senses(word.text) for word in part)) for part in (said, instead)]
    return senses[0].isdisjoint(senses[1]) and not any("no" in part for part in senses)


def _is_exchanged(ours: Row, theirs: Row, said: Sequence[_Word], instead: Sequence[_Word]) -> bool:
    """Tell whether one number stands in the place of another, and is the other's or none."""
    if {word.kind for word in (*said, *instead)} != {"number"} or len(said) > 1 or len(instead) > 1:
        return False
    is_other = said[0].stem != instead[0].stem
    return is_other and (
        said[0].stem == "1" or (said[0].stem in theirs.places and instead[0].stem in ours.places)
    )


def _is_same(word: _Word, other: _Word) -> bool:
    """Tell whether one word is the other with an ending, or a part of it: fare, ferry fare."""
    if word.stem == other.stem:
        return True
    short, long = sorted((word.text, other.text), key=len)
    if "sign" in (word.kind, other.kind) or len(short) < _LEAST_PART or short not in long:
        return False
    return not _NEGATING.match(long)


@lru_cache(maxsize=4096)
def _senses(word: str) -> frozenset[str]:
    """Return the names of the opposites that a word is of, "no" for one that denies."""
    found = {name for name, sides in SIDES.items() if any(side.search(word) for side in sides)}
    if AS_GOOD.fullmatch(word) or LIMIT.fullmatch(word):
        found.add("limit")
    return frozenset(found | {"no"} if find_no(word) else found)
