"""What is known of a history: told without a copy, and left as it was."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from refold.window.passes import Known, begins_with, may_begin_with


def history(turns: int) -> list[Any]:
    return [{"role": "user", "content": f"Turn {n}."} for n in range(turns)]


def change(told: list[Any]) -> None:
    told[2] = {"role": "user", "content": "Something else."}


def shorten(told: list[Any]) -> None:
    del told[4:]


def swap(told: list[Any]) -> None:
    told[1], told[2] = told[2], told[1]


@pytest.mark.parametrize("more", [0, 1, 7])
def test_a_history_that_goes_on_begins_with_what_is_known(more: int) -> None:
    told = history(5 + more)
    known = told[:5]
    assert may_begin_with(told, known)
    assert begins_with(told, known)
    assert known == told[:5]


@pytest.mark.parametrize("do", [change, shorten, swap])
def test_another_history_does_not(do: Callable[[list[Any]], None]) -> None:
    known = history(5)
    told = [*known, *history(2)]
    do(told)
    assert not begins_with(told, known)
    assert known == history(5)


def test_from_the_ends_it_may_go_on_unless_one_of_them_is_another() -> None:
    known = history(5)
    assert not may_begin_with(known, [])
    assert not may_begin_with(known[:4], known)
    assert not may_begin_with([*known[:4], dict(known[4])], known)
    assert not may_begin_with([dict(known[0]), *known[1:]], known)


def test_many_threads_with_histories_of_their_own_read_each_whole() -> None:
    known = Known()

    def read(number: int) -> bool:
        told: list[Any] = []
        for n in range(50):
            told.append({"role": "user", "content": f"Turn {n} of {number}."})
            wires, objects = known.read(told)
            if wires is not told or objects:
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(32)))
