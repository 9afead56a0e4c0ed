"""JSON in the plain spelling falls into whole records, rows, fields, lines and sentences."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pieces import pieces_of

from refold.codecs.json_data import CODEC, open_texts
from refold.kinds import kind_of

ITEMS = [
    {"name": f"Desk Lamp {n}", "item_id": str(4_385_534_692 + n), "price": 138.07 + n, "tags": {}}
    for n in range(12)
]
NOTE = "The lamp came broken. It was sent back.\nA new one is on its way."


def plain(value: object) -> str:
    text = json.dumps(value)
    return open_texts(text) or CODEC.encode(text) or text


def shown(text: str) -> list[str]:
    assert kind_of(text) == "json_records"
    return [text[piece.start : piece.end] for piece in pieces_of(text, "json_records")]


def test_records_of_an_object_are_whole() -> None:
    pieces = shown(plain({"name": "Lamp", "variants": {item["item_id"]: item for item in ITEMS}}))
    for item in ITEMS:
        (piece,) = (piece for piece in pieces if str(item["name"]) + '"' in piece)
        assert f"price:{item['price']}" in piece


def test_a_container_keeps_its_name() -> None:
    pieces = shown(plain({"order": "W1", "items": ITEMS, "paid": True}))
    assert any(piece.startswith("items:[") and "Desk Lamp 0" in piece for piece in pieces)


def test_rows_are_whole() -> None:
    rows = [{"city": f"Los Angeles {n}", "street": f"Mill Lane {n}", "zip": n} for n in range(9)]
    pieces = shown(plain({"places": rows}))
    for n in range(1, 9):
        assert any(f"Los Angeles {n}|Mill Lane {n}|{n}\n" in piece for piece in pieces)


def test_names_of_columns_are_worth_nothing_alone() -> None:
    text = plain({"places": [{"city": f"Town {n}", "zip": n} for n in range(30)], "paid": True})
    named = [p for p in pieces_of(text, kind_of(text)) if text[p.start :].startswith("rows of")]
    assert [piece.weight for piece in named] == [0]


def test_long_texts_fall_into_sentences_and_lines() -> None:
    sentence = "A long sentence tells of the way that the lamp took through the harbour. "
    pieces = shown(plain({"id": 7, "note": f"{sentence * 2}\n{NOTE}", "more": ITEMS}))
    assert pieces[1:3] == [f"note=<<END\n{sentence}", f"{sentence}\n"]
    assert any(piece.startswith(NOTE.split("\n", maxsplit=1)[0]) for piece in pieces)
    assert not any("\\n" in piece for piece in pieces)


def test_an_output_inside_a_frame_has_the_kind_of_the_output() -> None:
    hits = "".join(f"src/app/page{n}.ts:{n}:import {{ list }} from 'api';\n" for n in range(9))
    assert kind_of(plain({"output": hits, "metadata": {"exit_code": 0}})) == "search_hits"


def test_prose_inside_a_frame_leaves_the_fields_whole() -> None:
    told = "You can find it on the slip. It was sent by mail, too, and to the desk."
    text = plain({"message": "A sentence of the long message. " * 30, "hint": told})
    assert any(f'hint="{told}"' in piece for piece in shown(text))


@pytest.mark.parametrize("trouble", [{"status": "failed"}, {"error": "no coins"}])
def test_a_field_that_tells_of_trouble_is_a_must(trouble: dict[str, str]) -> None:
    text = plain({"items": ITEMS, "last": {"id": "3"} | trouble})
    (must,) = (piece for piece in pieces_of(text, "json_records") if piece.must)
    assert next(iter(trouble.values())) in text[must.start : must.end]


@given(
    st.recursive(
        st.one_of(st.text(), st.integers(), st.text(max_size=60).map(NOTE.__add__)),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner),
    )
)
def test_no_piece_ends_inside_a_quoted_text(value: object) -> None:
    text = plain([{"key": "x", "value": value}])
    outside = re.sub(r"(?s)<<(END|STOP|EOF|FIN)\n.*?\n\1", "", text)
    pieces = [text[piece.start : piece.end] for piece in pieces_of(text, "json_records")]
    for quoted in re.findall(r'"(?:[^"\\\n]|\\.)*"', outside):
        assert any(quoted in piece for piece in pieces)


@pytest.mark.parametrize(
    "unit",
    [
        *('"', '\\"', "\\", "{", "[", "}", "]", "a=", "a:", "a", " ", ",", "\n", '"a"=', "<<END\n"),
        *("rows of ", "\nrows of a:\n", "\nEND", "a=<<END\n", "a|b\n", "x. ", "{a=1}", "[{a=1}\n"),
    ],
)
def test_a_large_text_of_one_thing_is_cut_in_one_pass(unit: str) -> None:
    text = "{a=1 " + unit * (60_000 // len(unit))
    assert pieces_of(text, "json_records")[-1].end == len(text)


def test_what_opens_or_closes_a_text_is_no_piece_of_its_own() -> None:
    for note in (NOTE, "One line.\nAnother.", "\n"):
        pieces = shown(plain({"note": note, "id": 7}))
        assert not {"note=<<END", "END", "END}"} & {piece.strip() for piece in pieces}, pieces
