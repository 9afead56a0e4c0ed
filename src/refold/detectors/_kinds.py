"""What each character is to the scanner when it looks at a text, see `refold.detectors._look`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from refold.text.scan import DISGUISES

_OTHER: Final = 6
_FOREIGN: Final = 7
_LETTER: Final = 17
_ASCII: Final = 128
# Each kind by its number; `csrc/look.h` has their names. The end of a text counts as a zero.
_MEMBERS: Final = (
    (0, "\0"),
    (1, " \t"),
    (2, "\n"),
    (3, "0123456789"),
    (4, ".!?"),
    (5, '"'),
    # From here to the plus, they are parts of keys or of encoded data, as letters and digits are.
    (8, "_-"),
    (9, "/"),
    # From the plus on, they are what `high_special_char_ratio` counts.
    (10, "+"),
    (11, ":"),
    (12, "$"),
    (13, "@"),
    (14, "`"),
    (15, "~"),
    (16, r"{}[]<>|\;#%^&*()="),
    (_LETTER, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
)
_CAPITALS: Final = "".join(
    chr(code)
    for first, last in ("ÀÖ", "ØÞ", "ΑΩ", "АЯ", "ЁЁ")
    for code in range(ord(first), ord(last) + 1)
)
_FOREIGN_MEMBERS: Final = (
    (1, "。！？"),
    (2, _CAPITALS),
    (3, "“„«「『"),
    (4, "∀∃∄∈∉⊂⊆⊃⊇∪∩∧∨¬∑∏∫√∂∇≈≠≤≥∞±×÷"),
    (5, "∴"),
    (6, "µμ°"),
    *((ord(letter), char) for char, letter in DISGUISES),
)


def _table(empty: bytes, members: Iterable[tuple[int, str]]) -> bytes:
    table = bytearray(empty)
    for kind, chars in members:
        for char in chars:
            table[ord(char)] = kind
    return bytes(table)


KINDS: Final = _table(bytes([_OTHER] * _ASCII + [_FOREIGN] * _ASCII), _MEMBERS)
"""What each byte is; all beyond ASCII stand for characters that `FOREIGN_KINDS` knows."""
FOREIGN_KINDS: Final = _table(bytes(0x10000), _FOREIGN_MEMBERS)
"""What each character beyond ASCII is, as far as it means something to a detector."""
