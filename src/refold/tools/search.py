"""Search the past of a conversation in plain words: BM25 over short pieces of its messages.

A piece is a few whole lines, or a record of JSON with the names that lead to it. It is found by its
words, by who said it, and by the call that it answers. Each search reads all anew, in linear time.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, Final, NamedTuple

from refold.files import effects_of
from refold.messages.message import Call
from refold.notation.marks import GAP
from refold.scan.tokens.estimate import estimate_tokens
from refold.scan.truncate import cut
from refold.tools.shapes import read_turns

_SIZE: Final = 300
"""Characters of a piece: shorter ones part what belongs together, longer ones fill the answer."""
_LONG, _HEAD, _DEPTH = 600, 120, 8
"""Where a line is cut, where a call that is shown; how deep JSON is taken apart."""
_SATURATION, _LENGTH = 1.2, 0.5
"""BM25's k1 and b, at usual values for short texts."""
_SURE, _MARKS, _LAST_LINE = 0.94, 8, 20
"""How far the estimate is trusted; tokens around a head, and of the last line."""
_ASKED_AS: Final = {
    "user": "user person customer said asked mentioned wanted gave",
    "assistant": "assistant agent said answered",
    "call": "call called agent argument given",
    "write": "call called agent edited created wrote changed file",
    "result": "result output returned",
}
"""Words by which the past is asked for, beside its own."""


class _Text(NamedTuple):
    """A text of a message, or a call that it makes; *terms* are what else it is found by."""

    message: int
    head: str
    body: str
    terms: set[str]


class _Piece(NamedTuple):
    """Some lines of a text, their *place* among its pieces, and their words."""

    text: _Text
    place: int
    lines: str
    terms: Counter[str]


def search(messages: Sequence[object], query: str, *, max_tokens: int = 1_500) -> str:
    """Return the pieces of *messages* that answer *query* best, in at most *max_tokens*.

    *messages* are the originals of one conversation, in order and in any shape. Pieces stand below
    the number of their message, who said it, and the call that it answers; a last line says how
    many more there are.
    """
    pieces = [piece for text in _texts_of(messages) for piece in _pieces_of(text)]
    scores = _scores(pieces, _query_terms(query))
    ranked = sorted(scores, key=lambda n: (-scores[n], -n))  # of equals the newest
    chosen: dict[int, list[_Piece]] = {}
    left = int(max_tokens * _SURE) - _LAST_LINE
    for piece in (pieces[n] for n in ranked):
        head = 0 if id(piece.text) in chosen else estimate_tokens(piece.text.head) + _MARKS
        price = head + estimate_tokens(piece.lines) + 2
        if price <= left:
            left -= price
            chosen.setdefault(id(piece.text), []).append(piece)
    hidden = len(ranked) - sum(map(len, chosen.values()))
    answer = list[str]()
    for of_text in chosen.values():
        of_text.sort(key=lambda piece: piece.place)
        answer.append(f"[message {of_text[0].text.message}, {of_text[0].text.head}]")
        for before, piece in zip([of_text[0], *of_text], of_text, strict=False):
            answer += [GAP, piece.lines] if piece.place > before.place + 1 else [piece.lines]
    if hidden:
        answer.append(f"[{hidden} more pieces have some of these words: narrow the query]")
    return "\n".join(answer) or f"[nothing here has these words: {cut(query, 100)}]"


def _texts_of(messages: Sequence[object]) -> list[_Text]:
    """Return the texts and calls of a conversation, each with what else it is found by."""
    texts, groups = list[_Text](), defaultdict[str, list[_Text]](list)
    calls: dict[str, Call] = {}
    for number, turn in enumerate(read_turns(messages), 1):
        if turn.role in {"system", "developer"}:
            continue  # which is never folded
        for part in turn.parts:
            call = None if part.result is None else calls.get(part.call_id or part.result.tool)
            source = "result" if part.result else turn.role
            words = f"{call.name} {call.spelled}" if call else ""
            head = f"result of {cut(words, _HEAD)}" if call else source
            terms = {*_terms(_ASKED_AS.get(source, source)), *_terms(words)}
            texts.append(_Text(number, head, part.text, terms))
            groups[source].append(texts[-1])
        for call in turn.calls:
            calls[call.id] = call
            act = "write" if effects_of(call).writes else "call"
            body, terms = f"{call.name} {call.spelled}", set(_terms(_ASKED_AS[act]))
            texts.append(_Text(number, f"{turn.role} calls", body, terms))
            groups[f"call {call.name}"].append(texts[-1])
            groups[act].append(texts[-1])
    for group in groups.values():
        group[0].terms.add("first")
        group[-1].terms.update(("last", "latest", "recent"))
    return texts


def _pieces_of(text: _Text) -> Iterator[_Piece]:
    """Cut a text into pieces of whole lines, or JSON into records."""
    data = None
    if text.body.lstrip()[:1] in {"{", "["}:
        with suppress(ValueError, RecursionError):
            data = json.loads(text.body)
    whole = _records(data) if isinstance(data, dict | list) else text.body.split("\n")
    lines = [line[at : at + _LONG] for line in whole for at in range(0, len(line) or 1, _LONG)]
    start = size = place = 0
    for end, line in enumerate([*lines, " " * _SIZE]):
        if start < end and size + len(line) > _SIZE:
            body = "\n".join(lines[start:end])
            yield _Piece(text, place, body, Counter(_terms(body)))
            start, size, place = end, 0, place + 1
        size += len(line) + 1


def _records(data: object) -> Iterator[str]:
    """Spell JSON as lines of at most a piece, each with the names that lead to it."""
    waiting: list[tuple[str, Any, int]] = [("", data, 0)]
    while waiting:
        path, value, depth = waiting.pop()
        whole = json.dumps(value, ensure_ascii=False)
        start = f"{path}: " if path else ""
        if len(whole) <= _SIZE or not isinstance(value, dict | list) or depth == _DEPTH:
            yield start + whole
            continue
        items = [*(value.items() if isinstance(value, dict) else enumerate(value))]
        if flat := {name: item for name, item in items if not isinstance(item, dict | list)}:
            yield start + json.dumps(flat, ensure_ascii=False)
        inner = [(f"{path} > {name}".removeprefix(" > "), item) for name, item in items]
        nested = [(name, item) for name, item in inner if isinstance(item, dict | list)]
        waiting += [(name, item, depth + 1) for name, item in reversed(nested)]


_TOKEN: Final = re.compile(r"[@#]?\w++(?:[./@:#+-]++\w++)*+")
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_a-zA-Z]")
_NO: Final = re.compile(r"(?i)\b(?:(?:do|does|did|is|was)n['’]?t|cannot|never|without|nor)\b")
_COMMON: Final = frozenset(
    "a an and are as at be been by do did does for from had has have he her his how i in is it its"
    " me my of on or our out she that the their them there these they this those to was we were"
    " what when where which who will with would you your".split()
)


def _terms(text: str) -> Iterator[str]:
    """Yield the words of *text*, and what is written together as a whole, too."""
    for token in _TOKEN.findall(_NO.sub("not", text)):
        words = _WORD.findall(token)
        if len(words) > 1:
            yield token.lower()
        yield from (_stem(word.lower()) for word in words)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "s"):
        if len(word) > len(ending) + 3 and word.endswith(ending) and not word.endswith("ss"):
            return word.removesuffix(ending)
    return word


def _query_terms(query: str) -> set[str]:
    """Return the words of a query, and two in a row as one (`exitcode`)."""
    pairs = {one + other for one, other in pairwise(re.findall("[a-z]+", query.lower()))}
    return {term for term in _terms(query) if term not in _COMMON} | pairs


def _scores(pieces: Sequence[_Piece], wanted: set[str]) -> dict[int, float]:
    """Return what each piece that has a wanted word is worth, by BM25."""
    having = defaultdict[str, list[int]](list)
    for n, piece in enumerate(pieces):
        for term in wanted & (piece.terms.keys() | piece.text.terms):
            having[term].append(n)
    mean = sum(piece.terms.total() for piece in pieces) / max(1, len(pieces))
    scores = defaultdict[int, float](float)
    for term, places in sorted(having.items()):
        rarity = math.log(1 + (len(pieces) - len(places) + 0.5) / (len(places) + 0.5))
        for n in places:
            length = 1 - _LENGTH + _LENGTH * pieces[n].terms.total() / mean
            times = pieces[n].terms[term] / length + (term in pieces[n].text.terms)
            scores[n] += rarity * times / (times + _SATURATION)
    return scores
