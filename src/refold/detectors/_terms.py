"""The words and pairs of words that the scanner knows when it looks at a text.

A term has a key, which the scanner finds while it reads a word. Most words are no term, and one
byte of a table says so.
"""

from __future__ import annotations

from itertools import count
from struct import pack
from typing import Final

from refold.detectors import _signs
from refold.detectors._vocabulary import ORDINALS, SQL_OTHER, SQL_STRONG, SQL_WEAK

# What more than the term there must be for a finding. `csrc/look.h` has the same names.
_KEYWORD: Final = 1 << 0
_WEAK: Final = 1 << 1
_MARKER: Final = 1 << 2
_ORDINAL: Final = 1 << 3
_LABEL: Final = 1 << 4
_ANALYSIS: Final = 1 << 5
_FRAME: Final = 1 << 6
_STATUS: Final = 1 << 7
_VERSION: Final = 1 << 8
_UNIT: Final = 1 << 9
_FIRST: Final = 1 << 10
_SECOND: Final = 1 << 11
_COUNTED: Final = _KEYWORD | _MARKER
_OWN_SHIFT: Final = 16
"""Above it stands the number of a term that is counted."""
_MAX_COUNTED: Final = 64
"""The scanner has a bit for each."""

_Words = str | frozenset[bytes]
_ROWS: Final[tuple[tuple[_Words, int, int], ...]] = (
    (SQL_STRONG, _signs.SQL_CONTENT, 0),
    (SQL_WEAK, 0, _KEYWORD | _WEAK),
    (SQL_OTHER, 0, _KEYWORD),
    (
        "it follows, can conclude, can deduce, can infer, this implies, this proves, qed",
        _signs.REASONING_CHAIN,
        0,
    ),
    (
        "therefore, hence, thus, consequently, accordingly, this means, a result, because of, "
        "which implies, which means, which shows, given that, assuming that, we know",
        0,
        _MARKER,
    ),
    (
        "me think, me reason, me analyze, s consider, s break, in conclusion, to summarize, "
        "in summary",
        0,
        _MARKER,
    ),
    (ORDINALS, 0, _ORDINAL),
    ("reasoning, conclusion, proof, derivation, thought, step", 0, _LABEL),
    ("analysis", 0, _ANALYSIS),
    (
        "execution failed, authentication failed, authentication error, authorization failed, "
        "authorization denied, connection refused, connection timeout, connection timed, "
        "permission denied",
        _signs.FAILURE_SIGNATURE,
        0,
    ),
    ("shall, may not, notwithstanding, whereas, hereby", _signs.LEGAL_TERM, 0),
    ("traceback, in thread", _signs.ERROR_TRACEBACK, 0),
    ("at", 0, _FRAME),
    ("status", 0, _STATUS),
    ("version", 0, _VERSION),
    ("m, s, km, kg, ms, ns, hz, mb, gb, tb, mhz, ghz", 0, _UNIT),
)
"""Terms, the signs that they set by themselves, and what else they are."""
_FREQUENT: Final = frozenset({"of", "that", "not"})
"""Words after which one would have to look back all the time."""

_SPREAD: Final = 0x9E3779B97F4A7C15
_MASK: Final = (1 << 64) - 1
_SLOT_BITS: Final = 13
_IN_KEY: Final = 8
"""So many letters are part of a key; of the others, only how many they are."""
_LENGTH_SHIFT: Final = 58
_ROW: Final = "=QII"


class Terms:
    """Terms in the form in which the scanner reads them."""

    def __init__(self) -> None:
        known = _merged()
        keys = [_key_of(term) for term in known]
        factor = next(odd for odd in count(_SPREAD, 2) if _are_distinct(keys, odd))
        slots = bytearray(1 << _SLOT_BITS)
        rows = [pack(_ROW, factor, 0, 0)]
        for number, (key, row) in enumerate(zip(keys, known.values(), strict=True), 1):
            slots[_slot_of(key, factor)] = number
            rows.append(pack(_ROW, key, *row))
        self.slots: Final = bytes(slots)
        """The number of the one term that a key can be of, by its slot."""
        self.rows: Final = b"".join(rows)
        """Key, signs and flags of each term by its number; instead of term 0, what spreads keys."""


def _merged() -> dict[str, tuple[int, int]]:
    """Return signs and flags of each term, in whatever rows it stands; a counted one has a bit."""
    known: dict[str, tuple[int, int]] = {}
    own = 0
    for terms, signs, flags in _ROWS:
        for term in _split(terms):
            _add(known, term, signs, flags | own << _OWN_SHIFT if flags & _COUNTED else flags)
            own += flags & _COUNTED != 0
            # One word of a pair is known too: where it stands, the other one is looked for.
            first, _, second = term.partition(" ")
            if second:
                _add(known, *((first, 0, _FIRST) if second in _FREQUENT else (second, 0, _SECOND)))
    assert own <= _MAX_COUNTED
    return known


def _add(known: dict[str, tuple[int, int]], term: str, signs: int, flags: int) -> None:
    old_signs, old_flags = known.get(term, (0, 0))
    known[term] = old_signs | signs, old_flags | flags


def _split(terms: _Words) -> list[str]:
    if isinstance(terms, str):
        return terms.split(", ")
    return sorted(word.decode() for word in terms)


def _key_of(term: str) -> int:
    """Return the key of a word or of a pair, as the scanner does."""
    first, _, second = term.partition(" ")
    letters = int.from_bytes(first[:_IN_KEY].encode(), "little")
    key = letters ^ (len(first) << _LENGTH_SHIFT & _MASK)
    return (key * _SPREAD & _MASK) ^ _key_of(second) if second else key


def _slot_of(key: int, factor: int) -> int:
    return (key * factor & _MASK) >> (64 - _SLOT_BITS)


def _are_distinct(keys: list[int], factor: int) -> bool:
    return len({_slot_of(key, factor) for key in keys}) == len(keys)


TERMS: Final = Terms()
