"""What the scanner has to know to find sentences: the rules of this package as tables of bytes.

Numbers that only the scanner reads are those of `csrc/sentences.c`.
"""

from __future__ import annotations

from itertools import chain
from typing import Final

from refold.text.alphabet import code_ranges
from refold.text.scan import word_rows
from refold.text.sentence_rules import (
    ABBREVIATIONS,
    LIST_HEADS,
    LONGEST_LABEL,
    MARKS,
    MONTHS,
    PHRASE_LETTERS,
    PHRASE_STARTS,
    WRAPPED_FROM,
    goes_on,
    is_list_line,
)

_ASCII: Final = 128
_PHRASE: Final = 4
_LINE_BREAK: Final = 5
_END: Final = 6
_LOOK: Final = 7
_KIND: Final = 7
_CLOSES: Final = 4
_STARTS_PHRASE: Final = 64
_HEADS_LIST: Final = 128


def _mark_table() -> bytes:
    """Say what each character is: the kind of mark, and a bit for all else that it may be."""
    table = bytearray(0x10000)
    for kind, (marks, closers) in enumerate(MARKS, start=1):
        for mark in marks:
            table[ord(mark)] |= kind
        for closer in closers:
            table[ord(closer)] |= _CLOSES << kind
    for ranges, bit in ((PHRASE_LETTERS, _PHRASE), (PHRASE_STARTS, _STARTS_PHRASE)):
        for code in chain(*code_ranges(ranges)):
            table[code] |= bit
    for head in LIST_HEADS:
        table[ord(head)] |= _HEADS_LIST
    table[ord("\n")] |= _LINE_BREAK
    return bytes(table)


def _month_table() -> bytes:
    """Say with which characters a month begins."""
    table = bytearray(_ASCII)
    for month in MONTHS.split():
        table[ord(month[0])] = 1
    return bytes(table)


def _byte_table(marks: bytes) -> bytes:
    """Say what kind of mark each byte is; those beyond ASCII say nothing of their character."""
    table = bytearray(kind & _KIND for kind in marks[:_ASCII])
    table[0] = _END
    return bytes(table) + bytes([_LOOK]) * _ASCII


_MARKS: Final = _mark_table()

CUTTING: Final = (
    _byte_table(_MARKS),
    _MARKS,
    word_rows(dict.fromkeys(ABBREVIATIONS, 1)),
    _month_table(),
    bytes([LONGEST_LABEL, WRAPPED_FROM]),
    goes_on,
    is_list_line,
)
"""All that `scanner.sentences` goes by; what a table cannot say is asked of the rule itself."""
