"""Find what the open question is about: the pieces that answer it, the best first.

If the user spoke last, the user's words are the question and nothing else; otherwise it is what the
agent said or called since. Being named is not being answered: how rare a word is counts over what
tools returned and calls, so a row that was talked about before is still the row to show.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from refold.fold.kinds import SIGNATURE
from refold.fold.pieces import Grade, Kind, Piece, Text, Voice
from refold.fold.rate import Index
from refold.scan.items import find_items

_UNIT: Final = 1_000
_WORDS: Final = 60
"""A question of more words says less with each of them."""
_SURE: Final = 0.3
"""A piece answers if it has this much of what the question names."""
_NAMED_ONLY: Final = 0.5
_CALL: Final = 0.6
"""What is said in talk, or in a call, beside what a tool returned."""
_CONTEXT: Final = 0.9
_COMMON: Final = 0.2
"""A word in more of the pieces names nothing."""
_SIGNS: Final = "#$./"
_BODY: Final = 1_200
"""Tokens of a function that come with its signature."""
_INDENT_SEARCH: Final = 30
"""How many pieces back the line is looked for that a line is indented under."""


@dataclass(frozen=True, slots=True)
class Question:
    """The pieces that answer what is asked now, the best first."""

    ranked: tuple[int, ...]
    is_direct: bool
    """Whether the user spoke last."""


def ask(texts: Sequence[Text], pieces: Sequence[Piece], index: Index) -> Question:
    """Return the pieces that answer the question at the end of the conversation."""
    last_user = max((text.message for text in texts if text.voice is Voice.USER), default=-1)
    by_agent = _find_last_words(texts)
    is_direct = last_user > max(by_agent, default=-1)
    weights = _weigh(texts, index, last_user, frozenset() if is_direct else by_agent)
    asking = [_asks(texts[p.text], last_user, by_agent) for p in pieces]
    evident = [
        (texts[p.text].voice in (Voice.TOOL, Voice.CALL) or p.grade is Grade.NOISE) and not asks
        for p, asks in zip(pieces, asking, strict=True)
    ]
    if 5 * sum(evident) < len(pieces):  # a talk, without tools
        evident = [not asks for asks in asking]
    idf = _rarity(pieces, evident, weights)
    scores: dict[int, int] = {}
    for n, score in _score(texts, pieces, idf, is_direct=is_direct).items():
        text = texts[pieces[n].text]
        if asking[n]:
            continue
        if text.is_call:
            score = round(_CALL * score)  # noqa: PLW2901
        elif text.voice is not Voice.TOOL and not evident[n]:
            score = round(_NAMED_ONLY * score)  # noqa: PLW2901
        if score >= max(1, _SURE * sum(idf.values())):
            scores[n] = score
    ranked = sorted(scores, key=lambda n: (-scores[n], -n))
    if not ranked:
        return Question((), is_direct)
    least = max(round(_UNIT * log(1 + len(pieces) / 3)), round(0.6 * scores[ranked[0]]))
    return Question(tuple(n for n in ranked if scores[n] >= least), is_direct)


def _find_last_words(texts: Sequence[Text]) -> frozenset[int]:
    """Return what the agent said last and called since: some formats have a message for each."""
    messages: list[int] = []
    has_words = False
    for text in reversed(texts):
        is_agent = text.voice in (Voice.ASSISTANT, Voice.CALL)
        is_earlier = bool(messages) and text.message != messages[-1]
        if messages and not is_agent:
            break
        if is_earlier and (has_words or text.message < messages[-1] - 1):
            break
        if is_agent:
            messages.append(text.message)
            has_words = has_words or text.voice is Voice.ASSISTANT
    return frozenset(messages)


def _asks(text: Text, last_user: int, by_agent: frozenset[int]) -> bool:
    """Tell whether *text* is the question, or what the agent said last."""
    if text.voice is Voice.USER:
        return text.message == last_user
    return text.message in by_agent and text.voice is not Voice.TOOL


def _rarity(
    pieces: Sequence[Piece], evident: Sequence[bool], weights: dict[int, float]
) -> dict[int, int]:
    """Return what each item of the question says: the rarer it is in evidence, the more."""
    df: Counter[int] = Counter()
    for piece, is_evident in zip(pieces, evident, strict=True):
        if is_evident:
            df.update(row for row in piece.items if row in weights)
    count = sum(evident)
    most = max(2, _COMMON * count)
    return {
        row: round(_UNIT * weight * log(1 + count / df[row]))
        for row, weight in weights.items()
        if 0 < df[row] <= most
    }


def _score(
    texts: Sequence[Text], pieces: Sequence[Piece], idf: dict[int, int], *, is_direct: bool
) -> dict[int, int]:
    """Return how much of the question each piece names, itself or by its header and its call."""
    direct: dict[int, int] = {}
    of_call: defaultdict[int, int] = defaultdict(int)
    for n, piece in enumerate(pieces):
        score = sum(idf[row] for row in piece.items if row in idf)
        if score:
            direct[n] = score
            if texts[piece.text].is_call:
                of_call[piece.text] = max(of_call[piece.text], score)
    rarest = round(_UNIT * log(1 + len(pieces)))
    scores: dict[int, int] = {}
    for n, piece in enumerate(pieces):
        score, call = direct.get(n, 0), texts[piece.text].call
        context = (of_call[call] if call >= 0 else 0) + direct.get(piece.head, 0)
        if score or context > rarest:
            scores[n] = score + (round(_CONTEXT * context) if score or is_direct else 0)
    return scores


def _weigh(
    texts: Sequence[Text], index: Index, last_user: int, by_agent: frozenset[int]
) -> dict[int, float]:
    """Return how much each item of the question counts: of the user's words and the agent's."""
    forms: defaultdict[str, list[int]] = defaultdict(list)
    for item, row in index.row.items():
        forms[item.strip(_SIGNS).lower()].append(row)
    weights: dict[int, float] = {}
    question = {last_user, *by_agent}
    for text in texts:
        if text.voice is Voice.TOOL or text.message not in question:
            continue
        words = {item.strip(_SIGNS).lower() for item in find_items(text.text)}
        weight = min(1.0, _WORDS / (len(words) + 1))
        if by_agent and text.message not in by_agent:
            weight /= 2
        for word in words:
            for form in (word, word[:-1] if word.endswith("s") else f"{word}s"):
                for row in forms.get(form, ()):
                    weights[row] = max(weights.get(row, 0.0), weight)
    return weights


def belongings(n: int, pieces: Sequence[Piece], texts: Sequence[Text]) -> list[int]:
    """Return the pieces that make *n* understandable, the most important first.

    Its header; of a signature, the body; of a line, the line that it is indented under and its
    neighbours.
    """
    piece, text = pieces[n], texts[pieces[n].text]
    owned = [piece.head] if piece.head >= 0 else []
    if text.kind is Kind.RECORDS:
        return owned

    def is_here(m: int) -> bool:
        return 0 <= m < len(pieces) and pieces[m].text == piece.text

    def depth(m: int) -> int:
        return _indent(text.text[pieces[m].start : pieces[m].end])

    here = depth(n)
    if text.voice is Voice.TOOL and SIGNATURE.search(text.text, piece.start, piece.end):
        m, spent = n + 1, 0.0
        while is_here(m) and spent < _BODY and depth(m) > here:
            owned.append(m)
            spent += pieces[m].cost
            m += 1
        return owned
    if here > 0:
        for m in range(n - 1, max(-1, n - _INDENT_SEARCH), -1):
            if not is_here(m):
                break
            if depth(m) < here:
                owned.append(m)
                break
    return owned + [m for m in (n + 1, n - 1) if is_here(m)]


_BLANK: Final = 99
"""The indent of an empty line: deeper than any."""


def _indent(text: str) -> int:
    """Return how far the first line of *text* is indented, its number aside."""
    line = text.split("\n", 1)[0]
    bare = line.lstrip()
    if bare[:1].isdigit():
        rest = bare.lstrip("0123456789")
        if rest[:1] in "\t:→|-" and rest:
            line = rest[1:]
    return len(line) - len(line.lstrip()) if line.strip() else _BLANK
