"""The machine that reads a run of word characters: a name, an abbreviation, or nothing special.

It is what the patterns of `refold.text.name_patterns` say, spelled out as steps: each character
leads from one state to the next, and the state at the end of the run says what it is worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from refold.scoring.signs import WEIGHTS

if TYPE_CHECKING:
    from mypy_extensions import i64

# Kinds of characters: what stands between runs, and what makes them.
BREAK: Final = 0
JOINT: Final = 1
VOWEL: Final = 2
_CONSONANT, _CAPITAL_VOWEL, _CAPITAL, _DIGIT, _LINE = range(3, 8)
_LETTER: Final = 8
IDEOGRAPH: Final = 9
FOLDED: Final = 10
UNKNOWN: Final = 11
"""A question mark, or what stands in its place: any character beyond ASCII."""
_MEMBERS: Final = (
    ("./-:", JOINT),
    ("aeiouy", VOWEL),
    ("bcdfghjklmnpqrstvwxz", _CONSONANT),
    ("AEIOUY", _CAPITAL_VOWEL),
    ("BCDFGHJKLMNPQRSTVWXZ", _CAPITAL),
    ("0123456789", _DIGIT),
    ("_", _LINE),
    ("\u0130\u0131\u017f", FOLDED),  # letters from A to Z where case is ignored
)
_TABLED: Final = 0x600
"""Characters below are looked up: Latin, Greek, Cyrillic and their neighbours."""

# What a character does that is no step from one state to the next: it ends the run, it is beyond
# ASCII and has to be looked at, it lets another run begin.
CLOSED: Final = 0
JOINED: Final = 1
FOREIGN: Final = 2
IDEOGRAPHIC: Final = 3
# What a run has been so far.
NUMBER: Final = 4
START: Final = 5
CAPS: Final = 6
DISGUISED: Final = 7
"""There is a letter in it that is one from A to Z where case is ignored."""
STATUS: Final = 8
_ONE, _TWO, _SHORT, _SNAKE_GAP = range(9, 13)
_CAP, _CAP_VOWEL, _CAP_TWO, _CAP_SHORT, _CAP_DIGITS, _CAP_HUMPED = range(13, 19)
_CAPS_TWO, _CAPS_SHORT, _MIXED_SHORT, _CAPS_GAP, _CAPS_SNAKE = range(19, 24)
ODD: Final = 24
"""No sign can come of it any more."""
QUANTITY: Final = 25
_HUMPED, _SNAKE, _SMALL, _TITLE = range(26, 30)
_STATES: Final = 30
_STEPS: Final = {
    # what comes: a vowel, a consonant, a capital vowel, another capital, a digit, a line
    START: (_SMALL, _ONE, _CAP_VOWEL, _CAP, NUMBER, ODD),
    QUANTITY: (QUANTITY,) * 6,
    DISGUISED: (DISGUISED,) * 6,
    _ONE: (_SMALL, _TWO, _HUMPED, _HUMPED, _SMALL, _SNAKE_GAP),
    _TWO: (_SMALL, _SHORT, _HUMPED, _HUMPED, _SMALL, _SNAKE_GAP),
    _SHORT: (_SMALL, _SHORT, _HUMPED, _HUMPED, _SMALL, _SNAKE_GAP),
    _SMALL: (_SMALL, _SMALL, _HUMPED, _HUMPED, _SMALL, _SNAKE_GAP),
    _HUMPED: (_HUMPED, _HUMPED, _HUMPED, _HUMPED, _HUMPED, ODD),
    _SNAKE_GAP: (_SNAKE, _SNAKE, ODD, ODD, _SNAKE, ODD),
    _SNAKE: (_SNAKE, _SNAKE, ODD, ODD, _SNAKE, _SNAKE_GAP),
    _CAP: (_TITLE, _CAP_TWO, CAPS, _CAPS_TWO, _CAP_DIGITS, _CAPS_GAP),
    _CAP_VOWEL: (_TITLE, _TITLE, CAPS, CAPS, _CAP_DIGITS, _CAPS_GAP),
    _CAP_TWO: (_TITLE, _CAP_SHORT, _HUMPED, _HUMPED, _TITLE, ODD),
    _CAP_SHORT: (_TITLE, _CAP_SHORT, _HUMPED, _HUMPED, _TITLE, ODD),
    _TITLE: (_TITLE, _TITLE, _HUMPED, _HUMPED, _TITLE, ODD),
    # A1 may become a hump (A1b, A1B) or a snake (A1_B).
    _CAP_DIGITS: (_TITLE, _TITLE, _CAP_HUMPED, _CAP_HUMPED, _CAP_DIGITS, _CAPS_GAP),
    _CAP_HUMPED: (_HUMPED, _HUMPED, _CAP_HUMPED, _CAP_HUMPED, _CAP_HUMPED, _CAPS_GAP),
    _CAPS_TWO: (ODD, _MIXED_SHORT, CAPS, _CAPS_SHORT, CAPS, _CAPS_GAP),
    _CAPS_SHORT: (ODD, _MIXED_SHORT, CAPS, _CAPS_SHORT, CAPS, _CAPS_GAP),
    _MIXED_SHORT: (ODD, _MIXED_SHORT, ODD, _MIXED_SHORT, ODD, ODD),
    CAPS: (ODD, ODD, CAPS, CAPS, CAPS, _CAPS_GAP),
    _CAPS_GAP: (ODD, ODD, _CAPS_SNAKE, _CAPS_SNAKE, _CAPS_SNAKE, ODD),
    _CAPS_SNAKE: (ODD, ODD, _CAPS_SNAKE, _CAPS_SNAKE, _CAPS_SNAKE, _CAPS_GAP),
}
"""Where nothing is said, the run is odd."""
_WORTH: Final = {
    QUANTITY: WEIGHTS["quantity"],
    STATUS: WEIGHTS["status"],
    **dict.fromkeys((_HUMPED, _SNAKE, _CAP_HUMPED, _CAPS_SNAKE), WEIGHTS["name"]),
    **dict.fromkeys((_SHORT, _CAP_SHORT, _CAPS_SHORT, _MIXED_SHORT), WEIGHTS["short"]),
}


def _kind_table() -> bytes:
    table = bytearray(_LETTER if chr(code).isalnum() else BREAK for code in range(_TABLED))
    for members, kind in _MEMBERS:
        for member in members:
            table[ord(member)] = kind
    return bytes(table)


_KIND_TABLE: Final = _kind_table()


def kind_of(code: i64) -> i64:
    """Return the kind of any character."""
    if code < _TABLED:
        return _KIND_TABLE[code]
    if 0x4E00 <= code <= 0x9FEF or 0x3041 <= code <= 0x3096 or 0x30A1 <= code <= 0x30FA:
        return IDEOGRAPH
    if 0x2000 <= code <= 0x206F:  # dashes, quotes, dots
        return BREAK
    if code == 0x212A:  # the sign for Kelvin is a k where case is ignored
        return FOLDED
    if not chr(code).isalnum():
        return BREAK
    return IDEOGRAPH if is_ideographic(code) else _LETTER


def is_ideographic(code: i64) -> bool:
    """Tell whether a character is in IDEOGRAPHS; a few of those are no word characters."""
    return (
        0x3040 <= code <= 0x30FF
        or 0x3400 <= code <= 0x4DBF
        or 0x4E00 <= code <= 0x9FFF
        or 0xF900 <= code <= 0xFAFF
    )


def _step(state: int, kind: int) -> int:
    """Return where a character of that *kind* leads."""
    if kind in (BREAK, JOINT):
        return JOINED if kind == JOINT else CLOSED
    if kind in (IDEOGRAPH, UNKNOWN):
        return IDEOGRAPHIC if kind == IDEOGRAPH else FOREIGN
    if kind == FOLDED:
        return QUANTITY if state == QUANTITY else DISGUISED
    if kind == _LETTER:
        return DISGUISED if state == DISGUISED else ODD
    return _STEPS[state][kind - VOWEL] if state in _STEPS else ODD


def _step_table() -> bytes:
    """Spell out the steps of each state: by the bytes of ASCII, then by the kinds of the others."""
    table = bytearray()
    for state in range(_STATES):
        steps = bytes([_step(state, kind) for kind in range(UNKNOWN + 1)])
        table += bytes([steps[kind] for kind in KINDS]) + steps.ljust(ROW - BEYOND, b"\0")
    return bytes(table)


BEYOND: Final = 128
ROW: Final = 256
KINDS: Final = _KIND_TABLE[: ord("?")] + bytes([UNKNOWN]) + _KIND_TABLE[ord("?") + 1 : BEYOND]
"""The kinds of bytes."""
STEPS: Final = _step_table()
"""`STEPS[ROW * state + byte]` is the next state, and `ROW * state + BEYOND + kind` its place for
characters beyond ASCII."""
WORTHS: Final = bytes([_WORTH.get(state, 0) for state in range(_STATES)])
