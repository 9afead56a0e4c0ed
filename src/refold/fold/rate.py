"""Rate items: how likely a later turn comes back to each word and value.

Weights are learned from recorded runs (a logistic model, one for values, one for words); all sums
are of whole numbers, so that every machine gets the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, groupby
from math import exp, log, sqrt
from operator import attrgetter
from typing import Final

from refold.fold.pieces import Piece, Text, Voice
from refold.scan.items import Shape, find_items, part_words, shape_of
from refold.shipped import read_shipped

_LONG_WORD: Final = 60
_UNIT: Final = 1_000_000
_STEP: Final = 1_000
"""Weights are kept in thousandths, worths in millionths."""
VALUES: Final = "values"
WORDS: Final = "words"
MEMBERS: Final = {
    VALUES: frozenset(s for s in range(Shape.NONE) if s not in (Shape.WORD, Shape.CJK)),
    WORDS: frozenset(range(Shape.WORD, Shape.NONE)),
}
"""The shapes of each class of items; names are in both."""
_FIRST_SHAPE: Final = {VALUES: 0, WORDS: int(Shape.WORD)}
_OF_TURNS: Final = {
    **{"gap": 10, "room": 10, "place": 10, "answered": 2, "length": 10, "teller": 3},
    **{"age": 10, "task": 2, "turns": 6, "times": 7, "share": 5, "voices": 16},
}
BUCKETS: Final[Mapping[str, Mapping[str, int]]] = {
    VALUES: {**_OF_TURNS, "shape_turns": 5 * Shape.NONE, "shape_teller": 3 * Shape.NONE},
    WORDS: {
        **_OF_TURNS,
        "shape_turns": 5 * (Shape.NONE - Shape.WORD),
        "shape_teller": 3 * (Shape.NONE - Shape.WORD),
        "chars": 16,
    },
}
"""The number of buckets of each feature, by class."""


class _Words(dict[str, tuple[int, ...]]):
    """The rows of the items of each word; a word that is new gets rows of its own."""

    def __init__(self, row_of: dict[str, int], shapes: list[int]) -> None:
        self._row_of, self._shapes = row_of, shapes

    def __missing__(self, word: str) -> tuple[int, ...]:
        row_of, shapes = self._row_of, self._shapes
        rows: list[int] = []
        for item in (word,) if word.isascii() and word.isalnum() else find_items(word):
            row = row_of.get(item)
            if row is None:
                shape = shape_of(item)
                if shape is Shape.NONE:
                    continue
                row = row_of[item] = len(shapes)
                shapes.append(int(shape))
            rows.append(row)
        if len(word) <= _LONG_WORD:
            self[word] = tuple(rows)
        return tuple(rows)


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
        self._rows_of = _Words(self.row, self.shape)

    def add(self, texts: Sequence[Text], pieces: Sequence[Piece]) -> None:
        """Index the *pieces* of all texts, which tile them in order."""
        turn_of = {index: n for n, index in enumerate(dict.fromkeys(t.message for t in texts))}
        rows_of = self._rows_of.__getitem__
        for number, of_text in groupby(pieces, attrgetter("text")):
            text = texts[number]
            words = part_words(text.text)
            words = words.lower() if self.is_talk and words.isascii() else words
            rows: list[int] = []
            for piece in of_text:
                start = len(rows)
                rows += chain.from_iterable(map(rows_of, words[piece.start : piece.end].split()))
                piece.items = tuple(dict.fromkeys(rows[start:]))
            self._note(rows, turn_of[text.message], int(text.voice))

    def _note(self, rows: Sequence[int], turn: int, voice: int) -> None:
        """Note that *voice* said the items with these *rows*, as often as they stand there."""
        last, turns, times, voices = self.last, self.turns, self.times, self.voices
        if fresh := len(self.shape) - len(last):
            self.first += [turn] * fresh
            last += [-1] * fresh
            for column in (turns, times, voices):
                column.extend([0] * fresh)
        for row, count in Counter(rows).items():
            times[row] += count
            voices[row] |= voice
            if last[row] != turn:
                last[row] = turn
                turns[row] += 1

    def rows_in(self, text: str) -> list[int]:
        """Return the rows of the items of *text* that are indexed already."""
        return [self.row[item] for item in find_items(text) if item in self.row]


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
    learned = _scaled_weights() if weights is None else _scale(weights)
    return _rate_learned(index, texts, share, learned)


_Scaled = Mapping[str, Mapping[str, Sequence[int]]]


@cache
def learned_weights() -> Weights:
    """Read the learned weights that ship with the package."""
    text = read_shipped("refold.fold", "weights.json")
    weights: dict[str, dict[str, list[float]]] = json.loads(text)["weights"]
    return weights


@cache
def _scaled_weights() -> _Scaled:
    return _scale(learned_weights())


def _scale(weights: Weights) -> _Scaled:
    return {
        kind: {name: [round(_STEP * w) for w in row] for name, row in rows.items()}
        for kind, rows in weights.items()
    }


def _log2(number: int, most: int) -> int:
    return min(most, (number + 1).bit_length() - 1)


@dataclass(frozen=True, slots=True)
class TurnBuckets:
    """The features of turns, each in buckets: as the last one that said an item, as the first."""

    last: Mapping[str, Sequence[int]]
    first: Mapping[str, Sequence[int]]
    tellers: Sequence[int]
    """Who speaks in each: the user, the assistant, a tool."""


def bucket_turns(texts: Sequence[Text]) -> TurnBuckets:
    """Return the buckets of all turns."""
    place = {index: n for n, index in enumerate(dict.fromkeys(text.message for text in texts))}
    n = len(place)
    chars, tokens, tellers = [0] * n, [0] * n, [2] * n
    for text in reversed(texts):
        at = place[text.message]
        chars[at] += len(text.text)
        tokens[at] += text.tokens
        tellers[at] = {Voice.USER: 0, Voice.TOOL: 2}.get(text.voice, 1)
    after, room = sum(tokens), []
    for count in tokens:
        room.append(_log2(after // 64, 9))
        after -= count
    asked = max((i for i in range(n) if tellers[i] == 0), default=0)
    task = next((i for i in range(n) if tellers[i] == 0), -1)
    age = [_log2(n - 1 - i, 9) for i in range(n)]
    last = {
        "gap": age,
        "room": room,
        "place": [10 * i // n for i in range(n)],
        "answered": [int(i < asked) for i in range(n)],
        "length": [_log2(size // 50, 9) for size in chars],
        "teller": tellers,
    }
    return TurnBuckets(last, {"age": age, "task": [int(i == task) for i in range(n)]}, tellers)


def bucket_item(index: Index, row: int, name: str, kind: str, turns: TurnBuckets) -> dict[str, int]:
    """Return the buckets of one item that do not follow from its turns alone."""
    mentions, shape = index.turns[row], index.shape[row] - _FIRST_SHAPE[kind]
    buckets = {
        "turns": _log2(mentions, 5),
        "times": _log2(min(63, index.times[row]), 6),
        "share": min(4, 10 * mentions // max(1, len(turns.tellers))),
        "voices": index.voices[row],
        "shape_turns": 5 * shape + min(mentions, 4),
        "shape_teller": 3 * shape + turns.tellers[index.last[row]],
    }
    return buckets | ({"chars": min(15, len(name))} if kind == WORDS else {})


def _rate_learned(index: Index, texts: Sequence[Text], share: float, weights: _Scaled) -> list[int]:
    """Return the chance that each item is needed; `bucket_item` laid out for one quick pass."""
    turns = bucket_turns(texts)
    n = len(turns.tellers)
    power = -min(1.0, max(0.7, 1.2 - share))
    chance = cache(lambda odds: round(_UNIT * (1 + exp(-odds / _STEP)) ** power))
    names = list(index.row)
    out = {kind: [0] * len(names) for kind in MEMBERS}
    for kind, w in weights.items():
        by_last = [w["bias"][0] + sum(w[f][b[i]] for f, b in turns.last.items()) for i in range(n)]
        by_first = [sum(w[f][b[i]] for f, b in turns.first.items()) for i in range(n)]
        by_turns = [w["turns"][_log2(k, 5)] + w["share"][min(4, 10 * k // n)] for k in range(n + 1)]
        by_times = [w["times"][_log2(t, 6)] for t in range(64)]
        by_shape, by_teller, voices = w["shape_turns"], w["shape_teller"], w["voices"]
        chars, least, tellers = w.get("chars"), _FIRST_SHAPE[kind], turns.tellers
        members, rated = MEMBERS[kind], out[kind]
        columns = zip(
            *(index.shape, index.first, index.last, index.turns, index.times, index.voices),
            strict=True,
        )
        for row, (shape, first, last, mentions, times, who) in enumerate(columns):
            if shape in members:
                odds = (
                    by_last[last]
                    + by_first[first]
                    + by_turns[mentions]
                    + by_times[min(times, 63)]
                    + voices[who]
                    + by_shape[5 * (shape - least) + min(mentions, 4)]
                    + by_teller[3 * (shape - least) + tellers[last]]
                )
                if chars is not None:
                    odds += chars[min(15, len(names[row]))]
                rated[row] = chance(odds)
    # Words recur by chance far more often than values, so their total is fixed beside the values'.
    beside = round(1_000 * max(0.37, 1.02 - 1.55 * share))
    total, others = sum(out[VALUES]) + _UNIT // 2, sum(out[WORDS]) + _UNIT // 2
    return [
        value + word * total // others * beside // 1_000
        for value, word in zip(out[VALUES], out[WORDS], strict=True)
    ]


def _rate_talk(index: Index) -> list[int]:
    """Rate by rarity: in plain talk, people ask later about rare words that were taken up again.

    A short talk is about what was said last; a long one has many subjects.
    """
    count = max(index.last, default=0) + 1
    common = max(5.0, 0.1 * count)
    by_turns = [0.0] + [
        log((count + 1) / (mentions + 0.5)) * sqrt(mentions) if mentions <= common else 0.02
        for mentions in range(1, count + 1)
    ]
    news = min(1.0, 30 / count)
    by_last = [1.0 + news * (turn / max(1, count - 1)) ** 2 for turn in range(count)]
    return [
        round(
            _UNIT
            / 4
            * by_last[last]
            * by_turns[mentions]
            * ((12.0 if who & Voice.USER else 2.0) if shape < Shape.WORD else 1.0)
        )
        for last, mentions, shape, who in zip(
            index.last, index.turns, index.shape, index.voices, strict=True
        )
    ]
