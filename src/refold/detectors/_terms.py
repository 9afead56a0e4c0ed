"""The words and pairs of words that `refold.detectors._look` knows, each with its bits.

The letters of a word leave a trace: a number that hardly any other word has, found while the text
is read. Most words are no term, and one byte of a table says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from refold.detectors._vocabulary import ORDINALS, SQL_OTHER, SQL_STRONG, SQL_WEAK

if TYPE_CHECKING:
    from mypy_extensions import i64

STRONG: Final = 1 << 0
CONCLUSIVE: Final = 1 << 1
LABEL: Final = 1 << 2
ANALYSIS: Final = 1 << 3
ORDINAL: Final = 1 << 4
FAILURE: Final = 1 << 5
LEGAL: Final = 1 << 6
CRASH: Final = 1 << 7
FRAME: Final = 1 << 8
STATUS: Final = 1 << 9
VERSION: Final = 1 << 10
_SHARED: Final = (
    (STRONG, SQL_STRONG),
    (CONCLUSIVE, "it follows, can conclude, can deduce, can infer, this implies, this proves, qed"),
    (LABEL, "reasoning, conclusion, proof, derivation, thought, step"),
    (ANALYSIS, "analysis"),
    (ORDINAL, ORDINALS),
    (
        FAILURE,
        "execution failed, authentication failed, authentication error, authorization failed, "
        "authorization denied, connection refused, connection timeout, connection timed, "
        "permission denied",
    ),
    (LEGAL, "shall, may not, notwithstanding, whereas, hereby"),
    (CRASH, "traceback, in thread"),
    (FRAME, "at"),
    (STATUS, "status"),
    (VERSION, "version"),
)
"""Terms of which any one will do share a bit."""

_FIRST_OWN: Final = 11
_CONNECTIVES: Final = (
    "therefore, hence, thus, consequently, accordingly, this means, a result, because of, "
    "which implies, which means, which shows, given that, assuming that, we know"
)
_MARKERS: Final = (
    "me think, me reason, me analyze, s consider, s break, in conclusion, to summarize, in summary"
)
_OWN: Final = (SQL_WEAK, SQL_OTHER, _CONNECTIVES, _MARKERS)
"""Terms that are counted have a bit each, from the first on."""


def _split(terms: str | frozenset[bytes]) -> list[str]:
    if isinstance(terms, str):
        return terms.split(", ")
    return sorted(word.decode() for word in terms)


def _all_terms() -> Iterator[tuple[str, int]]:
    for bit, terms in _SHARED:
        for term in _split(terms):
            yield term, bit
    for number, term in enumerate([term for terms in _OWN for term in _split(terms)]):
        yield term, 1 << (_FIRST_OWN + number)


def _bits_of(*groups: str | frozenset[bytes]) -> int:
    wanted = {term for terms in groups for term in _split(terms)}
    return sum({bit for term, bit in _all_terms() if bit >> _FIRST_OWN and term in wanted})


WEAK: Final = _bits_of(SQL_WEAK)
COUNTED: Final = _bits_of(SQL_WEAK, SQL_OTHER)
MARKERS: Final = _bits_of(_CONNECTIVES, _MARKERS)

TRACE_SHIFT: Final = 5
TRACE_MASK: Final = (1 << 58) - 1
"""A trace is the last eleven letters or so, five bits each, and fits a number of the machine."""
SLOT_MASK: Final = (1 << 13) - 1
_FOLDS: Final = range(7, 20)


class Terms:
    """Terms by their traces."""

    def __init__(self, terms: Iterable[tuple[str, int]]) -> None:
        bits: dict[str, int] = {}
        for term, bit in terms:
            bits[term] = bits.get(term, 0) | bit
            # The second word of a pair is known too: where it stands, the first is looked for.
            bits.setdefault(term.rpartition(" ")[2], 0)
        self.bits: list[int] = [0, *bits.values()]
        """By number; that of no term is 0."""
        self.traces: list[int] = [-1, *map(_trace, bits)]
        self.fold = next(n for n in _FOLDS if _are_distinct(self.traces, n))
        """How many bits apart a trace is laid over itself, so that each term has its own slot."""
        slots = bytearray(SLOT_MASK + 1)
        for number, trace in enumerate(self.traces[1:], 1):
            slots[slot_of(trace, self.fold)] = number
        self.slots = bytes(slots)
        """The number of the one term that a trace can be of, by its slot."""


def slot_of(trace: i64, fold: i64) -> i64:
    """Return the place of a trace in the table of slots."""
    return (trace ^ trace >> fold ^ trace >> 2 * fold ^ trace >> 3 * fold) & SLOT_MASK


def pair_trace(first: i64, second: i64) -> i64:
    """Return the trace of two words from the traces of both."""
    return (first << 3 ^ first >> 31 ^ second) & TRACE_MASK


def _are_distinct(traces: list[int], fold: int) -> bool:
    return len({slot_of(trace, fold) for trace in traces[1:]}) == len(traces) - 1


def _trace(term: str) -> int:
    first, _, second = term.partition(" ")
    trace = 0
    for letter in first:
        trace = (trace << TRACE_SHIFT ^ ord(letter)) & TRACE_MASK
    return pair_trace(trace, _trace(second)) if second else trace


TERMS: Final = Terms(_all_terms())
