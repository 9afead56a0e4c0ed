"""Cut texts into pieces: a row, a record, a sentence, or a few short lines that belong together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from refold.fold.kinds import grade_harness, grade_lines
from refold.fold.pieces import Grade, Kind, Piece, Text, Voice
from refold.fold.talk import find_clauses
from refold.lazy import regex

_GLUE: Final = {Voice.TOOL: 140, Voice.CALL: 300, Voice.USER: 200, Voice.ASSISTANT: 200}
"""Characters up to which lines or sentences are one piece; 60 to 220 make no difference."""
_GLUE_TYPED: Final = 60
_TINY_ROW: Final = 12
"""Rows share a piece only if both are shorter than this."""
_LONGEST: Final = 480
_LONGEST_ROW: Final = 1_200
"""Longer lines are cut between sentences, or between words."""
_SENTENCE: Final = regex(r"(?<=[.!?])\s+(?=[A-Z\"'(])|(?<=[。！？])|\n")
_LINE: Final = regex(r"\n")
_BORDER: Final = regex(r"(?:}, |},|\], |\. |\? |! |; |, | )")
_DIGITS: Final = regex(r"\d+")
_EMPTY: Final = regex(r"(?:[ \t]*+\d++[\t→|:](?=\W*?$)|`{3,}\w*|[^\w\n`]++|[`\n])*+", re.M)
"""Lines without a word, or with nothing after their number."""
_BAD: Final = frozenset((Grade.ERROR, Grade.GRAVE, Grade.FAILED))
_STARTS: Final = _BAD | {Grade.SIGNATURE}


def cut(texts: Sequence[Text], *, is_talk: bool = False) -> list[Piece]:
    """Return the pieces of all texts; those of a text tile it."""
    pieces: list[Piece] = []
    for number, text in enumerate(texts):
        if is_talk:
            rate = text.tokens / max(1, len(text.text))
            pieces += [
                Piece(number, start, end, rate * (end - start) + 1)
                for start, end in find_clauses(text.text)
            ]
        elif text.kind is Kind.RECORDS:
            _cut_records(number, text, pieces)
        else:
            _cut_lines(number, text, pieces)
    for piece in pieces:
        if _EMPTY.fullmatch(texts[piece.text].text, piece.start, piece.end):
            piece.grade = Grade.EMPTY
    return pieces


def _cut_records(number: int, text: Text, pieces: list[Piece]) -> None:
    """Add a piece for each line, and for each long line several; each knows its header."""
    body, rate = text.text, text.tokens / max(1, len(text.text))
    grades = dict(grade_lines(body))
    piece_of: list[int] = []
    start = 0
    for line, head in zip(body.split("\n"), text.heads, strict=True):
        end = min(len(body), start + len(line) + 1)
        under = piece_of[head] if head >= 0 else -1
        piece_of.append(len(pieces))
        grade = grades.get(start, Grade.PLAIN)
        last = pieces[-1] if pieces else None
        if (
            last is not None
            and (last.text, last.head, last.end, last.grade) == (number, under, start, grade)
            and max(end - start, last.end - last.start) < _TINY_ROW
            and len(piece_of) > 1
            and piece_of[-2] not in text.heads
        ):
            piece_of[-1] = len(pieces) - 1
            last.end, last.cost = end, last.cost + rate * (end - start)
        elif end > start:
            for first, stop in _parts(body, start, end, _LONGEST_ROW):
                size = stop - first + (stop == len(body))  # the last row is as dear as the others
                pieces.append(Piece(number, first, stop, rate * size + 1, grade, under))
        start = end


def _cut_lines(number: int, text: Text, pieces: list[Piece]) -> None:
    body, rate = text.text, text.tokens / max(1, len(text.text))
    is_tool = text.voice is Voice.TOOL
    grades: dict[int, Grade] = {}
    if is_tool:
        grades = dict(grade_lines(body))
    elif text.voice is Voice.USER:
        grades = dict(grade_harness(body))
    first, seen = len(pieces), set[str]()
    for start, end in _spans(text, grades):
        piece = Piece(number, start, end, rate * (end - start) + 1)
        if text.is_call:
            if len(pieces) == first:
                piece.grade = Grade.ACT if text.changes else Grade.HEAD
                piece.cost += 3 if text.outcome else 0
            else:
                piece.head = first
        elif grades:
            piece.grade = _grade_of(body, start, end, grades)
            if piece.grade in _BAD:
                wording = _DIGITS.sub("", body[start:end]).strip()
                if wording in seen:
                    piece.grade = Grade.REPEAT
                seen.add(wording)
        pieces.append(piece)


def _grade_of(body: str, start: int, end: int, grades: dict[int, Grade]) -> Grade:
    """Return the weightiest grade of the lines of a piece; noise only if all of it is."""
    best, lowest = Grade.PLAIN, Grade.NOISE
    line = body.rfind("\n", max(0, start - _LONGEST), start) + 1
    is_known = line > 0 or start <= _LONGEST
    if is_known and grades.get(line) is Grade.NOISE and "\n" not in body[start:end].rstrip("\n"):
        return Grade.NOISE  # a later part of such a line
    at = start
    while at < end:
        grade = grades.get(at, Grade.PLAIN)
        best = max(best, grade)
        if grade is not Grade.NOISE:
            lowest = Grade.PLAIN
        at = body.find("\n", at, end) + 1 or end
    return lowest if best in (Grade.PLAIN, Grade.NOISE) else best


def _spans(text: Text, grades: dict[int, Grade]) -> Iterator[tuple[int, int]]:
    """Yield the pieces of a text: lines or sentences, short ones together."""
    body = text.text
    most = _GLUE_TYPED if text.is_typed else _GLUE[text.voice]
    is_lines = text.kind is not Kind.PROSE
    border = _LINE if is_lines else _SENTENCE
    start = last = 0
    is_head = text.is_call
    before = Grade.PLAIN
    for end in [*(match.end() for match in border.finditer(body)), len(body)]:
        if end <= last:
            continue
        grade = grades.get(last, Grade.PLAIN)
        if before is Grade.NOISE and body[last - 1] == " ":
            grade = grade or before  # the same line continues
        is_new = grade in _STARTS or (grade is Grade.NOISE) is not (before is Grade.NOISE)
        if last > start and (end - start > most or is_head or is_new):
            yield from _parts(body, start, last, _LONGEST)
            start, is_head = last, False
        before, last = grade, end
    if last > start:
        yield from _parts(body, start, last, _LONGEST)


def _parts(body: str, start: int, end: int, longest: int) -> Iterator[tuple[int, int]]:
    """Cut what is too long for one piece between its sentences, or else between its words."""
    least = _GLUE[Voice.TOOL]
    if end - start > longest:
        for match in _SENTENCE.finditer(body, start + least, end):
            if match.end() - start >= least:
                yield from _between_words(body, start, match.end(), longest)
                start = match.end()
    if end > start:
        yield from _between_words(body, start, end, longest)


def _between_words(body: str, start: int, end: int, longest: int) -> Iterator[tuple[int, int]]:
    half = longest // 2
    while end - start > longest:
        border = start + half
        for match in _BORDER.finditer(body, start + half // 2, start + half):
            border = match.end()
        yield start, border
        start = border
    yield start, end
