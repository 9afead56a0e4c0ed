"""Values that are worked out when somebody looks at them."""

from __future__ import annotations

import copy
import pickle

from refold.lazy import Lazy


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
