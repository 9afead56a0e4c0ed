"""What the scanner has to know of characters and words to find names, as tables."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from refold.native import Names, Scanner
from refold.scan.patterns import (
    CONSONANTS,
    IDEOGRAPHS,
    LOWER,
    QUANTITY,
    STARTERS,
    UNIT_WORDS,
    UPPER,
    addresses_and_titles,
)

# Classes of characters, as in `csrc/names.h`; all beyond JOINT belong to words, as `\w` says.
JOINT: Final = 3
DIGIT: Final = 8
IDEOGRAPH: Final = 12
_SIGNS: Final = " 《・-vcVC0_éÉ字ſKw"
"""A sign for each class, which stands at the place of its number.

Nothing of a word, what opens titles, ideographs that are nothing of a word either, what joins the
parts of a path, small vowels and consonants, capital ones, digits, underscore, small and capital
letters beyond ASCII, ideographs, the two letters beyond ASCII that count as consonants, and what
else belongs to words.
"""
_ASCII_CLASSES: Final = {
    "-./": "-",
    "aeiouy": "v",
    CONSONANTS: "c",
    "AEIOUY": "V",
    CONSONANTS.upper(): "C",
    "0123456789": "0",
    "_": "_",
}
_CLASS_PATTERNS: Final = {
    r"\w++": "w",
    f"[{LOWER}]++": "é",
    f"[{UPPER}]++": "É",
    f"[{IDEOGRAPHS}]": "・",
    rf"[{IDEOGRAPHS}](?<=\w)": "字",
    "ſ": "ſ",
    "\u212a": "K",
    "[「『《]": "《",
}
"""The classes beyond ASCII; of several patterns that fit, the last one counts."""
TABLE_SIZE: Final = 0x3100
"""The characters up to kana have their classes in a table; beyond, there are few classes."""

# What a word is, as bits.
IS_PASCAL: Final = 1
IS_CAMEL: Final = 2
IS_SNAKE: Final = 4
IS_SHORT: Final = 8
IS_PROPER: Final = 16
IS_HALF_PROPER: Final = 32
"""It begins as a proper name does and goes on otherwise."""
ENDS_IN_IDEOGRAPH: Final = 64
"""No blank need follow: the next name may begin right behind it."""

OUTSIDE: Final = 0
"""The state in which no word has begun."""

_Automaton = dict[str, dict[str, str]]
"""From each state, by which signs to which state; with any other sign, the word is out of it."""
_OUT: Final = ""

_IDENTIFIER: Final[_Automaton] = {
    "start": {"vc": "small", "VC": "capital"},
    "small": {"vc0": "small", "VC": "camel", "_": "small_"},
    "camel": {"vcVC0": "camel"},
    "small_": {"vc0": "snake"},
    "snake": {"vc0": "snake", "_": "small_"},
    "capital": {"vc": "Small", "0": "Number", "VC": "CAPITALS", "_": "CAPITALS_"},
    "Small": {"vc0": "Small", "VC": "Pascal"},
    "Number": {"vc": "Small", "0": "Number", "VC": "P4SCAL", "_": "CAPITALS_"},
    "P4SCAL": {"VC0": "P4SCAL", "vc": "Pascal", "_": "CAPITALS_"},
    "Pascal": {"vcVC0": "Pascal"},
    "CAPITALS": {"VC0": "CAPITALS", "_": "CAPITALS_"},
    "CAPITALS_": {"VC0": "CONSTANT"},
    "CONSTANT": {"VC0": "CONSTANT", "_": "CAPITALS_"},
}
_SHORT: Final[_Automaton] = {
    "start": {"cCſK": "one"},
    "one": {"cCſK": "two"},
    "two": {"cCſK": "short"},
    "short": {"cCſK": "short"},
}
_PROPER: Final[_Automaton] = {
    "start": {"VCÉ": "capital"},
    "capital": {"vcéſ": "proper"},
    "proper": {"vcéſ": "proper", "VC0_É字Kw": "half proper"},
    "half proper": {_SIGNS: "half proper"},
}
_LAST: Final[_Automaton] = {
    "start": {"字": "ideograph"},
    "ideograph": {"字": "ideograph"},
    _OUT: {"字": "ideograph"},
}
_AUTOMATA: Final = (_IDENTIFIER, _SHORT, _PROPER, _LAST)
_MARKS: Final = {
    "Pascal": IS_PASCAL,
    "P4SCAL": IS_PASCAL,
    "camel": IS_CAMEL,
    "snake": IS_SNAKE,
    "CONSTANT": IS_SNAKE,
    "short": IS_SHORT,
    "proper": IS_PROPER,
    "half proper": IS_HALF_PROPER,
    "ideograph": ENDS_IN_IDEOGRAPH,
}


class NameTables(NamedTuple):
    """Classes of characters, and the automata as one that is in a state of each at once."""

    classes: bytes
    steps: bytes
    """`steps[16 * state + class]` is the next state."""
    marks: bytes
    """`marks[state]` is what the word is so far."""


@cache
def name_tables() -> NameTables:
    """Return the tables; they take about a millisecond to make."""
    return NameTables(_class_table(), *_state_tables())


def scanned_names(scanner: Scanner) -> Names:
    """Let the scanner find names, with all that it has to know."""
    rules = (QUANTITY.match, addresses_and_titles)
    return scanner.names(name_tables(), IDEOGRAPHS, rules, (STARTERS, UNIT_WORDS))


def _class_table() -> bytes:
    table = bytearray(TABLE_SIZE)
    characters = "".join(map(chr, range(TABLE_SIZE)))
    for pattern, sign in _CLASS_PATTERNS.items():
        for match in re.finditer(pattern, characters):
            start, end = match.span()
            table[start:end] = bytes([_SIGNS.index(sign)]) * (end - start)
    for members, sign in _ASCII_CLASSES.items():
        for char in members:
            table[ord(char)] = _SIGNS.index(sign)
    return bytes(table)


def _state_tables() -> tuple[bytes, bytes]:
    """Give numbers to the states that can be reached; spell out all steps and marks."""
    numbers = {("start",) * len(_AUTOMATA): OUTSIDE}
    steps = bytearray()
    marks = bytearray()
    for states in (reached := list(numbers)):
        marks.append(sum(_MARKS.get(state, 0) for state in states))
        for sign in _SIGNS:
            after = tuple(map(_step, _AUTOMATA, states, sign * len(_AUTOMATA)))
            if after not in numbers:
                numbers[after] = len(reached)
                reached.append(after)
            steps.append(numbers[after])
    return bytes(steps), bytes(marks)


def _step(automaton: _Automaton, state: str, sign: str) -> str:
    for signs, after in automaton.get(state, {}).items():
        if sign in signs:
            return after
    return _OUT
