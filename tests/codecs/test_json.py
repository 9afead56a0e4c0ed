"""JSON in the plain spelling: every document comes back, whatever its names and values."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.codecs.json_data import CODEC, open_texts
from refold.codecs.json_plain import LONG_TEXT, SHORT_LINES, is_long, read_plain, write_plain
from refold.codecs.json_tree import find_documents

TEXTS = st.one_of(
    st.text(max_size=12),
    st.text(st.sampled_from('a1 "{}[],=:|<>\\\n\t-.ENDé\u2028\x00'), max_size=12),
    st.sampled_from(
        ["", "1", "-0", "true", "null", "NaN", "<<END", "END", "a\nEND\nb", "x://y", "rows of"]
    ),
)
SCALARS = st.one_of(
    TEXTS, st.booleans(), st.none(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)
DOCUMENTS = st.one_of(
    st.lists(VALUES, min_size=1, max_size=5), st.dictionaries(TEXTS, VALUES, min_size=1, max_size=5)
)
NAMES = st.sampled_from(["id", "title", "state", "note"])
RECORDS = st.lists(st.dictionaries(NAMES, SCALARS, min_size=1), min_size=3, max_size=6)


def has_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


@given(st.one_of(DOCUMENTS, RECORDS), st.sampled_from([None, 2]), st.booleans())
def test_documents_come_back(value: object, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    new = CODEC.encode(text)
    if new is None:
        assert has_surrogate(json.dumps(value, ensure_ascii=False)) or "\nrows of " in text
        return
    assert CODEC.decode(new) == CODEC.normal(text)
    back = json.loads(CODEC.decode(new))
    assert back == value
    assert json.dumps(back) == json.dumps(value)  # the order of keys and the spelling of numbers


@given(DOCUMENTS)
def test_the_reader_ends_where_the_writer_did(value: object) -> None:
    (document,) = find_documents(json.dumps(value))
    plain = write_plain(document.value)
    assert read_plain(plain + "\nmore", 0) == (document.value, len(plain))


@given(DOCUMENTS, st.text(min_size=161), st.sampled_from(["text", "lines", "item"]))
def test_opened_texts_come_back(value: object, long: str, how: str) -> None:
    inner = {"text": long, "lines": {"a": f"{long}\n{long}"}, "item": [long, "END"]}[how]
    text = json.dumps([value, inner], ensure_ascii=False)
    opened = open_texts(text)
    if opened is None:
        assert has_surrogate(text) or "rows of " in text
    else:
        assert json.loads(CODEC.decode(opened)) == [value, inner]


def test_long_texts_are_opened() -> None:
    note = "Two lines are\nas they were, " + "word after word. " * 8
    assert open_texts(json.dumps({"id": 1, "note": note})) == f"{{id:1 note=<<END\n{note}\nEND}}"
    rows = [{"id": n, "note": note, "by": "Ann of the gate"} for n in range(4)]
    opened = open_texts(json.dumps(rows))
    assert opened is not None
    assert "rows of" not in opened


@pytest.mark.parametrize("text", ['{"id": 1, "note": "short\\nlines"}', "[1, 2]", "no JSON", ""])
def test_short_texts_stay_quoted(text: str) -> None:
    assert open_texts(text) is None


@pytest.mark.parametrize("opening", ["[", '{"a":', "[{"])
def test_deep_nesting_is_left_alone(opening: str) -> None:
    depth = 50_000
    closing = {"[": "]", '{"a":': "}", "[{": "}]"}[opening]
    text = opening * depth + closing * depth
    assert CODEC.encode(text) is None
    assert CODEC.normal(text) == text
    assert CODEC.decode(text) == text


def test_lists_nested_beyond_the_limit_are_left_alone() -> None:
    assert CODEC.encode("[" * 60 + "1" + "]" * 60) is None
    assert CODEC.encode("[" * 30 + "1" + "]" * 30) is not None


def test_constants_are_lifted_and_come_back_in_their_place() -> None:
    rows = [
        {"kind": "issue", "title": f"The number {n} of many words in a title", "open": True, "n": n}
        for n in range(5)
    ]
    new = CODEC.encode(json.dumps(rows))
    assert new is not None
    assert new.count("issue") == 1
    assert new.count("true") == 1
    assert json.dumps(json.loads(CODEC.decode(new))) == json.dumps(rows)


def test_values_keep_their_names_where_rows_have_few_words() -> None:
    rows = [{"seats": n, "price": n * 10} for n in range(5)]
    new = CODEC.encode(json.dumps(rows))
    assert new is not None
    assert new.count("seats") == 5


def test_rows_for_records_that_lack_names() -> None:
    rows: list[dict[str, object]] = [
        {"a": "one of the many long texts", "b": 1, "c": None},
        {"a": "two of the many long texts", "c": None},
        {"a": "three of the many long texts", "b": None},
    ]
    new = CODEC.encode(json.dumps(rows))
    assert new is not None
    assert "rows of" in new
    assert json.dumps(json.loads(CODEC.decode(new))) == json.dumps(rows)


def test_a_text_may_hold_many_brackets_without_a_document() -> None:
    log = "[INFO] {started}\n[2031-05-02 10:00:00] {x\n" * 20_000
    assert CODEC.encode(log) is None
    assert CODEC.decode(log) == log


def test_a_text_that_others_take_for_a_number_keeps_its_quotes_in_a_list() -> None:
    assert write_plain(["NaN", "-Infinity", "Nancy"]) == '["NaN", "-Infinity", Nancy]'
    assert write_plain({"name": "NaN"}) == "{name=NaN}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x" * LONG_TEXT, False),
        ("x" * (LONG_TEXT + 1), True),
        ("\n" + "x" * (SHORT_LINES - 1), False),
        ("\n" + "x" * SHORT_LINES, True),
    ],
    ids=["a line", "a longer line", "lines", "longer lines"],
)
def test_lines_are_long_earlier_than_one_line(text: str, expected: bool) -> None:
    assert is_long(text) is expected
