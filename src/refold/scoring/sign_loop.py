"""The points of sentences, in one loop over their characters: fast once compiled.

It finds what the patterns of `refold.scoring.signs` find, and the tests hold it against them. Each
run of word characters goes through the machine of `refold.scoring.sign_tables`; a number looks
ahead for its unit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from refold.scoring.sign_tables import (
    BREAK,
    FOLDED,
    IDEOGRAPH,
    JOINT,
    KINDS,
    NUMBER,
    ODD,
    QUANTITY,
    SMALL,
    START,
    STEPS,
    TABLED,
    is_ideographic,
    kind_of,
)
from refold.scoring.sign_tally import Tally
from refold.scoring.signs import UNITS, count_points, count_signs
from refold.text.sentence_loop import Span, is_space

if TYPE_CHECKING:
    from mypy_extensions import i64

_LONGEST_UNIT: Final = 8
_NONE: Final = -1
_UNSURE: Final = -2
"""Only a pattern can tell."""
_PERCENT: Final = 37
_COMMA: Final = 44
_DOT: Final = 46


def loop_points(text: str, sentences: list[Span]) -> list[int]:
    """Return the points for all signs in each of the *sentences* of *text*."""
    tally = Tally(text)
    return [
        tally.total() if _read(text, start, end, tally) else count_points(text, start, end)
        for start, end, _ in sentences
    ]


def loop_signs(text: str, start: int, end: int) -> int:
    """Return the points for all signs but emphasis and inference."""
    tally = Tally(text)
    return tally.signs() if _read(text, start, end, tally) else count_signs(text, start, end)


def _read(text: str, start: i64, end: i64, tally: Tally) -> bool:
    """Read a sentence, and tell whether that could be done: only a pattern knows some letters."""
    kinds, steps = KINDS, STEPS
    tally.begin(start, end)
    state: i64 = START
    place: i64 = start
    while place < end:
        code: i64 = ord(text[place])
        if code < TABLED:
            kind: i64 = kinds[code]
        else:
            kind = kind_of(code)
        if kind <= JOINT:
            tally.close_run(state, place, kind)
            state = START
        elif kind < IDEOGRAPH:
            state = steps[state * 16 + kind]
            if state >= SMALL:  # small letters change nothing any more
                while place + 1 < end and 97 <= ord(text[place + 1]) <= 122:
                    place += 1
            elif state == NUMBER:
                after = _quantity_end(text, place, start)
                state = QUANTITY if after == place else ODD
                if after > place:
                    tally.add_quantity()
                    place = after - 1
                elif after == _UNSURE:
                    return False
        elif kind == IDEOGRAPH:
            tally.add_ideograph(state, place)
            state = START
        else:  # a letter from A to Z in disguise
            return False
        place += 1
    tally.close_run(state, end, BREAK)
    return True


def _quantity_end(text: str, place: i64, start: i64) -> i64:
    """Return where the quantity ends whose number begins at *place*.

    It is *place* itself if the quantity lies in one piece between blanks and commas: then it ends
    with its run, and something longer may begin with it.
    """
    if place > start and ord(text[place - 1]) in (_COMMA, _DOT):
        return _NONE
    size: i64 = len(text)
    after = _number_end(text, place)
    if after == size:
        return _NONE
    code: i64 = ord(text[after])
    end: i64 = after
    if code != _PERCENT and not is_ideographic(code):
        if is_space(code):
            after += 1
        end = _word_end(text, after)
        if end < size:
            follower = kind_of(ord(text[end]))
            if follower == FOLDED:
                return _UNSURE
            if follower > JOINT:
                return _NONE
        if end == after or text[after:end].lower() not in UNITS:
            return _NONE
    return end if is_space(ord(text[after - 1])) or "," in text[place:after] else place


def _number_end(text: str, place: i64) -> i64:
    """Return where the number ends that begins at *place*, dots and commas inside included."""
    size: i64 = len(text)
    while place < size:
        code: i64 = ord(text[place])
        if code in (_COMMA, _DOT) and place + 1 < size:
            code = ord(text[place + 1])
        if not 48 <= code <= 57:
            break
        place += 1
    return place


def _word_end(text: str, place: i64) -> i64:
    """Return where the letters from A to Z end that begin at *place*, if they can be a unit."""
    limit: i64 = min(len(text), place + _LONGEST_UNIT + 1)
    while place < limit and (97 <= ord(text[place]) <= 122 or 65 <= ord(text[place]) <= 90):
        place += 1
    return place
