"""A quick estimate of how many tokens a text costs, without any tokenizer.

Tokenizers cut at the borders between letters, digits, signs and white space, and cut long runs
further. So every byte gets a class, and every pair of neighbours a weight; characters beyond ASCII
have a weight for their script besides. The weights were fitted to `o200k_base` by least squares, on
recorded conversations and generated texts; `bench/estimator.py` prints the error on other texts.
"""

from __future__ import annotations

from typing import Final
from zlib import adler32

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
"""Fixed-point scale: weights are in fractions of a token, and this many make one token."""

# A row for the class before, a column for the class after, in the order of CLASS_NAMES. Long white
# space is set by hand: 128 spaces, 16 tabs or 16 line feeds in a row are one token.
_PAIR_WEIGHTS: Final = """
n   8  61  62  91 100  98  86  52  88 207 100 130   0 212  18
s  40   1 255 104  96  94  74  29 229 101 112 165 121  77  47
t  33  16   8  94  91   7  18  98 170  62 175 229  47  62 146
v 187  16 255  16   0   2 108  18 120  64  56  72 118 141 205
c 135  17 255   7   2  22 133  76  95  73   7  65 134  82   1
r  40   0 255  10  12 119 100 118 108  81 201  34 105 104   0
V 209  70  37 208  46  77  80   1 205  82  34  21 186 232 134
C 237  14   4  65 129 171  13  71 176 137  96 143 210 167 120
d 175   0 119 107 157 255  88  71  39  30  92 122 139 135  80
.  50  28  18  72  83  34   0  20 255  18   0  33 173  80 105
-   0   0  84  87 149 249 194  70 130 242   1 255 113 219 195
(  52  21  18 112  78 189  42  25  34   0  52   4  55 133 255
)  46   0  33  92 107  22 171   0  62   0   7  44   0 154  16
p   0   0  18 105  76   0  90  63 106  25   6  23   6   8   0
x 135  73  63   0  26   9  90   0  52 206 106 112 137   0   3
"""

SCRIPT_WEIGHTS: Final = (
    (0x01, 0x02, 0),  # Latin beyond ASCII
    (0x03, 0x03, 20),  # Greek
    (0x04, 0x04, 10),  # Cyrillic
    (0x05, 0x05, 22),  # Armenian, Hebrew
    (0x06, 0x07, 9),  # Arabic
    (0x09, 0x0D, 8),  # scripts of India
    (0x0E, 0x0F, 39),  # Thai, Lao
    (0x1E, 0x1F, 0),  # Vietnamese and other Latin
    (0x20, 0x2F, 54),  # punctuation, arrows, symbols
    (0x30, 0x31, 77),  # kana
    (0x32, 0x9F, 94),  # Chinese characters
    (0xAC, 0xD7, 47),  # Korean
    (0xD8, 0xDF, 110),  # beyond the first plane: emoji
    (0xFE, 0xFF, 35),  # wide and other forms
)
"""What one UTF-16 unit costs, by the range of its high byte, on top of what its neighbours say."""
_OTHER_SCRIPT: Final = 255
"""The weight of scripts that no range covers: the most that a byte holds."""


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
_ADLER_BYTES: Final = 65_520 // 255
"""As many bytes as cannot make the sum of `adler32` wrap around at 65,521."""
FIRST: Final = CLASS_NAMES.index("n")
"""A text begins like a line."""

SAFETY_FACTOR: Final = 1.1
"""How much lower a budget aims when tokens are estimated: enough for a sum that is 9 % too low.

Of the kinds of text that `bench/estimator.py` measures, docs/benchmarks.md names those beyond."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of *text*; never negative, 0 only for the empty text."""
    if not text:
        return 0
    return max(1, (weigh(text) + UNIT // 2) // UNIT)


def weigh(text: str) -> int:
    """Add up what the neighbours and scripts in *text* weigh."""
    data = text.encode("utf-8", "surrogatepass")
    total = sum_pairs(data, CLASSES, PAIRS, FIRST)
    if len(data) != len(text):
        high_bytes = text.encode("utf-16-le", "surrogatepass")[1::2]
        total += sum_bytes(high_bytes.translate(SCRIPTS))
    return total


def sum_pairs(data: bytes, classes: bytes, weights: bytes, first: int) -> int:
    """Add up the weights of all pairs of neighbours in *data*.

    *classes* gives each byte a class from 1 to 15, and `weights[16 * before + after]` is the weight
    of a pair. Before the first byte stands one of class *first*.
    """
    return sum_bytes(pair_codes(data.translate(classes), first).translate(weights))


def sum_bytes(data: bytes) -> int:
    """Add up all bytes of *data*.

    The lower half of an Adler checksum that starts at 0 is the sum of the bytes modulo 65521, which
    so many bytes at a time never reach: four times faster than `sum`.
    """
    starts = range(0, len(data), _ADLER_BYTES)
    return sum([adler32(data[start : start + _ADLER_BYTES], 0) & 0xFFFF for start in starts])


def pair_codes(numbers: bytes, first: int) -> bytes:
    """Return 16 × the number before + its own for each of *numbers*, all below 16.

    Seen as one long integer, a shift by one and a half bytes brings each number's neighbour beside
    it. Two bytes more than there are numbers come back: the last pair has no second half.
    """
    row = int.from_bytes(numbers, "little")
    return (row | row << 12 | first << 4).to_bytes(len(numbers) + 2, "little")
