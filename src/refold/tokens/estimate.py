"""A quick estimate of how many tokens a text costs, without any tokenizer.

Tokenizers cut at the borders between letters, digits, signs and white space, and cut long runs
further. So every byte gets a class, and every pair of neighbours a weight that was fitted to a real
tokenizer on real conversations (`bench/estimator.py` fits the weights and prints the error per kind
of text). Characters beyond ASCII have a weight for their script besides.
"""

from __future__ import annotations

from typing import Final

from refold.text.scan import sum_pairs

CLASS_NAMES: Final = " nstvcVCd_.(,px"
"""The classes by number: line feed, space, tab, vowel, consonant, the same as capitals, digit,
four kinds of signs, other signs, and bytes of characters beyond ASCII. There is no class 0."""

_MEMBERS: Final = {
    "n": b"\n\r",
    "s": b" ",
    "t": b"\t",
    "v": b"aeiou",
    "c": b"bcdfghjklmnpqrstvwxyz",
    "V": b"AEIOU",
    "C": b"BCDFGHJKLMNPQRSTVWXYZ",
    "d": b"0123456789",
    "_": b"_-",
    ".": b"./:\\",
    "(": b"\"'()[]{}",
    ",": b",;=<>",
}

UNIT: Final = 128
"""Weights are in fractions of a token: so many make one."""

# A row for the class before, a column for the class after, in the order of CLASS_NAMES. Long white
# space is not fitted: 128 spaces, 16 tabs or 16 line feeds in a row are one token.
_PAIR_WEIGHTS: Final = """
n   8  77  35 114 202 137 117  78 230 224 174 162 166  46
s  32   1 255  93  82  94  49 206 120 147 184 120  93  37
t   0  17   8  24  30  12  81 136 166 211 255 166  98 153
v 134  28 255  16   0 186  99  60 161  85 123 104 135 255
c  19  23 255   0  19 181 137 117 127  48 120 126 134   0
V 109  49 102  82  29  79   0 184  73  47  56 154 142  64
C 175   0  83  27  87   9  97 130  77  46 174 255  30   0
d 146  54 171 176 145 113 135  31   0 173 187 115 244 109
_   0   0  72   0  53   0  72 228   2  99  42  30 247   0
.  26  51   0 124  93 255  67 121 110  16  84  99 135  29
(  11  65   0  30   7   0   0  19 255   0  15   0   1 134
,  18  17   0   0  59   0   0 200   0  67 153   1   0  43
p   2  11   0 117  78 139  64  40  27   6 125  23   7   0
x 201  76   0  22  42 102  15  24 195 187 114 255 180   7
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
