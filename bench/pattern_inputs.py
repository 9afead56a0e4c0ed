"""Texts that a regular expression may be slow on, derived from the expression itself.

What makes a pattern slow is a part that may be repeated and then does not lead to a match: it is
tried from each of its characters, or in each of its divisions. So every repeat is repeated, with
what leads up to it and with what comes close to a match; so is every character that the pattern
tells from others, alone and in pairs; so is every beginning of a text that matches.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

_USUAL: Final = (
    *"aZkT0_ \t\n\r.,:;-/\\\"'`<>()[]{}|@#$%&*+=~^!?",
    *("é", "ß", "ж", "漢", "。", "あ", "\u00a0", "\u0301", "…", "“", "\u212a", "\x00", "\x1b"),
)
_ENDS: Final = ("", "\x00", "\n", "!", "a", "0")
"""What may come after a run: nothing, or what seldom goes on with a match."""
_MOST_LETTERS: Final = 10
_MOST_WAYS: Final = 24
_REPEATS: Final = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_LONG: Final = 10
"""A repeat that may be so many times is worth an attack."""


@dataclass(frozen=True, slots=True)
class Input:
    """A text of any size: *unit* again and again, between *before* and *after*."""

    before: str
    unit: str
    after: str = ""

    def make(self, size: int) -> str:
        """Return it with about *size* characters."""
        return self.before + self.unit * (size // len(self.unit)) + self.after

    def __str__(self) -> str:
        shown = [repr(part[:40]) for part in (self.before, self.after)]
        return f"{shown[0]} + {self.unit[:40]!r} × n + {shown[1]}"


def derive(pattern: re.Pattern[Any], seed: int = 0) -> list[Input]:
    """Return the inputs that *pattern* gives rise to, each once."""
    source = pattern.pattern
    text = source.decode("latin-1") if isinstance(source, bytes) else source
    tree = parser.parse(text, pattern.flags & ~re.UNICODE & ~re.DEBUG)
    maker = _Maker(tree, seed)
    found = [*maker.runs(), *maker.repeats(), *maker.beginnings()]
    return list(dict.fromkeys(one for one in found if one.unit))


class _Maker:
    """Makes texts from the tree of a pattern."""

    def __init__(self, tree: Any, seed: int) -> None:
        self._tree = tree
        self._chance = random.Random(seed)
        self._letters = _letters_of(tree)

    def runs(self) -> Iterator[Input]:
        """Repeat each character that the pattern knows; change from one to another; pair them."""
        letters = self._letters[:_MOST_LETTERS]
        for one in letters:
            yield from (Input("", one, end) for end in _ENDS)
            yield Input("\n", one)
        for one in letters:
            for other in letters:
                if one != other:
                    yield Input("", one + other)
                    yield Input(one, other)
                    yield Input("", one, other)

    def repeats(self) -> Iterator[Input]:
        """Repeat what may be repeated, after what leads up to it."""
        ways = list(self._find_repeats(self._tree, ""))
        self._chance.shuffle(ways)
        for before, unit in ways[: 2 * _MOST_WAYS]:
            yield from (Input(before, unit, end) for end in _ENDS)
            yield Input("", before + unit)
            yield Input("", before + unit + "\n")
            yield Input("", before + unit + " ")

    def beginnings(self) -> Iterator[Input]:
        """Repeat texts that match, and what is missing only their end."""
        for _ in range(_MOST_WAYS // 4):
            whole = self._sample(self._tree)
            yield Input("", whole)
            yield Input("", whole + "\n")
            yield Input("", whole + " ")
            for end in sorted({len(whole) - 1, *self._chance.choices(range(len(whole) + 1), k=4)}):
                yield Input("", whole[:end])
                yield Input("", whole[:end] + "\n")
                yield Input("", whole[:end], whole[end:])

    def _find_repeats(self, tree: Iterable[Any], before: str) -> Iterator[tuple[str, str]]:
        for name, value in tree:
            for _ in range(2 if name in _REPEATS else 1):
                for inner in _inside(name, value):
                    yield from self._find_repeats(inner, before)
            if name in _REPEATS and value[1] >= _LONG:
                yield from ((before, self._sample(value[2])) for _ in range(3))
            before += self._sample([(name, value)])

    def _sample(self, tree: Iterable[Any]) -> str:
        """Return a text that these parts may match, what surrounds them left aside."""
        return "".join(self._sample_one(name, value) for name, value in tree)

    def _sample_one(self, name: Any, value: Any) -> str:
        if name is sre.LITERAL:
            return chr(value)
        if name in (sre.IN, sre.NOT_LITERAL, sre.ANY):
            fits = [one for one in self._letters if _is_in(name, value, one)]
            return self._chance.choice(fits) if fits else ""
        if name in _REPEATS:
            least, most, inner = value
            return "".join(self._sample(inner) for _ in range(min(max(least, 1), most)))
        if name in (sre.AT, sre.ASSERT, sre.ASSERT_NOT, sre.GROUPREF):
            return ""
        choices = _inside(name, value)
        return self._sample(self._chance.choice(choices)) if choices else ""


def _inside(name: Any, value: Any) -> Sequence[Any]:
    """Return the parts of a part."""
    if name is sre.BRANCH:
        parts: Sequence[Any] = value[1]
        return parts
    if name in _REPEATS:
        return [value[2]]
    if name is sre.SUBPATTERN:
        return [value[3]]
    if name is sre.ATOMIC_GROUP:
        return [value]
    if name in (sre.ASSERT, sre.ASSERT_NOT):
        return [value[1]]
    if name is sre.GROUPREF_EXISTS:
        return [part for part in value[1:] if part is not None]
    return []


def _letters_of(tree: Any) -> list[str]:
    """Return one character for each combination of the classes of a pattern that has one."""
    sets = list(_find_sets(tree))
    known = dict.fromkeys([*_mentioned(sets), *_USUAL])
    kinds: dict[tuple[bool, ...], str] = {}
    for one in known:
        kinds.setdefault(tuple(_is_in(name, value, one) for name, value in sets), one)
    return list(dict.fromkeys([*kinds.values(), *_USUAL]))[: max(len(kinds), _MOST_LETTERS)]


def _find_sets(tree: Any) -> Iterator[tuple[Any, Any]]:
    for name, value in tree:
        if name in (sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.ANY):
            yield name, value if name is not sre.IN else tuple(value)
        for inner in _inside(name, value):
            yield from _find_sets(inner)


def _mentioned(sets: Iterable[tuple[Any, Any]]) -> Iterator[str]:
    for name, value in sets:
        if name in (sre.LITERAL, sre.NOT_LITERAL):
            yield chr(value)
        elif name is sre.IN:
            for inner, what in value:
                if inner is sre.LITERAL:
                    yield chr(what)
                elif inner is sre.RANGE:
                    yield from map(chr, what)


def _is_in(name: Any, value: Any, one: str) -> bool:
    if name is sre.LITERAL:
        return one == chr(value)
    if name is sre.NOT_LITERAL:
        return one != chr(value)
    if name is sre.ANY:
        return one != "\n"
    return _is_in_set(tuple(value), one)


@lru_cache(maxsize=100_000)
def _is_in_set(parts: tuple[tuple[Any, Any], ...], one: str) -> bool:
    is_wanted, code = True, ord(one)
    for name, value in parts:
        if name is sre.NEGATE:
            is_wanted = False
        elif (
            (name is sre.LITERAL and code == value)
            or (name is sre.RANGE and value[0] <= code <= value[1])
            or (name is sre.CATEGORY and _CATEGORIES[value](one))
        ):
            return is_wanted
    return not is_wanted


def _is_word(one: str) -> bool:
    return one.isalnum() or one == "_"


_CATEGORIES: Final[dict[Any, Callable[[str], bool]]] = {
    sre.CATEGORY_DIGIT: str.isdecimal,
    sre.CATEGORY_NOT_DIGIT: lambda one: not one.isdecimal(),
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_NOT_SPACE: lambda one: not one.isspace(),
    sre.CATEGORY_WORD: _is_word,
    sre.CATEGORY_NOT_WORD: lambda one: not _is_word(one),
}
