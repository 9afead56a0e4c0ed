"""Words and values: what is one, what it looks like, and that finding them takes linear time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.scan.items import Shape, find_items, part_words, shape_of


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("", []),
        (" \n\t ... --- ### ", []),
        ("open src/app/main.py:42 now", ["open", "src/app/main.py", "42", "now"]),
        ("cd ../../lib && ls ~/x", ["cd", "../../lib", "ls", "~/x"]),
        ("mail ann@example.org.", ["mail", "ann@example.org"]),
        ("order #W123, $45.60", ["order", "#W123", "$45.60"]),
        ("2026-11-15T10:00", ["2026-11-15T10", "00"]),
        ("user_id=7;maxRetries", ["user_id", "7", "maxRetries"]),
        ("v1.2.3+build-5", ["v1.2.3+build-5"]),
        ("数据库", ["数据", "据库"]),
        ("好", ["好"]),
        ("서울 시청역", ["서울", "시청", "청역"]),
        ("データベースを移行する", ["データベース", "移行"]),
        ("ID42番の注文", ["ID42", "注文"]),
        ("\ud83d broken \udfff", ["broken"]),
    ],
)
def test_items_are_found_in_reading_order(text: str, items: list[str]) -> None:
    assert find_items(text) == items


@pytest.mark.parametrize(
    ("item", "shape"),
    [
        ("src/app.py", Shape.PATH),
        ("1/2", Shape.NUMBER),
        ("a@b.org", Shape.EMAIL),
        ("#W123", Shape.ID),
        ("#todo", Shape.NONE),
        ("$45", Shape.NUMBER),
        ("$HOME", Shape.NONE),
        ("7", Shape.SMALL_NUMBER),
        ("443", Shape.NUMBER),
        ("3.14", Shape.NUMBER),
        ("1234567", Shape.LONG_NUMBER),
        ("2026-11-15", Shape.DATE),
        ("user_id", Shape.SNAKE),
        ("os.path", Shape.DOTTED),
        ("maxRetries", Shape.CAMEL),
        ("QueueServer", Shape.CAMEL),
        ("abc123", Shape.MIXED),
        ("x1", Shape.SHORT_MIXED),
        ("harbour", Shape.WORD),
        ("Maria", Shape.NAME),
        ("HTTP", Shape.UPPER),
        ("数据", Shape.CJK),
        ("好", Shape.NONE),
        ("the", Shape.NONE),
        ("The", Shape.NONE),
        ("ok", Shape.NONE),
        ("___", Shape.NONE),
        ("a" * 121, Shape.NONE),
    ],
)
def test_the_shape_of_an_item(item: str, shape: Shape) -> None:
    assert shape_of(item) is shape


def test_values_come_before_words() -> None:
    values = {shape for shape in Shape if shape < Shape.WORD}
    assert Shape.PATH in values
    assert Shape.SHORT_MIXED in values
    assert not values & {Shape.WORD, Shape.NAME, Shape.UPPER, Shape.CJK, Shape.NONE}


@given(st.text())
def test_every_item_stands_in_its_text(text: str) -> None:
    for item in find_items(text):
        assert item
        assert item in text


@given(st.text(st.one_of(st.sampled_from("a1#$@~./+-_ \n(),:;\"'é数かハ"), st.characters())))
def test_parting_the_words_moves_nothing_and_loses_no_item(text: str) -> None:
    parted = part_words(text)
    assert len(parted) == len(text)
    assert find_items(parted) == find_items(text)
    assert [item for word in parted.split() for item in find_items(word)] == find_items(text)


@given(st.text(st.sampled_from("a#$@~./+-_ 1é数かハ\ud800")))
def test_every_item_has_a_shape(text: str) -> None:
    for item in find_items(text):
        assert shape_of(item) in Shape


@pytest.mark.campaign
@pytest.mark.parametrize(
    "unit", [".", "/", "#", "@", "~.", "a.", "a-", "-", "_", "a@", "数", "か", "/a ", "é.", "...\n"]
)
def test_rows_of_signs_take_linear_time(unit: str) -> None:
    """With a step that is quadratic this would take minutes."""
    text = unit * (400_000 // len(unit))
    assert sum(map(len, find_items(text))) <= 2 * len(text)
    assert find_items(text + " end")[-1] == "end"
