"""Rate items: how likely a later turn comes back to each word and value.

Weights are learned from recorded runs (a logistic model, one for values, one for words); all sums
are of whole numbers, so that every machine gets the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from math import exp, log, sqrt
from typing import Final

from refold.fold.pieces import Piece, Text, Voice
from refold.scan.items import Shape, find_items, part_words, shape_of

_VOID: Final = -1
_LONG_WORD: Final = 60
_UNIT: Final = 1_000_000
_STEP: Final = 1_000
"""Weights are kept in thousandths, worths in millionths."""
_MEMBERS: Final = {
    "values": frozenset(s for s in range(Shape.NONE) if s not in (Shape.WORD, Shape.CJK)),
    "words": frozenset(range(Shape.WORD, Shape.NONE)),
}


class Index:
    """All items of a conversation: where each was said first and last, how often, and by whom."""

    def __init__(self, *, is_talk: bool = False) -> None:
        self.is_talk = is_talk
        """In talk, capitals say little."""
        self.row: dict[str, int] = {}
        self.shape: list[int] = []
        self.first: list[int] = []
        self.last: list[int] = []
        self.turns: list[int] = []
        self.times: list[int] = []
        self.voices: list[int] = []
        self.pieces: list[int] = []
        self._words: dict[str, tuple[int, ...]] = {}

    def add(self, texts: Sequence[Text], pieces: Sequence[Piece]) -> None:
        """Index the *pieces* of all texts, which tile them in order."""
        turn_of = {index: n for n, index in enumerate(dict.fromkeys(t.message for t in texts))}
        words, at = "", -1
        for piece in pieces:
            text = texts[piece.text]
            if piece.text != at:
                words, at = part_words(text.text), piece.text
                words = words.lower() if self.is_talk and words.isascii() else words
            found = self._rows_in(words[piece.start : piece.end])
            counts = Counter(found)
            counts.pop(_VOID, None)
            self._note(counts, turn_of[text.message], text.voice)
            piece.items = tuple(counts)

    def rows_in(self, text: str) -> list[int]:
        """Return the rows of the items of *text* that are indexed already."""
        return [self.row[item] for item in find_items(text) if item in self.row]

    def _rows_in(self, words: str) -> list[int]:
        known = self._words
        rows: list[int] = []
        for word in words.split():
            of_word = known.get(word)
            rows += self._rows_of(word) if of_word is None else of_word
        return rows

    def _rows_of(self, word: str) -> tuple[int, ...]:
        is_one = word.isascii() and word.isalnum()
        rows = tuple(self._row_of(item) for item in ((word,) if is_one else find_items(word)))
        if len(word) <= _LONG_WORD:
            self._words[word] = rows
        return rows

    def _row_of(self, item: str) -> int:
        row = self.row.get(item)
        if row is None:
            shape = shape_of(item)
            if shape is Shape.NONE:
                return _VOID
            row = self.row[item] = len(self.shape)
            self.shape.append(int(shape))
        return row

    def _note(self, counts: Counter[int], turn: int, voice: int) -> None:
        fresh = len(self.shape) - len(self.first)
        if fresh:
            self.first += [turn] * fresh
            self.last += [-1] * fresh
            for column in (self.turns, self.times, self.voices, self.pieces):
                column.extend([0] * fresh)
        last, turns, times, voices, pieces = (
            *(self.last, self.turns, self.times),
            *(self.voices, self.pieces),
        )
        for row, count in counts.items():
            times[row] += count
            voices[row] |= voice
            pieces[row] += 1
            if last[row] != turn:
                last[row] = turn
                turns[row] += 1


Weights = Mapping[str, Mapping[str, Sequence[float]]]
"""Class of items, `values` or `words` → feature → the weight of each of its buckets."""


def rate(
    index: Index, texts: Sequence[Text], share: float, weights: Weights | None = None
) -> list[int]:
    """Return the worth of each item, in millionths, if *share* of all tokens can be shown.

    *weights* are those that ship with the package, unless others are given.
    """
    if index.is_talk:
        return _rate_talk(index)
    learned = learned_weights() if weights is None else _scale(weights)
    return _rate_learned(index, texts, share, learned)


_Scaled = Mapping[str, Mapping[str, Sequence[int]]]


@cache
def learned_weights() -> _Scaled:
    """Read the learned weights that ship with the package, in thousandths."""
    text = resources.files("refold.plan").joinpath("weights.json").read_text("utf-8")
    return _scale(json.loads(text)["weights"])


def _scale(weights: Weights) -> _Scaled:
    return {
        kind: {name: [round(_STEP * w) for w in row] for name, row in rows.items()}
        for kind, rows in weights.items()
    }


def _log2(number: int, most: int) -> int:
    return min(most, (number + 1).bit_length() - 1)


def _rate_learned(index: Index, texts: Sequence[Text], share: float, weights: _Scaled) -> list[int]:
    turns = list(dict.fromkeys(text.message for text in texts))
    place = {index: n for n, index in enumerate(turns)}
    n = len(turns)
    chars, tokens, teller = [0] * n, [0] * n, [2] * n
    for text in reversed(texts):
        at = place[text.message]
        chars[at] += len(text.text)
        tokens[at] += text.tokens
        teller[at] = {Voice.USER: 0, Voice.TOOL: 2}.get(text.voice, 1)
    after, room = sum(tokens), []
    for count in tokens:
        room.append(_log2(after // 64, 9))
        after -= count
    asked = max((i for i in range(n) if teller[i] == 0), default=0)
    task = next((i for i in range(n) if teller[i] == 0), -1)
    power = -min(1.0, max(0.7, 1.2 - share))
    chance = cache(lambda odds: round(_UNIT * (1 + exp(-odds / _STEP)) ** power))
    names = list(index.row)
    out = {kind: [0] * len(names) for kind in _MEMBERS}
    for kind, w in weights.items():
        least = Shape.WORD if kind == "words" else 0
        by_last = [
            w["bias"][0]
            + w["gap"][_log2(n - 1 - i, 9)]
            + w["room"][room[i]]
            + w["place"][10 * i // n]
            + w["answered"][i < asked]
            + w["length"][_log2(chars[i] // 50, 9)]
            + w["teller"][teller[i]]
            for i in range(n)
        ]
        by_first = [w["age"][_log2(n - 1 - i, 9)] + w["task"][i == task] for i in range(n)]
        by_turns = [w["turns"][_log2(k, 5)] + w["share"][min(4, 10 * k // n)] for k in range(n + 1)]
        by_times = [w["times"][_log2(t, 6)] for t in range(64)]
        by_shape, by_teller, voices = w["shape_turns"], w["shape_teller"], w["voices"]
        chars_of = w.get("chars")
        members, rated = _MEMBERS[kind], out[kind]
        columns = zip(
            *(index.shape, index.first, index.last, index.turns, index.times, index.voices),
            strict=True,
        )
        for row, (shape, first, last, k, times, who) in enumerate(columns):
            if shape in members:
                odds = (
                    by_last[last]
                    + by_first[first]
                    + by_turns[k]
                    + by_times[min(times, 63)]
                    + voices[who]
                    + by_shape[5 * (shape - least) + min(k, 4)]
                    + by_teller[3 * (shape - least) + teller[last]]
                )
                if chars_of is not None:
                    odds += chars_of[min(15, len(names[row]))]
                rated[row] = chance(odds)
    # Words recur by chance far more often than values, so their total is fixed beside the values'.
    values, words = out["values"], out["words"]
    beside = round(1_000 * max(0.37, 1.02 - 1.55 * share))
    total, others = sum(values) + _UNIT // 2, sum(words) + _UNIT // 2
    return [v + w * total // others * beside // 1_000 for v, w in zip(values, words, strict=True)]


def _rate_talk(index: Index) -> list[int]:
    """Rate by rarity: in plain talk, people ask later about rare words that were taken up again.

    A short talk is about what was said last; a long one has many subjects.
    """
    count = max(index.last, default=0) + 1
    common = max(5.0, 0.1 * count)
    by_turns = [0.0] + [
        log((count + 1) / (said + 0.5)) * sqrt(said) if said <= common else 0.02
        for said in range(1, count + 1)
    ]
    news = min(1.0, 30 / count)
    by_last = [1.0 + news * (turn / max(1, count - 1)) ** 2 for turn in range(count)]
    return [
        round(
            _UNIT
            / 4
            * by_last[last]
            * by_turns[said]
            * ((12.0 if who & Voice.USER else 2.0) if shape < Shape.WORD else 1.0)
        )
        for last, said, shape, who in zip(
            index.last, index.turns, index.shape, index.voices, strict=True
        )
    ]
