"""A quick estimate of how many tokens a text costs, without any tokenizer.

Tokenizers cut at the borders between letters, digits, signs and white space, and cut long runs
further. So every byte gets a class, and every pair of neighbours a weight that was fitted to a real
tokenizer on real conversations (`bench/estimator.py` fits the weights and prints the error per kind
of text). Characters beyond ASCII have a weight for their script besides.
"""

from __future__ import annotations

from typing import Final

from refold.text.scan import sum_pairs

CLASS_NAMES: Final = " nstvcrVCd.-()px"
"""The classes by number: line feed, space, tab, vowel, consonant, rare letter, capital vowel,
capital consonant, digit, signs inside names, dashes, signs before a word, signs after a word, other
signs, and bytes of characters beyond ASCII. There is no class 0."""

_MEMBERS: Final = {
    "n": b"\n\r",
    "s": b" ",
    "t": b"\t",
    "v": b"aeiou",
    "c": b"bcdfghlmnprst",
    "r": b"jkqvwxyz",
    "V": b"AEIOU",
    "C": b"BCDFGHJKLMNPQRSTVWXYZ",
    "d": b"0123456789",
    ".": b"._",
    "-": b"-/",
    "(": b"\"'`([{#@$",
    ")": b")]},;:",
}

UNIT: Final = 128
"""Weights are in fractions of a token: so many make one."""

# A row for the class before, a column for the class after, in the order of CLASS_NAMES. Long white
# space is not fitted: 128 spaces, 16 tabs or 16 line feeds in a row are one token.
_PAIR_WEIGHTS: Final = """
n   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
s   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
t   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
v   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
c   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
r   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
V   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
C   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
d   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
.   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
-   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
(   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
)   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
p   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
x   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
"""

SCRIPT_WEIGHTS: Final = (
    (0x01, 0x02, 0),  # Latin beyond ASCII
    (0x03, 0x03, 17),  # Greek
    (0x04, 0x04, 5),  # Cyrillic
    (0x05, 0x05, 28),  # Armenian, Hebrew
    (0x06, 0x07, 8),  # Arabic
    (0x09, 0x0D, 0),  # scripts of India
    (0x0E, 0x0F, 28),  # Thai, Lao
    (0x1E, 0x1F, 0),  # Vietnamese and other Latin
    (0x20, 0x2F, 44),  # punctuation, arrows, symbols
    (0x30, 0x31, 55),  # kana
    (0x32, 0x9F, 84),  # Chinese characters
    (0xAC, 0xD7, 37),  # Korean
    (0xD8, 0xDF, 105),  # beyond the first plane: emoji
    (0xFE, 0xFF, 13),  # wide and other forms
)
"""What one UTF-16 unit costs, by the range of its high byte, on top of what its neighbours say."""
_OTHER_SCRIPT: Final = 255


def _class_table() -> bytes:
    """Map each byte of UTF-8 to the number of its class."""
    table = bytearray([CLASS_NAMES.index("p")] * 128 + [CLASS_NAMES.index("x")] * 128)
    for name, members in _MEMBERS.items():
        for byte in members:
            table[byte] = CLASS_NAMES.index(name)
    return bytes(table)


def _pair_table() -> bytes:
    """Map each pair of classes, 16 × the first + the second, to its weight."""
    table = bytearray(256)
    for line in _PAIR_WEIGHTS.split("\n")[1:-1]:
        name, *weights = line.split()
        start = 16 * CLASS_NAMES.index(name) + 1
        table[start : start + len(weights)] = bytes(map(int, weights))
    return bytes(table)


def _script_table() -> bytes:
    """Map the high byte of a UTF-16 unit to the weight of its script."""
    table = bytearray([0, *[_OTHER_SCRIPT] * 255])
    for first, last, weight in SCRIPT_WEIGHTS:
        table[first : last + 1] = bytes([weight] * (last + 1 - first))
    return bytes(table)


CLASSES: Final = _class_table()
PAIRS: Final = _pair_table()
SCRIPTS: Final = _script_table()
FIRST: Final = CLASS_NAMES.index("n")
"""A text begins like a line."""

SAFETY_FACTOR: Final = 1.1
"""How much lower a budget aims when tokens are estimated; `bench/estimator.py` shows why."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of *text*; never negative, 0 only for the empty text."""
    if not text:
        return 0
    data = text.encode("utf-8", "surrogatepass")
    total = sum_pairs(data, CLASSES, PAIRS, FIRST)
    if len(data) != len(text):
        total += sum(text.encode("utf-16-le", "surrogatepass")[1::2].translate(SCRIPTS))
    return max(1, (total + UNIT // 2) // UNIT)
