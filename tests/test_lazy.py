"""Values that are worked out when somebody looks at them."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

from refold.lazy import Lazy, regex


def test_nothing_is_made_before_somebody_asks_and_then_once() -> None:
    made: list[str] = []

    def make() -> str:
        made.append("made")
        return "tide"

    later = Lazy(make)
    assert made == []
    assert later.get() == later.get() == "tide"
    assert made == ["made"]


def test_it_compares_prints_and_hashes_as_its_value() -> None:
    later = Lazy(lambda: "tide")
    assert later == Lazy.known("tide")
    assert later != Lazy.known("ebb")
    assert later != "tide"
    assert repr(later) == "'tide'"
    assert len({later, Lazy.known("tide")}) == 1


def test_copied_and_pickled_it_takes_its_value_along() -> None:
    later = Lazy(lambda: ["tide"])
    assert pickle.loads(pickle.dumps(later)).get() == ["tide"]
    copied = copy.deepcopy(later)
    assert copied == later
    assert copied.get() is not later.get()


def test_a_pattern_is_compiled_when_it_is_used() -> None:
    broken = regex("(tide")  # no error yet
    with pytest.raises(re.error):
        broken.search("the tide")


def test_a_pattern_does_what_a_compiled_one_does() -> None:
    later, now = regex("(?P<t>t)ide", re.IGNORECASE), re.compile("(?P<t>t)ide", re.IGNORECASE)
    text = "Tide and tide"
    assert later.pattern == now.pattern
    assert later.flags == now.flags
    assert later.groupindex == now.groupindex
    assert [one.span() for one in later.finditer(text)] == [(0, 4), (9, 13)]
    assert later.sub("ebb", text) == now.sub("ebb", text) == "ebb and ebb"
    assert copy.deepcopy(later).findall(text) == now.findall(text)
    assert pickle.loads(pickle.dumps(later)).fullmatch("TIDE")
