"""Cheaply rules out what a text cannot hold, from what each rule declares that it needs.

Most texts hold nothing of a kind, so a rule declares what every finding of it needs: a short shape
or one of a few words. That may let through what has no finding; it never rules one out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from refold.scan.view import TextView

Test = Callable[[TextView], bool]

_META: Final = re.compile(r"[][{}?\\.$]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a text must hold for a rule to find anything in it: one of the shapes or of the words.

    A rule that needs neither is asked about every text.
    """

    shapes: str = ""
    """A regular expression that is faster than the rule."""
    words: frozenset[bytes] = frozenset()
    """In lower case; in the text they may have any."""


def words_of(text: str) -> frozenset[bytes]:
    """Return the words of *text* as `Needs` takes them."""
    return frozenset(text.encode().split())


def make_test(needs: Needs) -> Test:
    """Make the test that a text must pass before the rule is asked."""
    if not needs.shapes:
        return _has_words(needs.words) if needs.words else lambda _: True
    has_shapes = _has_shapes(needs.shapes)
    if not needs.words:
        return has_shapes
    has_words = _has_words(needs.words)
    return lambda view: has_shapes(view) or has_words(view)


def _has_words(words: frozenset[bytes]) -> Test:
    return lambda view: not words.isdisjoint(view.words)


def _has_shapes(shapes: str) -> Test:
    if _META.search(shapes):
        search = re.compile(shapes).search
        return lambda view: search(view.text) is not None
    plain = shapes.split("|")  # a search for these is much faster than a pattern
    return lambda view: any(shape in view.text for shape in plain)
