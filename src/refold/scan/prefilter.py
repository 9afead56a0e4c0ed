"""Cheaply rules out what a text cannot hold, from what each rule declares that it needs.

Most texts hold nothing of a kind, so a rule declares what every finding of it needs: a short shape
or one of a few words. Both forms of the prefilter are derived from these declarations: plain Python
asks for each need in turn, the scanner finds all of them in one pass. Both may let through what has
no finding; neither ever rules one out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from struct import pack
from typing import Final

from refold.native import Scanner
from refold.scan.plain_bytes import DISGUISES
from refold.scan.runs import RunTest
from refold.scan.view import TextView

Path = tuple[frozenset[str], ...]
"""One way to spell a shape: the characters that may stand at each of its places."""
Test = Callable[[TextView], bool]

_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}
_ATOM: Final = re.compile(
    r"\[(?P<set>(?:\\[\Wnrt]|[^\]\\])++)\]|\\(?P<escape>[\Wnrt])|(?P<char>[^][\\|(){}?*+.^$])"
)
_REPEAT: Final = re.compile(r"\{(?P<times>[0-9]+)\}|(?P<maybe>\?)")
_RANGE: Final = re.compile(r"(?P<first>\\.|[^\\])(?:-(?P<last>\\.|[^\\]))?", re.DOTALL)
_MIN_RUN: Final = 8
"""Longer runs of one class are found faster as substrings of a mapped text than by a pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a text must hold for a rule to find anything in it: one of the shapes or of the words.

    A rule that needs neither is asked about every text.
    """

    shapes: str = ""
    """A regular expression of characters, sets like `[0-9a-f]`, `?`, `{20}` and `|`; no groups."""
    words: frozenset[bytes] = frozenset()
    """In lower case; in the text they may have any."""
    also: frozenset[bytes] = frozenset()
    """Other words that the rule asks `TextView.words` for."""

    def __post_init__(self) -> None:
        for word in self.words | self.also:
            if not (word.isalpha() and word.islower()):
                raise ValueError(f"a word must be of small ASCII letters, got {word!r}")
        read_shapes(self.shapes)


def words_of(text: str) -> frozenset[bytes]:
    """Return the words of *text* as `Needs` takes them."""
    return frozenset(text.encode().split())


def read_shapes(shapes: str) -> tuple[Path, ...]:
    """Return every way to spell one of *shapes*; `ValueError` for what is no such expression."""
    done: list[Path] = []
    paths: list[Path] = [()]
    place = 0
    while place < len(shapes):
        if shapes[place] == "|":
            done, paths, place = done + paths, [()], place + 1
            continue
        atom = _ATOM.match(shapes, place)
        if atom is None:
            raise ValueError(f"shapes hold no {shapes[place]!r}, got {shapes!r}")
        chars = _chars_of(atom)
        repeat = _REPEAT.match(shapes, atom.end())
        if repeat is None:
            paths = [(*path, chars) for path in paths]
        elif repeat["maybe"]:
            paths = [option for path in paths for option in (path, (*path, chars))]
        else:
            paths = [path + (chars,) * int(repeat["times"]) for path in paths]
        place = (repeat or atom).end()
    done = done + paths if shapes else []
    if not all(done):
        raise ValueError(f"a shape must need a character at least, got {shapes!r}")
    return tuple(done)


def _chars_of(atom: re.Match[str]) -> frozenset[str]:
    if atom["set"] is None:
        return frozenset(atom["char"] or _ESCAPES.get(atom["escape"], atom["escape"]))
    chars: set[str] = set()
    for found in _RANGE.finditer(atom["set"]):
        first = _unescaped(found["first"])
        last = first if found["last"] is None else _unescaped(found["last"])
        chars.update(map(chr, range(ord(first), ord(last) + 1)))
    return frozenset(chars)


def _unescaped(char: str) -> str:
    return _ESCAPES.get(char[1], char[1]) if char[0] == "\\" else char


def make_test(needs: Needs) -> Test:
    """Make the interpreted form of one declaration."""
    tests = [_has_words(needs.words)] if needs.words else []
    if needs.shapes:
        tests.append(_has_shapes(needs.shapes))
    if not tests:
        return lambda _: True
    if len(tests) == 1:
        return tests[0]
    first, second = tests
    return lambda view: first(view) or second(view)


def _has_words(words: frozenset[bytes]) -> Test:
    return lambda view: not words.isdisjoint(view.words)


def _has_shapes(shapes: str) -> Test:
    """Choose the fastest search: of substrings, of a long run in a mapped text, of a pattern."""
    paths = read_shapes(shapes)
    if all(len(chars) == 1 for path in paths for chars in path):
        return _has_any(["".join(map("".join, path)) for path in paths])
    if len(paths) == 1 and len(paths[0]) == 1:
        return _has_any(sorted(paths[0][0]))
    if len(paths) == 1 and len(paths[0]) >= _MIN_RUN and len(set(paths[0])) == 1:
        run = RunTest("".join(sorted(paths[0][0])), len(paths[0]))
        return lambda view: run.holds(view.plain)
    search = re.compile(shapes).search
    return lambda view: search(view.text) is not None


def _has_any(needles: Sequence[str]) -> Test:
    """Look for substrings: a hundred times cheaper than a pattern that finds nothing."""
    if len(needles) == 1:
        needle = needles[0]
        return lambda view: needle in view.text
    plain = [needle for needle in needles if needle.isascii()]

    def test(view: TextView) -> bool:
        text = view.text
        for needle in plain if text.isascii() else needles:  # noqa: SIM110 - `any` costs more
            if needle in text:
                return True
        return False

    return test


_LANE: Final = 64
"""Characters of shapes that one machine word follows."""
_CODES: Final = 0x10000
"""Characters beyond are emoji and rare scripts, and no shape names one."""
_FIRST_SYMBOL: Final = 129
"""128 stands for all characters beyond ASCII that no shape names."""
_ANYTHING: Final = 255
"""Stands for characters that count as ASCII letters where case is ignored: rules nothing out."""
# FNV-1a, as in `csrc/prefilter.c`: words are short, and it takes a step a letter.
_HASH_START: Final = 0xCBF29CE484222325
_HASH_FACTOR: Final = 0x100000001B3
_HASH_MASK: Final = (1 << 64) - 1
_SLOTS_PER_WORD: Final = 8
"""Most words of a text are none of those looked for, and meet a free slot at once."""


class Prefilter:
    """The compiled form of many declarations: one pass finds a bit for each shape and word.

    The numbers and the hash are those of `csrc/prefilter.c`.
    """

    def __init__(self, needs: Iterable[Needs], scanner: Scanner) -> None:
        declared = list(needs)
        paths = dict.fromkeys(path for one in declared for path in read_shapes(one.shapes))
        words = sorted(frozenset().union(*[one.words | one.also for one in declared]))
        self._scan = scanner.prefilter
        self._places, lanes = _pack_lanes(list(paths))
        self._symbols, self._lanes = _make_automaton(self._places, lanes)
        self._slots = _make_slots(words)
        self._words: Final = words
        self._first_word: Final = _LANE * lanes
        self._always: Final = 1 << self._first_word + len(words) + 8

    def scan(self, text: str) -> int:
        """Return a bit for each shape and word in *text*, and one that is always there."""
        found = self._scan(text, self._symbols, self._lanes, self._slots, len(self._words))
        return int.from_bytes(found, "little") | self._always

    def mask(self, needs: Needs) -> int:
        """Return the bits of which one at least must be there for a rule with these needs."""
        mask = 0
        for path in read_shapes(needs.shapes):
            mask |= 1 << self._places[path] + len(path) - 1
        for word in needs.words:
            mask |= 1 << self._first_word + self._words.index(word)
        return mask or self._always

    def words_in(self, bits: int) -> frozenset[bytes]:
        """Return the words that a scan has found."""
        left = bits >> self._first_word & (1 << len(self._words)) - 1
        found = []
        while left:
            lowest = left & -left
            found.append(self._words[lowest.bit_length() - 1])
            left ^= lowest
        return frozenset(found)


def _pack_lanes(paths: list[Path]) -> tuple[dict[Path, int], int]:
    """Return where each path begins, none across the end of a lane, and how many lanes it takes."""
    places: dict[Path, int] = {}
    used: list[int] = []
    for path in sorted(paths, key=len, reverse=True):
        if len(path) > _LANE:
            raise ValueError(f"a shape has {_LANE} characters at most, got {len(path)}")
        lane = next((n for n, size in enumerate(used) if size + len(path) <= _LANE), len(used))
        if lane == len(used):
            used.append(0)
        places[path] = lane * _LANE + used[lane]
        used[lane] += len(path)
    return places, len(used)


def _make_automaton(places: dict[Path, int], lanes: int) -> tuple[bytes, bytes]:
    """Return the symbol of each character, and for each lane its starts and what a symbol keeps."""
    by_char: dict[str, int] = {}
    starts = 0
    for path, start in places.items():
        starts |= 1 << start
        for place, chars in enumerate(path, start):
            for char in chars:
                by_char[char] = by_char.get(char, 0) | 1 << place
    symbols = bytearray([*range(128), *[128] * (_CODES - 128)])
    kept = [by_char.get(chr(code), 0) for code in range(128)] + [0] * 128
    numbers: dict[int, int] = {}
    for char, bits in sorted(by_char.items()):
        if not char.isascii():
            symbol = numbers.setdefault(bits, _FIRST_SYMBOL + len(numbers))
            if symbol >= _ANYTHING or ord(char) >= _CODES:
                raise ValueError(f"shapes name too many characters like {char!r}")
            symbols[ord(char)] = symbol
            kept[symbol] = bits
    for char, _ in DISGUISES:
        symbols[ord(char)] = _ANYTHING
    rows = [bits >> lane * _LANE & _HASH_MASK for lane in range(lanes) for bits in (starts, *kept)]
    return bytes(symbols), pack(f"={len(rows)}Q", *rows)


def _make_slots(words: list[bytes]) -> bytes:
    count = 1 << max(8, (_SLOTS_PER_WORD * len(words)).bit_length())
    slots = [(0, 0)] * count
    for number, word in enumerate(words, 1):
        hashed = _HASH_START
        for letter in word:
            hashed = (hashed ^ letter) * _HASH_FACTOR & _HASH_MASK
        at = hashed % count
        while slots[at][1]:
            at = (at + 1) % count
        slots[at] = hashed, number
    return pack(f"={2 * count}Q", *(value for slot in slots for value in slot))
