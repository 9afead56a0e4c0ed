"""Every pattern of the package can match, and none reads a part of a text again and again.

No possessive repeat eats what must follow it. No clock is asserted: texts are so long that a
quadratic step would take minutes, and such a test hangs for everybody to see.
"""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module

import pytest

import refold
from refold import retrieve_tool
from refold.classic.texts import View
from refold.detectors import DETECTORS
from refold.lazy import Regex
from refold.scan.values import Stated, values_of

_LETTERS = [chr(code) for code in range(0x20, 0x250)] + [*"\n\t“”„«»「」『』—…。！？中あ한"]
# A class or sign, repeated and never given back, and what comes right after: as it is written.
_EATEN = re.compile(
    r"(?<!\\)(\[(?:\\.|[^\]\\])++\]|\\[wWdDsS]|\.)[*+]\+(\\.|[^\\()|?*+{}$^\[])(?![?*{])"
)


def patterns() -> dict[str, str]:
    """Return every pattern that a module of the package holds, and where it is."""
    found: dict[str, str] = {}
    for module in pkgutil.walk_packages(refold.__path__, "refold."):
        if module.name.endswith("__main__"):
            continue
        try:
            held = vars(import_module(module.name))
        except ImportError:  # an extra that is not installed
            continue
        for name, value in held.items():
            is_text = isinstance(value, re.Pattern | Regex) and isinstance(value.pattern, str)
            if is_text:
                found.setdefault(value.pattern, f"{module.name}.{name}")
    return found


def eaten(pattern: str) -> list[str]:
    """Return the parts of *pattern* that can never match."""
    return [found[0] for found in _EATEN.finditer(pattern) if _eats(found[1], found[2])]


def _eats(repeated: str, after: str) -> bool:
    follows = [letter for letter in _LETTERS if re.fullmatch(after, letter)]
    return bool(follows) and all(re.fullmatch(repeated, letter) for letter in follows)


def test_no_repeat_eats_what_must_follow() -> None:
    assert [where for pattern, where in patterns().items() if eaten(pattern)] == []


@pytest.mark.parametrize("pattern", [r"FAILED \S++::", r"\w++_x", r"[^ab]++c", r"a.*+b"])
def test_a_pattern_that_can_never_match_is_found(pattern: str) -> None:
    assert eaten(pattern)


@pytest.mark.parametrize("pattern", [r"[^\s:]++::", r"\w++-", r"\S++ ", r"[ab]++c", r"\S*+\n"])
def test_a_pattern_that_can_match_is_not(pattern: str) -> None:
    assert not eaten(pattern)


LONG = 1_000_000


@pytest.mark.parametrize("text", ["7" * LONG, "7," * LONG, "7." * LONG, f"0.{'0' * LONG}"])
def test_numbers_without_end_are_read_once(text: str) -> None:
    units = next(one for one in DETECTORS if one.reason == "numeric_with_units")
    assert not units.finds(View(text))
    found = units.find(View(f"{text} 5 km"))
    assert not isinstance(found, bool)
    assert list(found) == [(len(text) + 1, len(text) + 5)]


@pytest.mark.parametrize(
    "lines", [f"1{' ' * LONG}x", f"{' ' * LONG}x", f"1-{' L' * LONG}x", f"1 to {' ' * LONG}-"]
)
def test_a_range_of_lines_is_read_once(lines: str) -> None:
    tool = retrieve_tool({"m": {"role": "user", "content": "one\ntwo"}})
    assert "lines must be a range" in tool.call({"handle": "m", "lines": lines})


@pytest.mark.campaign
def test_a_long_query_is_read_once() -> None:
    tool = retrieve_tool({"m": {"role": "user", "content": "a#" * LONG}})
    answer = tool.call({"query": "#a" * (LONG // 2) + "b"})
    assert answer.startswith("[nothing here has these words: ")


def test_a_number_with_blanks_is_read_once_by_the_checks() -> None:
    digits = "0" + "\u202f000" * (LONG // 4)
    stated = Stated(f"{digits}! From 12 to 40 ms.")
    assert all(map(stated.has, values_of("12 ms, 40 ms")))
