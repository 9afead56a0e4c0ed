"""Names found by the scanner: the same as by the patterns, whatever the text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.native import Names
from refold.scan.entities import PatternNames
from refold.scan.name_tables import name_tables, scanned_names
from refold.scan.patterns import QUANTITY
from tests.native import needs_scanner, the_scanner
from tests.scan.named_texts import PIECES, named_texts

pytestmark = needs_scanner

BLOCK = 64
"""So many characters are read at a time."""


@pytest.fixture(scope="module")
def scanned() -> Names:
    """One finder for all tests of this module: what it remembers must not matter."""
    return scanned_names(the_scanner())


def by_patterns(text: str) -> tuple[str, ...]:
    return PatternNames().find(text)


@settings(max_examples=100)
@given(text=named_texts())
def test_the_same_names_are_found(scanned: Names, text: str) -> None:
    assert scanned.find(text) == by_patterns(text)


@pytest.mark.parametrize("first", PIECES)
def test_the_same_names_are_found_in_every_two_pieces(scanned: Names, first: str) -> None:
    for second in PIECES:
        text = first + second
        assert scanned.find(text) == by_patterns(text), text


@settings(max_examples=100)
@given(text=named_texts(), before=st.integers(BLOCK - 12, 2 * BLOCK), sign=st.sampled_from("x .分"))
def test_names_may_lie_across_blocks(scanned: Names, text: str, before: int, sign: str) -> None:
    far = sign * before + text + sign * before + text
    assert scanned.find(far) == by_patterns(far)


@pytest.mark.parametrize(
    "piece", ["Aa ", "aA", "x", "b", "a.", "1.", "1,", "a/", "A_", "\0", "字1"]
)
@pytest.mark.parametrize("length", [*range(BLOCK - 3, BLOCK + 4), 5 * BLOCK, 1_000])
def test_long_runs(scanned: Names, piece: str, length: int) -> None:
    run = (piece * length)[:length]
    for text in (run, f"{run} {run}", f"{run}b c", f"A{run}.py", f"{run}5ms"):
        assert scanned.find(text) == by_patterns(text), text


def test_every_character_is_read_as_the_patterns_read_it(scanned: Names) -> None:
    for code in (
        *range(0x600),
        *range(0x2000, 0x2200),
        *range(0x3000, 0x3410),
        *range(0x4DB0, 0x4E10),
        *range(0x9FF0, 0xA010),
        *range(0xD7A0, 0xD800),
        *range(0xF8F0, 0x10000),
        *range(0x10000, 0x110000, 997),
    ):
        char = chr(code)
        text = (
            f"a{char}B Xy{char}z Ab{char} {char}b 5{char} x.a{char} {char}5 ms m{char}mm 5 m{char}"
        )
        assert scanned.find(text) == by_patterns(text), text


def test_a_name_that_comes_again_is_the_same_string(scanned: Names) -> None:
    first, second = scanned.find("getTide in Kraków"), scanned.find("Kraków has getTide")
    assert {id(name) for name in first} == {id(name) for name in second}


def test_more_names_than_there_was_room_for(scanned: Names) -> None:
    text = " ".join(f"item_{number % 5_000} it" for number in range(10_000))
    assert scanned.find(text) == tuple(f"item_{number}" for number in range(5_000))


@settings(max_examples=100)
@given(
    said=st.lists(named_texts(), max_size=5),
    shown=st.lists(named_texts(), max_size=5),
    places=st.lists(st.integers(0, 3), min_size=5, max_size=5),
)
def test_names_are_traced_alike(
    scanned: Names, said: list[str], shown: list[str], places: list[int]
) -> None:
    there, again = [*map(scanned.find, said)], [*map(scanned.find, [*shown, *said][: len(shown)])]
    said_in, shown_in = places[: len(there)], places[::-1][: len(again)]
    expected = PatternNames().count_survivors(there, said_in, again, shown_in)
    assert scanned.count_survivors(there, said_in, again, shown_in) == expected


def test_what_is_handed_over_is_checked() -> None:
    tables, rules, words = name_tables(), (None, None), ((), ())
    make: Any = the_scanner().names
    make(tables, "a-z", rules, words)
    for wrong in (
        ((b"", tables.steps, tables.marks), "a-z", rules, words),
        ((tables.classes, tables.steps[1:], tables.marks), "a-z", rules, words),
        ((tables.classes, b"\xff" * len(tables.steps), tables.marks), "a-z", rules, words),
        ((tables.classes, b"", b""), "a-z", rules, words),
        (tables, "a-", rules, words),
        (tables, "a-z" * 9, rules, words),
        (tables, "a-z", rules, (("é",), ())),
        (tables, "a-z", rules, ((), (5,))),
    ):
        with pytest.raises((TypeError, ValueError)):
            make(*wrong)


def test_a_failing_rule_is_not_swallowed() -> None:
    def fail(text: str) -> tuple[list[str], list[str]]:
        raise LookupError(text)

    names: Any = the_scanner().names(name_tables(), "", (QUANTITY.match, fail), ((), ()))
    assert names.find("Pavel") == ("Pavel",)
    with pytest.raises(LookupError):
        names.find("see a://b")


@pytest.mark.parametrize("answer", [None, (), ([], None), ([5], [])])
def test_odd_answers_of_a_rule_are_refused(answer: Any) -> None:
    make: Any = the_scanner().names
    names = make(name_tables(), "", (None, lambda _: answer), ((), ()))
    with pytest.raises(TypeError):
        names.find("a://b")
    with pytest.raises(TypeError):
        names.find("5é")


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        ([], [], []),
        ((), [], [], []),
        ([()], [], [], []),
        ([()], [-1], [], []),
        ([()], [1 << 40], [], []),
        ([()], [1 << 80], [], []),
        ([()], [None], [], []),
        ([["a"]], [1], [], []),
        ([], [], [()], []),
    ],
)
def test_only_lists_of_tuples_are_traced(scanned: Names, wrong: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)):
        scanned.count_survivors(*wrong)
