"""A quick estimate of how many tokens a text costs, without any tokenizer.

Tokenizers cut at the borders between letters, digits, signs and white space, and cut long runs
further. So the estimate maps every byte to its class and counts classes and borders, each with a
weight fitted to a real tokenizer on real conversations (`bench/estimator.py` fits the weights and
prints the error per kind of text). Everything runs at the speed of `bytes.count`.
"""

from __future__ import annotations

from typing import Final

_LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _classes() -> bytes:
    """Map each byte of UTF-8 to its class: a letter, d digit, s space, n line, t tab, p sign, x."""
    table = bytearray(b"p" * 128 + b"x" * 128)
    for members, name in (
        (_LETTERS, "a"),
        (b"0123456789", "d"),
        (b" ", "s"),
        (b"\n\r", "n"),
        (b"\t", "t"),
    ):
        for byte in members:
            table[byte] = ord(name)
    return bytes(table)


def _cases() -> bytes:
    """Map capital letters to U and small ones to l."""
    return bytes(
        ord("U") if 65 <= byte <= 90 else ord("l") if 97 <= byte <= 122 else 0
        for byte in range(256)
    )


def _scripts() -> bytes:
    """Map the high byte of a UTF-16 unit to a letter for its script."""
    table = bytearray(b"o" * 256)
    for first, last, name in (
        (0x00, 0x00, "."),
        (0x01, 0x02, "l"),
        (0x03, 0x03, "g"),
        (0x04, 0x04, "c"),
        (0x05, 0x05, "h"),
        (0x06, 0x07, "a"),
        (0x09, 0x0D, "i"),
        (0x0E, 0x0F, "t"),
        (0x1E, 0x1F, "v"),
        (0x20, 0x2F, "s"),
        (0x30, 0x31, "k"),
        (0x32, 0x9F, "z"),
        (0xAC, 0xD7, "u"),
        (0xD8, 0xDF, "e"),
        (0xFE, 0xFF, "f"),
    ):
        for byte in range(first, last + 1):
            table[byte] = ord(name)
    return bytes(table)


CLASSES: Final = _classes()
CASES: Final = _cases()
SCRIPTS: Final = _scripts()
VOWELS: Final = b"aeiou"

CLASS_WEIGHTS: Final[dict[bytes, int]] = {
    b"a": 22, b"d": 333, b"s": 36, b"n": 185, b"t": 151, b"p": 215,
    b"as": 693, b"ap": 1188, b"an": 884, b"at": 1000, b"ad": 1709,
    b"sd": 1432, b"pd": 1283, b"sp": 805, b"np": 1141, b"tp": 1422,
}  # fmt: skip
CASE_WEIGHTS: Final[dict[bytes, int]] = {b"U": 182, b"lU": 1010}
VOWEL_WEIGHT: Final = 106
WIDE_WEIGHTS: Final[dict[bytes, int]] = {
    b"xs": 245, b"xn": 901, b"xp": 1090, b"ax": 661, b"dx": 641, b"sx": 863, b"nx": 966,
    b"px": 351,
}  # fmt: skip
SCRIPT_WEIGHTS: Final[dict[bytes, int]] = {
    b"l": 150, b"g": 174, b"c": 95, b"h": 263, b"a": 110, b"i": 73, b"t": 380, b"v": 100,
    b"s": 537, b"k": 583, b"z": 822, b"u": 368, b"e": 1050, b"f": 500, b"o": 900,
}  # fmt: skip
"""Weights in thousandths of a token."""


SAFETY_FACTOR: Final = 1.1
"""How much lower a budget aims when tokens are estimated; `bench/estimator.py` shows why."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of *text*; never negative, 0 only for the empty text."""
    if not text:
        return 0
    data = text.encode("utf-8", "surrogatepass")
    classes = data.translate(CLASSES)
    cases = data.translate(CASES)
    total = (len(data) - len(data.translate(None, VOWELS))) * VOWEL_WEIGHT
    for pattern, weight in CLASS_WEIGHTS.items():
        total += classes.count(pattern) * weight
    for pattern, weight in CASE_WEIGHTS.items():
        total += cases.count(pattern) * weight
    if len(data) != len(text):
        scripts = text.encode("utf-16-le", "surrogatepass")[1::2].translate(SCRIPTS)
        for pattern, weight in WIDE_WEIGHTS.items():
            total += classes.count(pattern) * weight
        for pattern, weight in SCRIPT_WEIGHTS.items():
            total += scripts.count(pattern) * weight
    return max(1, (total + 500) // 1000)
