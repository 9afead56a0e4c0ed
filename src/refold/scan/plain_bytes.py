"""Reading a text as bytes: words of a vocabulary, neighbours.

These are passes of `bytes` methods, which are as fast as C.
"""

from __future__ import annotations

from typing import Final
from zlib import adler32

_UPPER: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER: Final = b"abcdefghijklmnopqrstuvwxyz"
_LOWER_LETTERS: Final = bytes(
    byte if byte in _LOWER else byte + 32 if byte in _UPPER else 32 for byte in range(256)
)
"""Maps letters to lower case and everything else to blanks."""
DISGUISES: Final = (("\u0130", "i"), ("\u0131", "i"), ("\u017f", "s"), ("\u212a", "k"))
"""The characters beyond ASCII that count as ASCII letters where case is ignored."""

_OUTLINE: Final = bytes(
    ord("0") if byte in b"0123456789"
    else ord("u") if byte in b"kKmMnNgGtThHsS"
    else ord("v") if byte in b"vV"
    else ord(" ") if byte == ord("\t")
    else byte
    for byte in range(256)
)  # fmt: skip

_ADLER_BYTES: Final = 65_520 // 255
"""As many bytes as cannot make the sum of `adler32` wrap around at 65,521."""


def plain_bytes(text: str) -> bytes:
    """Return one byte for each character of *text*: itself if it is ASCII, else a question mark."""
    return text.encode("ascii", "replace")


def encodable(text: str) -> str:
    """Replace lone surrogates: no provider's JSON can carry them."""
    return text.encode("utf-8", "replace").decode()


def words_in(plain: bytes) -> frozenset[bytes]:
    """Return the words of a text as bytes, in lower case: all runs of letters."""
    return frozenset(plain.translate(_LOWER_LETTERS).split())


def undisguised(text: str) -> str:
    """Return *text* with ASCII letters for the few others that count as such in any case."""
    for char, letter in DISGUISES:
        text = text.replace(char, letter)
    return text


def outline(plain: bytes) -> bytes:
    """Return where numbers and measures may be: digits are 0, letters that begin units are u.

    The letter of versions is v whatever its case, and tabs are blanks.
    """
    return plain.translate(_OUTLINE)


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
