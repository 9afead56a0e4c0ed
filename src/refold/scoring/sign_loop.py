"""The points of sentences, in one loop over their characters: fast once compiled.

It finds what the patterns of `refold.scoring.signs` find, and the tests hold it against them. Each
run of word characters goes through the machine of `refold.scoring.sign_tables`; a number looks
ahead for its unit. The loop reads the text as bytes, one for each character, which a compiler makes
much faster than reading the characters themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from refold.scoring.sign_tables import (
    BEYOND,
    CLOSED,
    FOLDED,
    FOREIGN,
    IDEOGRAPHIC,
    JOINED,
    JOINT,
    KINDS,
    NUMBER,
    ODD,
    QUANTITY,
    ROW,
    START,
    STEPS,
    UNKNOWN,
    is_ideographic,
    kind_of,
)
from refold.scoring.sign_tally import SHORTEST_SHORT, TRACES, Tally, trace_of
from refold.scoring.signs import LONGEST_UNIT, UNIT, UNITS
from refold.text.scan import VOWELS, plain_bytes
from refold.text.sentence_loop import Span, is_space

if TYPE_CHECKING:
    from mypy_extensions import i64

_LONGEST_ASCII_UNIT: Final = 8
_NONE: Final = -1
_PERCENT: Final = 37
_COMMA: Final = 44
_DOT: Final = 46
_COLON: Final = 58
_SPACE: Final = 32


def loop_points(text: str, sentences: list[Span]) -> list[int]:
    """Return the points for all signs in each of the *sentences* of *text*."""
    plain = plain_bytes(text) + b"\n"
    tally = Tally(text, plain)
    points: list[int] = []
    for start, end, _ in sentences:
        _read(text, plain, start, end, tally)
        points.append(tally.total())
    return points


def loop_signs(text: str, start: int, end: int) -> int:
    """Return the points for all signs but emphasis and inference."""
    said = text[start : end + LONGEST_UNIT]
    plain = plain_bytes(said) + b"\n"
    tally = Tally(said, plain)
    _read(said, plain, 0, end - start, tally)
    return tally.points


def _read(text: str, plain: bytes, start: i64, end: i64, tally: Tally) -> None:
    """Read a sentence; *plain* is the whole text as bytes, with a line feed behind it.

    Most runs are ordinary words, small letters with or without a capital, between blanks. Their
    letters are all that has to be known of them.
    """
    kinds, traces = KINDS, TRACES
    tally.begin(start, end)
    place: i64 = start
    while place < end:
        opened: i64 = place
        letters: i64 = 0
        byte: i64 = plain[place]
        if 65 <= byte <= 90:
            letters = 1 << (byte & 31)
            place += 1
            byte = plain[place]
        while 97 <= byte <= 122:
            letters |= 1 << (byte & 31)
            place += 1
            byte = plain[place]
        kind: i64 = kinds[byte]
        if kind > JOINT or (kind == JOINT and (byte == _COLON or plain[place + 1] > _SPACE)):
            place = _read_runs(text, plain, opened, end, tally)
            continue
        if not letters & VOWELS:
            if place - opened >= SHORTEST_SHORT:
                tally.add_short()
        elif traces[trace_of(letters)]:
            tally.note_word(opened, place)
        place += 1


def _read_runs(text: str, plain: bytes, start: i64, end: i64, tally: Tally) -> i64:
    """Read the run at *start* and those that may belong to it; return where an ordinary one may be.

    What joins them counts only if something goes on after it, up to *end*.
    """
    steps = STEPS
    state: i64 = START
    opened: i64 = start  # where the run began
    first: i64 = start  # where a sign may begin in it: there, or after an ideograph
    place: i64 = start
    while place < end:
        row: i64 = state * ROW
        byte: i64 = plain[place]
        after: i64 = steps[row + byte]
        if after == FOREIGN:
            after = steps[row + BEYOND + kind_of(ord(text[place]))]
        if after == CLOSED:
            break
        if after == JOINED:
            tally.join_run(state, opened, first, place)
            state = START
            opened = first = place + 1
        elif after == IDEOGRAPHIC:
            tally.add_ideograph(state, first, place)
            state = START
            first = place + 1
        elif after == NUMBER:
            ends = _quantity_end(text, plain, place, tally.start)
            state = QUANTITY if ends == place else ODD
            if ends > place:
                tally.add_quantity()
                place = ends - 1
        else:
            state = after
        place += 1
    tally.end_run(state, opened, first, place)
    return place + 1


def _quantity_end(text: str, plain: bytes, place: i64, start: i64) -> i64:
    """Return where the quantity ends whose number begins at *place*.

    It is *place* itself if the quantity lies in one piece between blanks and commas: then it ends
    with its run, and something longer may begin with it.
    """
    if place > start and plain[place - 1] in (_COMMA, _DOT):
        return _NONE
    size: i64 = len(text)
    after = _number_end(plain, place)
    if after == size:
        return _NONE
    code: i64 = ord(text[after])
    end: i64 = after
    if code != _PERCENT and not is_ideographic(code):
        if is_space(code):
            after += 1
        end = _unit_end(text, plain, after)
        if end < 0:
            return _NONE
    return end if is_space(ord(text[after - 1])) or "," in text[place:after] else place


def _number_end(plain: bytes, place: i64) -> i64:
    """Return where the number ends that begins at *place*, dots and commas inside included."""
    while True:
        byte: i64 = plain[place]
        if byte in (_COMMA, _DOT):
            byte = plain[place + 1]
        if not 48 <= byte <= 57:
            return place
        place += 1


def _unit_end(text: str, plain: bytes, place: i64) -> i64:
    """Return where the unit ends that begins at *place*, or _NONE."""
    end: i64 = place
    while 97 <= plain[end] | 32 <= 122 and end - place <= _LONGEST_ASCII_UNIT:
        end += 1
    kind: i64 = KINDS[plain[end]]
    if kind == UNKNOWN:
        kind = kind_of(ord(text[end]))
        if kind == FOLDED:
            found = UNIT.match(text, place)
            return _NONE if found is None else found.end()
    if kind > JOINT:
        return _NONE
    return end if end > place and text[place:end].lower() in UNITS else _NONE
