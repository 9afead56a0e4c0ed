"""Cutting a text into words, and passing over those that say nothing special.

Most words of most texts are plain: small letters with a vowel among them, perhaps a capital first,
with punctuation around. Such a word is no name, no identifier and no number. Compiled with mypyc,
one loop over the bytes leaves them out; interpreted, cutting the text at white space is faster than
any way of finding out, so all words come back and the callers' memory of words does the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from refold.text.scan import (
    IS_COMPILED,
    LETTER_CODES,
    TRACE_FACTORS,
    TRACE_MASK,
    Vocabulary,
    plain_bytes,
)

if TYPE_CHECKING:
    from mypy_extensions import i64

# Classes of bytes, and what has been seen of a word so far.
_BLANK, _VOWEL, _CONSONANT, _CAPITAL_VOWEL, _CAPITAL, _BEFORE, _AFTER, _BOTH, _ODD_BYTE = range(9)
_START, _ONE, _TWO, _PLAIN, _CLOSED, _THREE, _ODD = range(7)
_LAST_PLAIN: Final = _CLOSED
_CLASSES: Final = (
    (b" \t\n\r\v\f\x1c\x1d\x1e\x1f", _BLANK),
    (b"aeiouy", _VOWEL),
    (b"bcdfghjklmnpqrstvwxz", _CONSONANT),
    (b"AEIOUY", _CAPITAL_VOWEL),
    (b"BCDFGHJKLMNPQRSTVWXZ", _CAPITAL),
    (b"([{<", _BEFORE),
    (b")]}>,;.!", _AFTER),
    (b'"*', _BOTH),
)
_STEPS: Final = {
    (_START, _VOWEL): _PLAIN,
    (_START, _CONSONANT): _ONE,
    (_START, _CAPITAL_VOWEL): _PLAIN,
    (_START, _CAPITAL): _ONE,
    (_START, _BEFORE): _START,
    (_START, _AFTER): _CLOSED,
    (_START, _BOTH): _START,
    # A word of three and more letters without a vowel is an abbreviation.
    (_ONE, _CONSONANT): _TWO,
    (_TWO, _CONSONANT): _THREE,
    (_THREE, _CONSONANT): _THREE,
    (_PLAIN, _CONSONANT): _PLAIN,
    (_CLOSED, _AFTER): _CLOSED,
    (_CLOSED, _BOTH): _CLOSED,
    **{(state, _VOWEL): _PLAIN for state in (_ONE, _TWO, _THREE, _PLAIN)},
    **{(state, mark): _CLOSED for state in (_ONE, _TWO, _PLAIN) for mark in (_AFTER, _BOTH)},
}
"""What follows from a byte; where nothing is said, the word is odd."""


def _class_table() -> bytes:
    table = bytearray([_ODD_BYTE] * 256)
    for members, number in _CLASSES:
        for byte in members:
            table[byte] = number
    return bytes(table)


def _step_table() -> bytes:
    """Spell out the steps, 16 for each state."""
    return bytes(_STEPS.get(divmod(place, 16), _ODD) for place in range(7 * 16))


_CLASS_OF: Final = _class_table()
_NEXT: Final = _step_table()


def telling_words(text: str, telling: Vocabulary) -> list[str]:
    """Return the words of *text* in reading order, repetitions included.

    Plain words may be left out, except those in *telling*.
    """
    return loop_words(text, telling) if IS_COMPILED else text.split()


def loop_words(text: str, telling: Vocabulary) -> list[str]:
    """Return the words that are not plain or are in *telling*; only a compiler makes this fast."""
    found: list[str] = []
    plain = plain_bytes(text)
    is_ascii = text.isascii()
    classes, steps = _CLASS_OF, _NEXT
    marks, factors, codes = telling.marks, TRACE_FACTORS, LETTER_CODES
    size: i64 = len(plain)
    start: i64 = 0
    state: i64 = _START
    trace: i64 = 0
    place: i64 = 0
    while place <= size:
        byte: i64 = plain[place] if place < size else 32
        kind: i64 = classes[byte]
        if kind:
            state = steps[state * 16 + kind]
            trace = (trace * factors[byte] + codes[byte]) & TRACE_MASK
        else:
            if state > _LAST_PLAIN or marks[trace]:
                word = text[start:place]
                if is_ascii:
                    found.append(word)
                else:  # blanks beyond ASCII looked like letters
                    found.extend(word.split())
            start = place + 1
            state = _START
            trace = 0
        place += 1
    return found
