"""What the scanner has to know to score sentences, as tables of bytes.

A run of word characters goes through a machine: a name, an abbreviation, or nothing special. It is
what the patterns of `refold.text.name_patterns` say, spelled out as steps: each character leads
from one state to the next, and the state at the end of the run says what it is worth. Numbers that
only the scanner reads are those of `csrc/features.h`.
"""

from __future__ import annotations

from typing import Final

from refold.scoring.filler import FILLER_PENALTY, FILLERS, NEGATIONS, is_filler
from refold.scoring.sentence_features import (
    EMPHASIS_POINTS,
    ERROR_ENDS,
    INFERENCE_POINTS,
    LONGEST,
    SHORTEST,
    SIZE_POINTS,
    STATUSES,
    TELLING,
    UNIT,
    UNITS,
    WEIGHTS,
    phrase_flags,
)
from refold.text.alphabet import IDEOGRAPHS, code_ranges
from refold.text.scan import undisguised, word_rows

# Kinds of characters: what stands between runs, and what makes them.
_BREAK: Final = 0
_JOINT: Final = 1
_VOWEL, _CONSONANT, _CAPITAL_VOWEL, _CAPITAL, _DIGIT, _LINE = range(2, 8)
_LETTER: Final = 8
_IDEOGRAPH: Final = 9
_FOLDED: Final = 10
_ASK: Final = 11
"""A letter if it is a word character."""
_ASK_IDEOGRAPH: Final = 12
"""An ideograph if it is a word character: a few of them are not."""
_MEMBERS: Final = (
    ("./-:", _JOINT),
    ("aeiouy", _VOWEL),
    ("bcdfghjklmnpqrstvwxz", _CONSONANT),
    ("AEIOUY", _CAPITAL_VOWEL),
    ("BCDFGHJKLMNPQRSTVWXZ", _CAPITAL),
    ("0123456789", _DIGIT),
    ("_", _LINE),
    ("\u0130\u0131\u017f\u212a", _FOLDED),  # letters from A to Z where case is ignored
)
_KNOWN: Final = "\0-\u0e7f\u2000-\u206f\u3000-\u303f\uff00-\uff20"
"""Of these it is found out here: alphabets, and the marks of all scripts."""
_SURE_IDEOGRAPHS: Final = "\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fef"

# What a character does that is no step from one state to the next: it ends the run, it joins it to
# another, it lets a sign begin after it.
_CLOSED, _JOINED, _IDEOGRAPHIC = range(3)
# What a run has been so far.
_NUMBER, _START, _CAPS, _DISGUISED, _STATUS, _ODD, _QUANTITY = range(3, 10)
_ONE, _TWO, _SHORT, _SNAKE_GAP = range(10, 14)
_CAP, _CAP_VOWEL, _CAP_TWO, _CAP_SHORT, _CAP_DIGITS, _CAP_HUMPED = range(14, 20)
_CAPS_TWO, _CAPS_SHORT, _MIXED_SHORT, _CAPS_GAP, _CAPS_SNAKE = range(20, 25)
_HUMPED, _SNAKE, _SMALL, _TITLE = range(25, 29)
_STATES: Final = 29
_STEPS: Final = {
    # what comes: a vowel, a consonant, a capital vowel, another capital, a digit, a line
    _START: (_SMALL, _ONE, _CAP_VOWEL, _CAP, _NUMBER, _ODD),
    _QUANTITY: (_QUANTITY,) * 6,
    _DISGUISED: (_DISGUISED,) * 6,
    _ONE: (_SMALL, _TWO, _HUMPED, _HUMPED, _SMALL, _SNAKE_GAP),
    _TWO: (_SMALL, _SHORT, _HUMPED, _HUMPED, _SMALL, _SNAKE_GAP),
    _SHORT: (_SMALL, _SHORT, _HUMPED, _HUMPED, _SMALL, _SNAKE_GAP),
    _SMALL: (_SMALL, _SMALL, _HUMPED, _HUMPED, _SMALL, _SNAKE_GAP),
    _HUMPED: (_HUMPED, _HUMPED, _HUMPED, _HUMPED, _HUMPED, _ODD),
    _SNAKE_GAP: (_SNAKE, _SNAKE, _ODD, _ODD, _SNAKE, _ODD),
    _SNAKE: (_SNAKE, _SNAKE, _ODD, _ODD, _SNAKE, _SNAKE_GAP),
    _CAP: (_TITLE, _CAP_TWO, _CAPS, _CAPS_TWO, _CAP_DIGITS, _CAPS_GAP),
    _CAP_VOWEL: (_TITLE, _TITLE, _CAPS, _CAPS, _CAP_DIGITS, _CAPS_GAP),
    _CAP_TWO: (_TITLE, _CAP_SHORT, _HUMPED, _HUMPED, _TITLE, _ODD),
    _CAP_SHORT: (_TITLE, _CAP_SHORT, _HUMPED, _HUMPED, _TITLE, _ODD),
    _TITLE: (_TITLE, _TITLE, _HUMPED, _HUMPED, _TITLE, _ODD),
    # A1 may become a hump (A1b, A1B) or a snake (A1_B).
    _CAP_DIGITS: (_TITLE, _TITLE, _CAP_HUMPED, _CAP_HUMPED, _CAP_DIGITS, _CAPS_GAP),
    _CAP_HUMPED: (_HUMPED, _HUMPED, _CAP_HUMPED, _CAP_HUMPED, _CAP_HUMPED, _CAPS_GAP),
    _CAPS_TWO: (_ODD, _MIXED_SHORT, _CAPS, _CAPS_SHORT, _CAPS, _CAPS_GAP),
    _CAPS_SHORT: (_ODD, _MIXED_SHORT, _CAPS, _CAPS_SHORT, _CAPS, _CAPS_GAP),
    _MIXED_SHORT: (_ODD, _MIXED_SHORT, _ODD, _MIXED_SHORT, _ODD, _ODD),
    _CAPS: (_ODD, _ODD, _CAPS, _CAPS, _CAPS, _CAPS_GAP),
    _CAPS_GAP: (_ODD, _ODD, _CAPS_SNAKE, _CAPS_SNAKE, _CAPS_SNAKE, _ODD),
    _CAPS_SNAKE: (_ODD, _ODD, _CAPS_SNAKE, _CAPS_SNAKE, _CAPS_SNAKE, _CAPS_GAP),
}
"""Where nothing is said, the run is odd."""
_WORTH: Final = {
    _QUANTITY: WEIGHTS["quantity"],
    _STATUS: WEIGHTS["status"],
    **dict.fromkeys((_HUMPED, _SNAKE, _CAP_HUMPED, _CAPS_SNAKE), WEIGHTS["name"]),
    **dict.fromkeys((_SHORT, _CAP_SHORT, _CAPS_SHORT, _MIXED_SHORT), WEIGHTS["short"]),
}


def _kind_table() -> bytes:
    table = bytearray([_ASK]) * 0x10000
    for ranges, kind in ((IDEOGRAPHS, _ASK_IDEOGRAPH), (_SURE_IDEOGRAPHS, _IDEOGRAPH)):
        for codes in code_ranges(ranges):
            table[codes.start : codes.stop] = bytes([kind]) * len(codes)
    for codes in code_ranges(_KNOWN):
        table[codes.start : codes.stop] = bytes(
            [_LETTER if chr(code).isalnum() else _BREAK for code in codes]
        )
    for members, kind in _MEMBERS:
        for member in members:
            table[ord(member)] = kind
    return bytes(table)


def _step(state: int, kind: int) -> int:
    """Return where a character of that *kind* leads."""
    if kind in (_BREAK, _JOINT):
        return _JOINED if kind == _JOINT else _CLOSED
    if kind == _IDEOGRAPH:
        return _IDEOGRAPHIC
    if kind == _FOLDED:
        return _QUANTITY if state == _QUANTITY else _DISGUISED
    if kind == _LETTER:
        return _DISGUISED if state == _DISGUISED else _ODD
    return _STEPS[state][kind - _VOWEL] if state in _STEPS else _ODD


def _step_table() -> bytes:
    """Spell out the steps of each state: by the bytes of ASCII, then by the kinds of the others."""
    table = bytearray()
    for state in range(_STATES):
        steps = bytes([_step(state, kind) for kind in range(_FOLDED + 1)])
        table += bytes([steps[kind] for kind in _KINDS[:_ASCII]]) + steps.ljust(_ASCII, b"\0")
    return bytes(table)


def _unit_end(text: str, place: int) -> int:
    """Return where the unit ends that begins at *place* of *text*, or -1."""
    found = UNIT.match(text, place)
    return -1 if found is None else found.end()


_ASCII: Final = 128
_KINDS: Final = _kind_table()

SCORING: Final = (
    _KINDS,
    _step_table(),
    bytes([_WORTH.get(state, 0) for state in range(_STATES)]),
    bytes(
        [
            *(WEIGHTS["quantity"], WEIGHTS["short"], WEIGHTS["place"], WEIGHTS["error"]),
            *(EMPHASIS_POINTS, INFERENCE_POINTS),
            *(SIZE_POINTS, -FILLER_PENALTY, SHORTEST, LONGEST),
        ]
    ),
    "".join(ERROR_ENDS).encode("ascii"),
    word_rows(TELLING),
    word_rows(dict.fromkeys(STATUSES, 1)),
    word_rows(dict.fromkeys(UNITS, 1)),
    word_rows(dict.fromkeys(FILLERS, 1)),
    word_rows(dict.fromkeys(NEGATIONS, 1)),
    undisguised,
    phrase_flags,
    _unit_end,
    is_filler,
)
"""All that `scanner.scores` goes by; what a table cannot say is asked of the rule itself."""
