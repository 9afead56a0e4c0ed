"""Refuses an answer with a sentence that the source does not bear out.

Each clause of the answer is laid beside the clause of the source that has most in common with it.
The two must agree: in what they deny, in the sides of opposites that they are on, in what is only
so, in the names and the values that they give to what. What no sentence of the source speaks of, or
says in other words than any that are known here, is in doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from typing import Final, NamedTuple

from refold.llm.gates._clauses import (
    ASIAN,
    DENIAL,
    SIDES,
    Clause,
    split_clauses,
    split_sentences,
    stems_of,
)
from refold.llm.gates._index import Index, Row, has_other_word
from refold.llm.gates._values import SLASHED, read_values
from refold.llm.gates._words import words_of
from refold.llm.gates.base import Gate, Refusal, Source
from refold.llm.gates.limits_kept import AS_GOOD, ONLY, changes_in
from refold.notation.recognize import KEPT_LINE
from refold.scan.facts import UNITS

_NEUTRAL: Final = stems_of(" ".join(words_of("neutral words")))
"""Words that report, help, or set a limit, which another gate compares: they need no source."""
_MOST_NEW: Final = 3
"""One word in this many may be new; tuned on lists of wrong and careful answers."""
_MOST_NEW_PAIRS: Final = 0.5
"""The share of the pairs of characters of a Chinese or Japanese sentence that may be new."""
_TOGETHER: Final = 0.6
"""The share of what a clause is about that one sentence of the source speaks of; tuned likewise."""
_BESIDE: Final = 0.4
_AROUND: Final = 0.2
_SENSE: Final = 0.3
"""What counts beside a rare word in common, which is 1: a word of the clause that stands elsewhere
in the source's sentence, one that stands elsewhere in both, and another word for the same thing."""
_NEARLY: Final = 0.01
"""Clauses that differ by less are equally near; all of them are compared."""
_CLEARLY: Final = 0.3
"""How much more must speak for another value; a rare word in common counts 1."""
_ALIKE: Final = 2
"""One word in common may be chance; two are a subject."""
_ASKING: Final = re.compile(r"[?？]\s*$|(?<!\w)(?:whether|ob)(?!\w)|是否|かどうか")
_UNITS: Final = stems_of(" ".join(UNITS))
_HEADING: Final = re.compile(r"(?m)^#{1,6} (?:[^\W\d_]++[ \t]*+){1,4}$\n?")
"""A heading of a few words names a topic, and claims nothing; one with figures may."""
_KIND: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?")


class _Told(NamedTuple):
    """A clause of an answer, and the clauses of the source that are most like it."""

    clause: Clause
    nearest: Sequence[Clause]


def _check(source: Source, answer: str) -> Refusal | None:
    index = source.once(Index)
    told = _HEADING.sub("", KEPT_LINE.sub("", answer))  # the last line of a repair is ours
    for sentence in split_sentences(told):
        why = next(_doubts(index, sentence), None)
        if why is not None:
            return Refusal(f"{why}: {sentence[:80]!r}", is_false=True)
    return None


def _doubts(index: Index, sentence: str) -> Iterator[str]:
    """Yield what speaks against a sentence; nothing does against one of the source's own."""
    if sentence.strip("-*•·・ \n") in index.own_sentences:
        return
    told = [
        _Told(clause, _nearest(index, clause)) for clause in split_clauses(sentence) if clause.stems
    ]
    if _has_other_word(index, sentence, told):
        yield "the source has another word in its place"
    if _is_turned(index, sentence):
        yield "the source has it the other way round"
    if _is_new(index, sentence, told):
        yield "the source does not speak of it so"
    if _is_denied(index, told) or _says_denied(index, told):
        yield "the source says the opposite of"
    if _lost_only(index, told):
        yield "the source restricts it, or does not"
    for one in told:
        if _is_other_side(index, one):
            yield "the source says the opposite of"
        if _says_all(index, one):
            yield "the source does not say it of all"
        if _is_scattered(index, one):
            yield "no sentence of the source says"
        if _is_of_another(index, one.clause) or _has_value_of_another(index, one.clause):
            yield "the source says it of another"


def _is_turned(index: Index, sentence: str) -> bool:
    """Tell whether of two values the source says that the second became the first."""
    return any(
        (new, old) in index.changes and (old, new) not in index.changes
        for old, new in changes_in(sentence)
    )


def _has_other_word(index: Index, sentence: str, told: Sequence[_Told]) -> bool:
    """Tell whether a sentence has another word than the index, or two of them exchanged."""
    ours = Row(split_clauses(sentence))
    return any(has_other_word(ours, index.row(place)) for place in _places(told))


def _places(told: Sequence[_Told]) -> set[int]:
    """Return which sentences of the source are most like the clauses of one of an answer."""
    return {near.place for one in told for near in one.nearest[:1]}


def _says_denied(index: Index, told: Sequence[_Told]) -> bool:
    """Tell whether a sentence without a no speaks of what the source says with one only."""
    if any(clause.noes for clause, _ in told):
        return False
    for clause, nearest in told:
        for near in nearest[:1]:
            beside = index.sentence_of(near)
            plain = frozenset().union(*(said.stems for said in beside if said.noes % 2 == 0))
            denied = frozenset().union(*(said.stems for said in beside if said.noes % 2))
            if clause.stems & denied - plain:
                return True
    return False


def _says_all(index: Index, told: _Told) -> bool:
    """Tell whether a clause says of all, or always, what the source says without that."""
    beside = [said for near in told.nearest for said in index.sentence_of(near)]
    says_all = 0 in told.clause.senses.get("amount", ())
    return says_all and bool(beside) and not any("amount" in said.senses for said in beside)


def sentences_like(source: Source, sentence: str) -> Iterator[str]:
    """Yield the sentences of the source that a sentence of an answer seems to report, each once."""
    index = source.once(Index)
    places = {
        near.place: None
        for clause in split_clauses(sentence)
        if clause.stems
        for near in _nearest(index, clause)[:1]
    }
    for place in sorted(places):
        if place < len(index.sentences):
            yield index.sentences[place]


def _nearest(index: Index, clause: Clause) -> Sequence[Clause]:
    """Return the clauses of the source that have most in common with *clause*.

    What their sentences have in common with it counts as well, and words for the same thing.
    """
    overlaps = index.overlaps(clause.stems | clause.values)
    scores = {
        place: shared
        + _BESIDE * len((clause.stems - found.stems) & found.sentence)
        + _AROUND * len((clause.sentence - clause.stems) & found.sentence)
        + _SENSE * len(clause.senses.keys() & found.senses.keys())
        for place, shared in overlaps.items()
        if (found := index.clauses[place])
    }
    best = max(scores.values(), default=0)
    return [index.clauses[n] for n in sorted(scores) if scores[n] > best - _NEARLY]


def _is_new(index: Index, sentence: str, told: Sequence[_Told]) -> bool:
    """Tell whether too much in *sentence* is in no words of the source.

    A word for what the source says in another one, or its opposite, is known here.
    """
    stems = frozenset().union(*(one.clause.stems for one in told))
    new = stems - index.stems - _NEUTRAL
    if ASIAN.search(sentence):
        return len(new) > _MOST_NEW_PAIRS * len(stems)
    if not new:
        return False
    beside = [said for one in told for near in one.nearest for said in index.sentence_of(near)]
    lower = sentence.lower()
    patterns = [
        side for name in SIDES if any(name in c.senses for c in beside) for side in SIDES[name]
    ]
    if any(clause.noes for clause in beside):
        patterns.append(DENIAL)
    known = {
        stem for pattern in patterns for f in pattern.finditer(lower) for stem in stems_of(f[0])
    }
    new -= known
    return len(new) > len(stems) // _MOST_NEW or any(
        len(new & one.clause.stems) * 2 >= len(one.clause.stems) for one in told if new
    )


def _is_denied(index: Index, told: Sequence[_Told]) -> bool:
    """Tell whether a clause says no where the source does not, or the other way round.

    A sentence may be cut into other clauses than that of the source: one that differs is none if
    the sentences do not.
    """
    turned = [one for one in told if _differs(index, one, is_alone=len(told) == 1)]
    if not turned:
        return False
    if len(turned) > 1 or len(told) == 1 or turned[0].clause.noes:
        return True
    noes = sum(one.clause.noes for one in told)
    nearest = turned[0].nearest
    beside = {near.place for one in told if one is not turned[0] for near in one.nearest}
    return all(
        near.place not in beside or (noes - sum(c.noes for c in index.sentence_of(near))) % 2
        for near in nearest
    )


def _differs(index: Index, told: _Told, *, is_alone: bool) -> bool:
    clause, nearest = told
    common = max((len(clause.stems & near.stems) for near in nearest), default=0)
    least = min(len(clause.stems), *(len(near.stems) for near in nearest), _ALIKE)
    if ASIAN.search(clause.text):
        least = 1  # a pair of characters is a word, and the next ones are parts of it
    is_part = not is_alone and not clause.noes and any(len(near.stems) > _ALIKE for near in nearest)
    if common < least or (common < _ALIKE and is_part):
        return False
    return all((_noes_within(index, near, clause) - clause.noes) % 2 for near in nearest)


def _noes_within(index: Index, near: Clause, clause: Clause) -> int:
    """Return how often the source says no of what *clause* is about: in all clauses that it has."""
    if _ASKING.search(near.lower) and not _ASKING.search(clause.lower):
        return clause.noes + 1  # what is asked is not said
    return near.noes + sum(
        said.noes
        for said in index.sentence_of(near)
        if said is not near and said.stems and said.stems <= clause.stems
    )


def _is_other_side(index: Index, told: _Told) -> bool:
    """Tell whether *told* is on the other side of an opposite than what is like it."""
    return any(
        len(sides) == 1
        and bool(told.nearest)
        and all(_is_opposed(index, near, name, sides) for near in told.nearest)
        for name, sides in told.clause.senses.items()
    )


def _is_opposed(index: Index, near: Clause, name: str, sides: Set[int]) -> bool:
    if name in near.senses:
        return sides.isdisjoint(near.senses[name])
    others = [c.senses[name] for c in index.sentence_of(near) if name in c.senses]
    return bool(others) and all(sides.isdisjoint(other) for other in others)


def _is_scattered(index: Index, told: _Told) -> bool:
    """Tell whether no sentence of the source has most of what a clause is about."""
    known = told.clause.stems & index.stems
    together = max((len(known & near.sentence) for near in told.nearest), default=len(known))
    return len(known) >= _ALIKE and together < _TOGETHER * len(known)


def _is_of_another(index: Index, clause: Clause) -> bool:
    """Tell whether what is most like *clause* in the source is said of others."""
    ours = index.names.named_in(clause.text)
    if not ours:
        return False
    overlaps = index.overlaps(clause.stems - index.names.stems)
    best = max(overlaps.values(), default=0)
    places = [place for place, shared in overlaps.items() if shared > best - _NEARLY]
    return bool(places) and not any(_may_be_of(index, index.clauses[n], ours) for n in places)


def _may_be_of(index: Index, near: Clause, ours: frozenset[str]) -> bool:
    theirs = index.names.named_in(near.text)
    if not theirs:
        theirs = frozenset().union(
            *(index.names.named_in(said.text) for said in index.sentence_of(near))
        )
    return ours <= theirs or theirs <= ours


def _has_value_of_another(index: Index, clause: Clause) -> bool:
    """Tell whether what *clause* says of a value the source says of another of its kind."""
    overlaps = index.overlaps(clause.stems - _UNITS) if clause.values else {}
    near: dict[str, float] = {}
    for place, shared in overlaps.items():
        for form in index.clauses[place].values:
            near[form] = max(shared, near.get(form, 0))
    rivals: dict[str, float] = {}
    for form, shared in near.items():
        if form not in clause.values:
            kind = _KIND.sub("#", form)
            rivals[kind] = max(shared, rivals.get(kind, 0))
    most = max(rivals.values(), default=0)
    for value in read_values(SLASHED.sub(" ", clause.text)):
        own = max(near.get(form, 0) for form in (value.normal, *value.parts, *value.others))
        rival = rivals.get(_KIND.sub("#", value.normal), 0)
        if rival > own + _CLEARLY or (own == 0 and most >= _ALIKE):
            return True
    return False


def _lost_only(index: Index, told: Sequence[_Told]) -> bool:
    """Tell whether a sentence leaves out that something is only so, or adds it."""
    restricts = [_restricts(clause) for clause, _ in told]
    says_only = any(ONLY.search(clause.lower) for clause, _ in told)
    for (clause, nearest), is_restricted in zip(told, restricts, strict=True):
        beside = [said for near in nearest for said in index.sentence_of(near)]
        if not beside:
            continue
        if not says_only and not is_restricted and all(ONLY.search(near.lower) for near in nearest):
            return True
        if not any(restricts) and any(ONLY.search(said.lower) for said in beside):
            return True
        if ONLY.search(clause.lower) and not any(map(_restricts, beside)):
            return True
    return False


def _restricts(clause: Clause) -> bool:
    """Tell whether a clause holds under a condition only, or says no of all the rest."""
    return bool(AS_GOOD.search(clause.lower) or clause.link == "if" or clause.plain_noes)


GATE: Final = Gate("supported", _check)
