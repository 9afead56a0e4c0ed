"""JSON as lines: every key and every value is there, in its order, wherever the JSON is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.codecs.records import encode, respell

words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=12)
scalars = st.none() | st.booleans() | st.integers() | words
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4)
)
rows = st.lists(
    st.dictionaries(st.sampled_from(("id", "state", "total", "note")), scalars, min_size=2),
    min_size=2,
    max_size=6,
)
ROWS = [
    {"crate": f"K{n}", "bay": n % 7, "state": "stored", "seal": f"S-{n * 37}"} for n in range(40)
]


def spelled(value: Any) -> Iterator[str]:
    """Yield the keys and values of *value* as a reader finds them."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from spelled(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from spelled(inner)
    elif isinstance(value, str):
        yield value
    else:
        yield json.dumps(value)


@given(values | rows, st.sampled_from((None, 2)), st.sampled_from(("", "Output: ", "$ q\n")))
def test_every_key_and_value_is_there(value: Any, indent: int | None, before: str) -> None:
    new = encode(before + json.dumps(value, ensure_ascii=False, indent=indent)) or ""
    for said in spelled(value) if new else ():
        assert said in new or json.dumps(said, ensure_ascii=False)[1:-1] in new


@given(rows)
def test_a_table_can_be_read_back(records: list[dict[str, Any]]) -> None:
    """From its header and its cells, without anything else."""
    new = encode(json.dumps(records, indent=4))
    if not new or not new.startswith("rows ("):
        return
    header, *lines = new.split("\n")
    names, _, shared = header.partition(" ")[2].partition(" ")[2][:-1].partition(", all ")
    keys = names.split("|")
    assert len(lines) == len(records)
    for line, record in zip(lines, records, strict=True):
        left = line
        for key in keys:
            if key in record:
                cell = json.dumps(record[key]) if not isinstance(record[key], str) else record[key]
                quoted = json.dumps(cell, ensure_ascii=False)
                found = next((c for c in (quoted, cell) if left.startswith(c)), None)
                found = found if found is not None else json.dumps(quoted, ensure_ascii=False)
                assert left.startswith(found)
                left = left[len(found) :]
            assert left[:1] in ("|", "")
            left = left[1:]
        assert not left
        for key in record:
            assert key in keys or f"{key}=" in shared


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("form", ["{}", "Output: {}", "<output>\n{}\n</output>", "{}\nexit 0"])
def test_a_table_is_found_where_it_is(indent: int | None, form: str) -> None:
    text = form.format(json.dumps(ROWS, indent=indent))
    new = encode(text)
    assert new is not None
    assert "rows (40) crate|bay|seal, all state=stored:\nK0|0|S-0\nK1|1|S-37\n" in new
    assert len(new) < 0.4 * len(text)


@pytest.mark.parametrize("indent", [None, 2])
def test_what_was_cut_off_loses_no_record(indent: int | None) -> None:
    text = json.dumps(ROWS, indent=indent)
    third = len(text) // 3
    for cut in (text[: 2 * third], f"{text[:third]}\n... [cut] ...\n{text[2 * third :]}"):
        new = encode(cut)
        assert new is not None
        assert len(new) < 0.5 * len(cut)
        for row in ROWS:
            assert (f'"{row["seal"]}"' in cut) <= (
                f"|{row['seal']}" in new or f'"{row["seal"]}"' in new
            )


def test_the_header_of_a_row_is_known() -> None:
    lines = respell(json.dumps({"orders": ROWS, "page": 1}))
    assert "K3|3|stored|S-111" in [line.text for line in lines or ()]
    assert lines is not None
    (head,) = [n for n, line in enumerate(lines) if line.text.startswith("orders (40)")]
    assert sum(line.head == head for line in lines) == 40
