"""Every pattern of the package can match: no possessive repeat eats what must follow it."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import refold

_LETTERS = [chr(code) for code in range(0x20, 0x250)] + [*"\n\t“”„«»「」『』—…。！？中あ한"]
# A class or sign, repeated and never given back, and what comes right after: as it is written.
_EATEN = re.compile(
    r"(?<!\\)(\[(?:\\.|[^\]\\])++\]|\\[wWdDsS]|\.)[*+]\+(\\.|[^\\()|?*+{}$^\[])(?![?*{])"
)


def patterns() -> Iterator[Any]:
    """Yield every compiled pattern that a module of the package holds, once."""
    seen: set[str] = set()
    for module in pkgutil.walk_packages(refold.__path__, "refold."):
        if module.name.endswith("__main__"):
            continue
        try:
            held = vars(import_module(module.name))
        except ImportError:  # an extra that is not installed
            continue
        for name, value in held.items():
            is_text = isinstance(value, re.Pattern) and isinstance(value.pattern, str)
            if is_text and value.pattern not in seen:
                seen.add(value.pattern)
                yield pytest.param(value.pattern, id=f"{module.name}.{name}")


def eaten(pattern: str) -> list[str]:
    """Return the parts of *pattern* that can never match."""
    return [found[0] for found in _EATEN.finditer(pattern) if _eats(found[1], found[2])]


def _eats(repeated: str, after: str) -> bool:
    follows = [letter for letter in _LETTERS if re.fullmatch(after, letter)]
    return bool(follows) and all(re.fullmatch(repeated, letter) for letter in follows)


@pytest.mark.parametrize("pattern", [*patterns()])
def test_no_repeat_eats_what_must_follow(pattern: str) -> None:
    assert eaten(pattern) == []


@pytest.mark.parametrize("pattern", [r"FAILED \S++::", r"\w++_x", r"[^ab]++c", r"a.*+b"])
def test_a_pattern_that_can_never_match_is_found(pattern: str) -> None:
    assert eaten(pattern)


@pytest.mark.parametrize("pattern", [r"[^\s:]++::", r"\w++-", r"\S++ ", r"[ab]++c", r"\S*+\n"])
def test_a_pattern_that_can_match_is_not(pattern: str) -> None:
    assert not eaten(pattern)
