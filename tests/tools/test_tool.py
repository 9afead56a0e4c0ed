"""Long results of tools are cut to size: JSON stays JSON, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import ConfigError, MemoryStore, StoreError
from refold.tools.text_store import anchor_of_text, text_key
from refold.tools.tool import MIN_BYTES, ToolCompressor, shorten, size
from tests.tools.managing import reencoded

LOG = "\n".join(f"10:{n // 60:02}:{n % 60:02} step {n} done" for n in range(600))
sizes = st.integers(MIN_BYTES, 1_500)
texts = st.lists(
    st.text(max_size=60)
    | st.sampled_from(("👩‍👩‍👧‍👦 é 数据库 ", "\n", "\r\n", "\ud800", "x" * 300)),
    max_size=80,
).map("".join)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=40)
    | st.integers(100, 900).map("é\n".__mul__),
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.lists(inner, min_size=1, max_size=3).map(lambda some: some * 25)
        | st.dictionaries(st.text(max_size=20) | st.just("…"), inner, max_size=8)
    ),
    max_leaves=12,
)


class BrokenStore:
    def put(self, entries: Mapping[str, Any]) -> None:
        raise StoreError("disk full")

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        return {}


def refuse(text: str) -> str:
    raise ConnectionError("no route")


@given(texts, sizes)
def test_any_text_fits_and_says_how_much_it_was(text: str, max_bytes: int) -> None:
    if size(text) <= max_bytes:
        return
    short = shorten(text, max_bytes, "k3f9a2b1c4d5")
    assert size(short) <= max_bytes
    assert re.search(r"\[shortened from [0-9,]+ bytes; whole text: #k3f9a2b1c4d5\]\Z", short)


def test_text_is_cut_between_lines_and_keeps_its_errors() -> None:
    log = LOG.replace("step 300 done", "ERROR step 300 failed: the disk is full")
    *shown, _ = ToolCompressor(max_bytes=1_000).compress(log).split("\n")
    kept = [line.removeprefix("… ") for line in shown]
    assert set(kept) <= set(log.split("\n"))
    assert kept == sorted(kept, key=log.split("\n").index)
    assert "10:05:00 ERROR step 300 failed: the disk is full" in kept


def test_one_long_line_is_cut_inside() -> None:
    short = ToolCompressor(max_bytes=1_000).compress("x" * 90_000)
    assert 700 < size(short) <= 1_000


@given(values, sizes)
def test_json_stays_json_and_fits(value: Any, max_bytes: int) -> None:
    compressor = ToolCompressor(max_bytes=max_bytes)
    spelled = json.dumps(value, indent=2)
    for given_value in (spelled,) if isinstance(value, str) else (value, spelled):
        short = compressor.compress(given_value)
        if compressor.should_compress(given_value):
            assert isinstance(short, str)
            assert size(short) <= max_bytes
            assert type(json.loads(short)) is type(value) or not isinstance(value, dict | list)
        else:
            assert short is given_value


@given(values, sizes)
def test_the_same_again_is_the_same_and_short_enough(value: Any, max_bytes: int) -> None:
    first, second = (ToolCompressor(max_bytes=max_bytes, store=MemoryStore()) for _ in range(2))
    short = first.compress(value)
    assert second.compress(value) == short
    assert first.compress(short) == short


def test_what_can_be_said_shorter_loses_nothing() -> None:
    text = "\n".join(f"{number:>9}→crate {number} of the ship" for number in range(1, 200))
    store = MemoryStore()
    short = ToolCompressor(max_bytes=5_500, store=store).compress(text)
    recoded, _, note = short.rpartition("\n")
    assert recoded == reencoded(text)
    assert note == f"[whole text: #{anchor_of_text(text)}]"
    assert size(short) <= 5_500 < size(text)


def test_what_fits_without_white_space_loses_nothing() -> None:
    text = "{\n" + " " * 400 + '"a": 1.10, "a": 2, "b": 123456789012345678901234567890}'
    assert shorten(text, MIN_BYTES) == '{"a":1.10,"a":2,"b":123456789012345678901234567890}'


def test_marks_say_how_much_is_left_out() -> None:
    short = json.loads(shorten(json.dumps({"rows": list(range(5_000)), "n": 5_000}), 600, "abc"))
    assert short["n"] == 5_000
    (mark,) = [item for item in short["rows"] if isinstance(item, str)]
    assert mark == f"… {5_000 - len(short['rows']) + 1} more items"
    assert short["rows"][0] == 0
    assert short["rows"][-1] == 4_999
    assert short["…"] == "[shortened from 29,000 bytes; whole text: #abc]"


def test_short_lists_stay_whole_beside_a_long_string() -> None:
    value = {"names": [f"name {n}" for n in range(40)], "body": "word " * 4_000}
    short = json.loads(ToolCompressor(max_bytes=2_000).compress(json.dumps(value)))
    assert short["names"] == value["names"]
    assert len(short["body"]) > 500


@pytest.mark.parametrize(
    "text",
    [
        "[" * 400 + "]" * 400,
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 300 + "1" + "}" * 300,
        "9" * 2_000,
        "9" * 9_000,
        "null" + " " * 900,
        json.dumps({"k" * 900: 1, "l" * 900: 2}),
        json.dumps("\x00" * 900),
        json.dumps(["\x00" * 900] * 900),
        json.dumps({"…": "…" * 900, "……": 1}, ensure_ascii=False),
    ],
)
def test_strange_json_fits_too(text: str) -> None:
    short = ToolCompressor(max_bytes=MIN_BYTES, store=MemoryStore()).compress(text)
    assert size(short) <= MIN_BYTES
    try:
        json.loads(text)
    except (RecursionError, ValueError):
        return
    json.loads(short)


def test_bytes_are_bytes() -> None:
    compressor = ToolCompressor(max_bytes=300)
    assert not compressor.should_compress("x" * 300)
    assert compressor.should_compress("é" * 151)
    assert compressor.compress("é" * 150) == "é" * 150


circular: list[Any] = ["x" * 9_000]
circular.append(circular)


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        "short",
        {"a": 1},
        circular,
        {"x": object(), "y": "z" * 9_000},
        {("a", "b"): "z" * 9_000},
        b"x" * 9_000,
        ValueError("x" * 9_000),
        {"is_error": True, "content": "x" * 9_000},
        {"error": "x" * 9_000},
        {"success": False, "log": "x" * 9_000},
        "Error: " + "x" * 9_000,
        json.dumps({"exit_code": 2, "out": "x" * 9_000}),
        "Traceback (most recent call last):\n" + "x\n" * 9_000,
    ],
)
def test_what_is_short_failed_or_not_data_is_untouched(value: object) -> None:
    compressor = ToolCompressor()
    assert not compressor.should_compress(value)
    assert compressor.compress(value) is value
    assert asyncio.run(compressor.acompress(value)) is value
    assert compressor.stats.compressed == 0


@dataclass
class Row:
    id: UUID
    when: datetime
    price: Decimal
    tags: frozenset[str]


class Page(pydantic.BaseModel):
    rows: list[str]


ROW = Row(UUID(int=7), datetime(2024, 3, 14, 9), Decimal("12.50"), frozenset({"b", "a"}))


@pytest.mark.parametrize("value", [[ROW] * 100, {"page": Page(rows=["a row of a page"] * 900)}])
def test_rows_and_objects_with_fields_are_data(value: Any) -> None:
    compressor = ToolCompressor(max_bytes=2_000)
    short = compressor.compress(value)
    assert isinstance(short, str)
    assert len(short.encode()) <= 2_000
    json.loads(short)
    assert asyncio.run(compressor.acompress(value)) == short


def test_a_row_is_spelled_as_it_reads() -> None:
    short = ToolCompressor(max_bytes=2_000).compress([ROW] * 100)
    assert isinstance(short, str)
    assert json.loads(short)[0] == {
        "id": "00000000-0000-0000-0000-000000000007",
        "when": "2024-03-14 09:00:00",
        "price": "12.50",
        "tags": ["a", "b"],
    }


def test_an_object_that_breaks_when_it_is_read_fails_no_tool() -> None:
    class Broken:
        def model_dump(self, mode: str) -> object:
            raise RuntimeError("no")

    value = [Broken()]
    assert ToolCompressor().compress(value) is value


def test_an_object_by_itself_keeps_its_type() -> None:
    page = Page(rows=["a row of a page"] * 900)
    assert ToolCompressor().compress(page) is page


@pytest.mark.parametrize("value", [LOG, {"rows": [{"n": n} for n in range(3_000)]}])
def test_the_whole_is_in_the_store(value: Any) -> None:
    store = MemoryStore()
    whole = value if isinstance(value, str) else json.dumps(value)
    short = ToolCompressor(store=store).compress(value)
    handle = anchor_of_text(whole)
    assert f"#{handle}" in short
    (entry,) = store.get([text_key(handle)]).values()
    assert entry == {"role": "tool", "content": whole}


def test_what_cannot_be_put_away_stays_whole() -> None:
    compressor = ToolCompressor(store=BrokenStore())
    assert compressor.compress(LOG) is LOG
    assert compressor.stats.failures == 1
    assert "disk full" in compressor.stats.last_failure


def test_a_summary_is_used_if_it_passes_the_gates() -> None:
    text = "The archive was copied to the vault and nothing else happened there.\n" * 200
    summary = "The archive was copied to the vault and nothing else happened there."
    compressor = ToolCompressor(strategy="summarize", summarize=lambda _: summary)
    short = compressor.compress(text)
    assert short == f"{summary} [summarized from 14,000 bytes]"
    assert asyncio.run(compressor.acompress(text)) == short
    assert compressor.stats.summarized == 2
    assert compressor.stats.bytes_saved == 2 * (size(text) - size(short))


@pytest.mark.parametrize("answer", [refuse, lambda _: "", lambda _: LOG * 2, lambda _: 3])
def test_a_useless_summarizer_never_fails_the_tool(answer: Any) -> None:
    compressor = ToolCompressor(strategy="summarize", summarize=answer)
    assert compressor.compress(LOG) == ToolCompressor().compress(LOG)
    assert compressor.stats.failures == 1
    assert compressor.stats.last_failure
    assert compressor.stats.summarized == 0


def test_an_asynchronous_summarizer_works_from_both_sides() -> None:
    async def summarize(text: str) -> str:
        return "Nothing of note happened."

    async def inside() -> tuple[str, str]:
        return compressor.compress(text), await compressor.acompress(text)

    text = "Nothing of note happened. It really did not.\n" * 300
    compressor = ToolCompressor(strategy="summarize", summarize=summarize)
    sync, other = asyncio.run(inside())
    assert sync == other == compressor.compress(text)


def test_tools_can_be_wrapped() -> None:
    compressor = ToolCompressor(max_bytes=500)

    @compressor.wrap
    def read(path: str) -> str:
        """Read a file."""
        return LOG if path == "log" else "small"

    @compressor.awrap
    async def fetch(path: str) -> str:
        return read.__wrapped__(path)  # type: ignore[attr-defined, no-any-return]

    @compressor.wrap
    def fail() -> str:
        raise KeyError("x" * 900)

    assert read("other") == "small"
    assert size(read("log")) <= 500
    assert read.__name__ == "read"
    assert read.__doc__ == "Read a file."
    assert asyncio.run(fetch("log")) == read("log")  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        fail()
    assert compressor.stats.results == 4
    with pytest.raises(ConfigError, match="awrap"):
        compressor.wrap(fetch)

    class Tool:
        async def __call__(self) -> str:
            return LOG

    with pytest.raises(ConfigError, match="awrap"):
        compressor.wrap(Tool())


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"max_bytes": 10}, "max_bytes must be a whole number, 256 or more; got 10"),
        ({"max_bytes": "8000"}, "max_bytes"),
        ({"strategy": "cut"}, "strategy must be one of truncate, summarize"),
        ({"strategy": "summarize"}, "belong together"),
        ({"summarize": refuse}, "belong together"),
        ({"strategy": "summarize", "summarize": 3}, "summarizer must be"),
        ({"store": {}}, "store must have"),
    ],
)
def test_what_can_never_work_is_refused(choices: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        ToolCompressor(**choices)
