"""Explain why each piece of a selection was kept or dropped; computed on first access.

The choice is replayed in its order. What a piece added when it was chosen explains why it was kept;
what the others would add in the end, compared to the least that was chosen, why they were dropped.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from heapq import nlargest
from itertools import chain
from typing import Final

from refold.lazy import Lazy
from refold.messages.folds import Fold, Outcome, Plan
from refold.messages.message import Message
from refold.plan.choose import Candidates, Choice
from refold.plan.corpus import CALLS, OUTDATED, Corpus, Text
from refold.plan.layout import Key
from refold.plan.writing import NO_PICK, Chosen
from refold.result import Piece
from refold.scan.items import Shape

_NAMED: Final = 3
"""The most values or words that a reason names."""
_NEW_SHARE: Final = 0.25
"""A piece of which a smaller share is new repeats what others say."""
_CRUMBS: Final = 0.05
"""The share of the room that is filled up at the end with whatever still fits."""


@dataclass(slots=True)
class _Replay:
    """What is known after the replay of a choice."""

    choice: Choice
    sayers: dict[int, int]
    """Item → the index of the first shown message that says it."""
    kept: dict[int, str]
    """Candidate → why it was chosen."""
    price: float = 0.0
    """The gain per token that was needed to be chosen, before only crumbs fit."""


class PieceExplainer:
    """Explains for each piece of a selection why it was kept or dropped."""

    def __init__(
        self,
        texts: Sequence[Text],
        corpus: Corpus,
        relevance: Sequence[float],
        candidates: Candidates,
        hidden: frozenset[int] = frozenset(),
    ) -> None:
        self._hidden = hidden
        """Pieces of texts that do not compete but are clipped away."""
        self._texts = texts
        self._corpus = corpus
        self._relevance = relevance
        self._candidates = candidates
        self.chosen: Sequence[int] = ()
        self.shown: Mapping[int, Chosen] = {}
        """What the finished plan shows of each message."""

    def explain(self, plan: Plan) -> Plan:
        """Attach its pieces to every text in *plan* that was cut."""
        return tuple(fold if fold.is_kept else self._explain(fold) for fold in plan)

    def _explain(self, fold: Fold) -> Fold:
        rows = zip(fold.sources, fold.outcomes, strict=True)
        return fold.changed(
            outcomes=tuple(tuple(self._tell(message, row)) for message, row in rows)
        )

    def _tell(self, message: Message, row: Sequence[Outcome]) -> Iterator[Outcome]:
        for part, outcome in enumerate(row):
            match outcome.action:
                case "excerpted":
                    keys = [(message.index, part)]
                case "digested":
                    keys = [(message.index, n) for n in (*range(len(message.parts)), CALLS)]
                case _:
                    yield outcome
                    continue
            yield outcome.with_pieces(Lazy(partial(self._pieces_of, keys)))

    def _pieces_of(self, keys: Sequence[Key]) -> tuple[Piece, ...]:
        numbers = [self._number_of[key] for key in keys if key in self._number_of]
        return tuple(chain.from_iterable(map(self._pieces, numbers)))

    @cached_property
    def _number_of(self) -> dict[Key, int]:
        return {text.key: number for number, text in enumerate(self._texts)}

    @cached_property
    def _replay(self) -> _Replay:
        candidates, texts = self._candidates, self._texts
        choice = Choice(candidates, self._relevance, [0.0] * len(texts))
        replay = _Replay(choice, {}, {})
        cuts = self._corpus.cuts
        for text, pieces in zip(texts, cuts.of, strict=True):
            if not text.is_open:
                shown = (piece for piece in pieces if piece not in self._hidden)
                said = set(chain.from_iterable(cuts.rows[piece] for piece in shown))
                choice.cover(said)
                replay.sayers.update(dict.fromkeys(said, text.message.index))
        gains: list[tuple[float, float]] = []
        for number in self.chosen:
            rows = candidates.rows[number]
            replay.kept[number] = self._why_kept(number, choice)
            if not candidates.is_required[number]:
                gains.append((choice.gain(number), candidates.cost[number]))
            choice.cover(rows, candidates.credit[number])
            sayer = texts[candidates.text[number]].message.index
            for row in rows:
                replay.sayers.setdefault(row, sayer)
        replay.price = _price(gains)
        return replay

    def _why_kept(self, number: int, choice: Choice) -> str:
        grade = self._candidates.grade[number]
        if self._candidates.is_required[number]:
            return grade.label
        best = [row for added, row in nlargest(_NAMED, choice.added(number)) if added > 0]
        if not best:
            return "recent"
        shapes, names = self._corpus.stats.shape, self._names
        is_value = shapes[best[0]] < Shape.WORD
        named = [names[row] for row in best if (shapes[row] < Shape.WORD) is is_value]
        return f"{'value' if is_value else 'word'}:{','.join(named)}"

    def _why_dropped(self, number: int) -> str:
        replay, grade = self._replay, self._candidates.grade[number]
        rows = self._candidates.rows[number]
        if not rows:
            return "says_little"
        added = sum(part for part, _ in replay.choice.added(number))
        relevance, credit = self._relevance, self._candidates.credit[number]
        if added <= _NEW_SHARE * credit * sum(relevance[row] for row in rows):
            return self._where_said(rows)
        gain = replay.choice.gain(number)
        if gain >= replay.price:
            return "no_room"
        if (
            self._texts[self._candidates.text[number]].is_outdated
            and gain >= replay.price * OUTDATED
        ):
            return "out_of_date"
        if gain >= replay.price * grade.weight and grade.label:
            return grade.label
        return "worth_less"

    def _where_said(self, rows: Collection[int]) -> str:
        """Return a reason with the shown message that says most of these items, if there is one."""
        said: defaultdict[int, float] = defaultdict(float)
        for row in rows:
            if row in self._replay.sayers:
                said[self._replay.sayers[row]] += self._relevance[row]
        return f"said_elsewhere:{max(said, key=said.__getitem__)}" if said else "said_elsewhere"

    def _pieces(self, number: int) -> Iterator[Piece]:
        """Yield the pieces of a text."""
        text = self._texts[number]
        part = None if text.part == CALLS else text.part
        rate = text.tokens / len(text.text)
        line, start = 1, 0
        for end, reason, is_kept in self._verdicts(number):
            said = text.text[start:end]
            breaks = said.count("\n")
            yield Piece(
                text=said,
                is_kept=is_kept,
                reason=reason,
                tokens=round(rate * end) - round(rate * start),
                part=part,
                first_line=line,
                last_line=line + breaks - said.endswith("\n"),
            )
            line, start = line + breaks, end

    def _verdicts(self, number: int) -> Iterator[tuple[int, str, bool]]:
        """Yield the end of each piece of a text, the reason, and whether it is kept."""
        text, candidates = self._texts[number], self._candidates
        if not text.is_open:
            yield len(text.text), "whole", True
            return
        picked = self.shown.get(text.message.index, {}).get(text.part, NO_PICK)
        spans = iter(picked.spans)
        span = next(spans, None)
        for candidate in self._candidates_of(number):
            start, end = candidates.start[candidate], candidates.end[candidate]
            while span is not None and span[1] <= start:
                span = next(spans, None)
            if span is None or span[0] >= end:
                yield end, self._why_dropped(candidate), False
                continue
            # A view that shows a single span may end it within a piece.
            stop = min(end, span[1])
            yield stop, self._why_shown(candidate), True
            if stop < end:
                yield end, "no_room", False

    def _candidates_of(self, number: int) -> range:
        of_texts = self._candidates.text
        return range(bisect_left(of_texts, number), bisect_left(of_texts, number + 1))

    def _why_shown(self, candidate: int) -> str:
        known = self._replay.kept.get(candidate)
        if known is not None:
            return known
        return "heading" if self.chosen else "best_stretch"

    @cached_property
    def _names(self) -> list[str]:
        """The items, by their rows."""
        return list(self._corpus.stats.number)


def _price(gains: list[tuple[float, float]]) -> float:
    """Return the lowest gain among the chosen (gain, cost) pairs, the last crumbs aside."""
    left = _CRUMBS * sum(cost for _, cost in gains)
    for gain, cost in sorted(gains):
        left -= cost
        if left < 0:
            return gain
    return 0.0
