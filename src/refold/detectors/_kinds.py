"""What each character is to `refold.detectors._look`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mypy_extensions import i64

# Letters have the code of their small form; all other kinds are less. The end is no character.
END: Final = 0
BLANK: Final = 1
LINE_END: Final = 2
DIGIT: Final = 3
STOP: Final = 4
QUESTION: Final = 5
QUOTE: Final = 6
OTHER: Final = 7
# From here to the plus, they are parts of keys or of encoded data, as letters and digits are.
JOINT: Final = 8
SLASH: Final = 9
# From the plus on, they are what `high_special_char_ratio` counts.
PLUS: Final = 10
COLON: Final = 11
DOLLAR: Final = 12
AT: Final = 13
TICK: Final = 14
TILDE: Final = 15
SPECIAL: Final = 16
LETTER: Final = 97
LETTER_P: Final = 112
LETTER_V: Final = 118

_MEMBERS: Final = (
    (BLANK, b" \t"),
    (LINE_END, b"\n"),
    (DIGIT, b"0123456789"),
    (STOP, b".!"),
    (QUESTION, b"?"),
    (QUOTE, b'"'),
    (JOINT, b"_-"),
    (SLASH, b"/"),
    (PLUS, b"+"),
    (COLON, b":"),
    (DOLLAR, b"$"),
    (AT, b"@"),
    (TICK, b"`"),
    (TILDE, b"~"),
    (SPECIAL, rb"{}[]<>|\;#%^&*()="),
)

# In the place of a question mark there may be any character beyond ASCII; some mean something.
FOREIGN_OTHER: Final = 0
FOREIGN_QUESTION: Final = 1
FOREIGN_STOP: Final = 2
FOREIGN_CAPITAL: Final = 3
FOREIGN_QUOTE: Final = 4
FOREIGN_MATH: Final = 5
FOREIGN_THEREFORE: Final = 6
FOREIGN_UNIT: Final = 7
FOREIGN_LETTER: Final = 8
"""One that counts as an ASCII letter where case is ignored."""
_CAPITALS: Final = "".join(
    chr(code)
    for first, last in ("ÀÖ", "ØÞ", "ΑΩ", "АЯ", "ЁЁ")
    for code in range(ord(first), ord(last) + 1)
)
_FOREIGN_MEMBERS: Final = (
    (FOREIGN_QUESTION, "?"),
    (FOREIGN_STOP, "。！？"),
    (FOREIGN_CAPITAL, _CAPITALS),
    (FOREIGN_QUOTE, "“„«「『"),
    (FOREIGN_MATH, "∀∃∄∈∉⊂⊆⊃⊇∪∩∧∨¬∑∏∫√∂∇≈≠≤≥∞±×÷"),
    (FOREIGN_THEREFORE, "∴"),
    (FOREIGN_UNIT, "µμ°"),
    (FOREIGN_LETTER, "\u0130\u0131\u017f\u212a"),
)


def _kinds() -> bytes:
    table = bytearray([OTHER] * 256)
    for code in range(ord("a"), ord("z") + 1):
        table[code] = table[code - 32] = code
    for kind, members in _MEMBERS:
        for code in members:
            table[code] = kind
    return bytes(table)


def _foreign_kinds() -> bytes:
    table = bytearray(_FOREIGN_CODES)
    for kind, members in _FOREIGN_MEMBERS:
        for char in members:
            table[ord(char)] = kind
    return bytes(table)


KINDS: Final = _kinds()
_FOREIGN_CODES: Final = 0x10000
_FOREIGN_KINDS: Final = _foreign_kinds()


def foreign_kind(text: str, place: i64) -> i64:
    """Return the kind of a question mark or of what stands in its place."""
    code: i64 = ord(text[place])
    return _FOREIGN_KINDS[code] if code < _FOREIGN_CODES else FOREIGN_OTHER
