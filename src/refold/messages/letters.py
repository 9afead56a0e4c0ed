"""Letters that follow from what a stand-in stands for: its id, and its handles."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from refold.notation.marks import ANCHOR_CHARS

ID_PREFIX = "cce_sum_"
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_PAIRS: Final = tuple(low + high for high in _LETTERS for low in _LETTERS)
"""Two letters at once. Letters only, so that no id of ours looks like a number of the text."""
_BASE: Final = 26 * 26
"""How many pairs of letters there are."""
_HASH: Final = blake2b(digest_size=24)
"""An empty hash to copy, which is faster than making one."""


def make_summary_id(ids: Sequence[str], digests: Sequence[str]) -> str:
    """Derive the id of a stand-in from what it stands for: 12 letters."""
    return ID_PREFIX + _twelve_letters(_digest(ids, digests)[:8])


def make_anchor(ids: Sequence[str], digests: Sequence[str]) -> str:
    """Derive the long handle of a stand-in, which its short one is the beginning of."""
    data = _digest(ids, digests)
    return "".join(_twelve_letters(data[at : at + 8]) for at in (0, 8, 16))[:ANCHOR_CHARS]


def _digest(ids: Sequence[str], digests: Sequence[str]) -> bytes:
    fresh = _HASH.copy()
    fresh.update("\0".join((*ids, *digests)).encode("utf-8", "surrogatepass"))
    return fresh.digest()


def _twelve_letters(data: bytes) -> str:
    number = int.from_bytes(data)
    return _six_letters(number) + _six_letters(number // _BASE**3)


def _six_letters(number: int) -> str:
    """Spell the last six letters of a number, the last ones first."""
    last = number % _BASE**3  # no machine word is too short for it: so all else is fast
    return f"{_PAIRS[last % _BASE]}{_PAIRS[last // _BASE % _BASE]}{_PAIRS[last // _BASE**2]}"
