"""Refuses a sentence of the source that names somebody else: there, its figures were another's."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

from refold.llm.gates.base import WORD, Gate, Refusal, Source
from refold.scan.alphabet import LOWER, UPPER
from refold.scan.facts import pieces

_WORD: Final = rf"[{UPPER}][{LOWER}]++(?!\w)"
_NAME: Final = re.compile(rf"(?<!\w){_WORD}(?: {_WORD})++")
"""Two or more words with capitals: a name, wherever in a sentence it stands."""
_FIGURE: Final = re.compile(r"[0-9]++(?:[.,:][0-9]++)*+")
_LEAST_FIGURE: Final = 2
"""Characters of a figure: a single digit tells no sentence from another."""
_MOST_ALIKE: Final = 24
"""Sentences with the same figure that are looked at: it keeps the work linear."""


class _Sentence(NamedTuple):
    names: frozenset[str]
    """The last word of each: before it may stand a title, or what begins a line."""
    figures: frozenset[str]
    words: frozenset[str]
    """All words but names and figures, in small letters."""


def _check(source: Source, answer: str) -> Refusal | None:
    known = _by_figure(source.text)
    for said in _read(answer):
        alike = [
            theirs
            for figure in said.figures
            for theirs in known.get(figure, ())
            if said.figures <= theirs.figures and said.words <= theirs.words and theirs.names
        ]
        if alike and all(said.names.isdisjoint(theirs.names) for theirs in alike):
            who = ", ".join(sorted(said.names))
            why = f"the source says it of another than {who!r}"
            return Refusal(gate="same_owner", why=why, is_false=True)
    return None


def _read(text: str) -> Iterator[_Sentence]:
    """Yield the sentences that say something of somebody, with a figure."""
    for sentence in pieces(text):
        names = frozenset(name.rpartition(" ")[2] for name in _NAME.findall(sentence))
        figures = frozenset(f for f in _FIGURE.findall(sentence) if len(f) >= _LEAST_FIGURE)
        if names and figures:
            rest = _FIGURE.sub(" ", _NAME.sub(" ", sentence)).lower()
            yield _Sentence(names, figures, frozenset(WORD.findall(rest)))


def _by_figure(text: str) -> dict[str, list[_Sentence]]:
    """Return the sentences of a source by their figures."""
    found: defaultdict[str, list[_Sentence]] = defaultdict(list)
    for sentence in _read(text):
        for figure in sentence.figures:
            if len(found[figure]) < _MOST_ALIKE:
                found[figure].append(sentence)
    return dict(found)


GATE: Final = Gate("same_owner", _check)
