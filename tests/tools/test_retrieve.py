"""A model gets originals back by the handles it sees, whole or in part, word for word."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from refold import ConfigError, MemoryStore, Result, SqliteStore, StoreError
from refold.messages.manifest import Behind
from refold.messages.wire import digest
from refold.tools.retrieve import RetrieveTool, retrieve_tool
from refold.tools.tool import ToolCompressor
from tests.classic import Session, compress
from tests.conversation.driving import PROSE
from tests.conversations import Conversation

HANDLE = re.compile(r" \| #([a-z]{5,28})\]")
LOG = "\n".join(f"step {n}: {'FAILED badly' if n % 100 == 7 else 'ok'}" for n in range(1, 1_001))


def talk(*, ids: bool = False) -> Conversation:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages: Conversation = [
        {"role": "user", "content": "One. " + PROSE * 3},
        {"role": "user", "content": "Two. " + PROSE * 4},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Three. " + PROSE * 5},
        *({"role": "user", "content": f"ok {n}"} for n in range(4)),
    ]
    return [{"id": f"a{n}", **m} if ids else m for n, m in enumerate(messages)]


def handles(result: Result) -> list[str]:
    return HANDLE.findall(json.dumps(result.messages))


def body(answer: str) -> str:
    """Everything below the line that says what it is."""
    return answer.partition("\n")[2]


def tools(messages: Conversation, **choices: Any) -> tuple[Result, list[RetrieveTool]]:
    store = MemoryStore()
    result = compress(messages, store=store, **choices)
    return result, [
        retrieve_tool(result),
        retrieve_tool(result.verbatim),
        retrieve_tool(store, messages=result.messages),
    ]


def test_handles_are_found_in_results_mappings_and_stores() -> None:
    result, found = tools(talk())
    merged, single = handles(result)
    for tool in found:
        assert body(tool.call({"handle": f"#{single}"})) == "Three. " + PROSE * 5
        answer = tool.call({"handle": merged})
        assert answer.startswith(f"[original {merged}: 2 messages, ")
        assert "\nOne. " + PROSE * 3 + "\n\n[id m1-" in answer
        assert answer.endswith("\nTwo. " + PROSE * 4)


def test_a_handle_is_the_same_with_and_without_its_sign() -> None:
    messages: Conversation = [
        {"role": ("user", "assistant")[n % 2], "content": f"Of {n}. {PROSE * 3}"} for n in range(60)
    ]
    result, found = tools(messages)
    assert len(handles(result)) > 26  # so that one begins with any letter that another ends in
    for handle in handles(result):
        for tool in found:
            plain = tool.call({"handle": handle})
            assert body(tool.call({"handle": f"#{handle}"})) == body(plain)
            assert tool.call({"handle": f"#{handle}x"}) != plain


def test_the_first_line_says_what_it_is() -> None:
    result, (tool, _, by_store) = tools(talk())
    single = handles(result)[1]
    for asked in (tool, by_store):
        title = asked.call({"handle": single}).partition("\n")[0]
        assert re.fullmatch(
            rf"\[original {single}: id m3-\w{{8}}, role tool, tool read, "
            rf"1 line, {7 + 5 * len(PROSE)} chars\]",
            title,
        )


def test_a_pasted_tag_will_do() -> None:
    result, (tool, *_) = tools(talk())
    content = result.messages[0]["content"]
    for handle in (content, f"`#{handles(result)[0]}`", handles(result)[0].join("[]")):
        assert "One. " + PROSE in tool.call({"handle": handle})


@pytest.mark.parametrize("arguments", ['{"handle": "#HANDLE"}', "HANDLE", '"HANDLE"', "#HANDLE"])
def test_arguments_come_as_text_too(arguments: str) -> None:
    result, (tool, *_) = tools(talk())
    answer = tool.call(arguments.replace("HANDLE", handles(result)[1]))
    assert body(answer) == "Three. " + PROSE * 5
    assert asyncio.run(tool.acall(arguments.replace("HANDLE", handles(result)[1]))) == answer


def test_messages_with_ids_are_found_by_id_and_summary_id() -> None:
    result, found = tools(talk(ids=True), embed_summary_id=True)
    summary_id = re.findall(r"summary#(cce_sum_\w+)", json.dumps(result.messages))[0]
    for tool in (found[0], found[2]):
        assert "[original a1: id a1, role user" in tool.call({"handle": "a1"})
        assert body(tool.call({"handle": "a1"})) == "Two. " + PROSE * 4
        assert body(tool.call({"handle": "a6"})) == "ok 2"
        assert ": 2 messages" in tool.call({"handle": summary_id})
        assert ": 2 messages" in tool.call({"handle": summary_id.removeprefix("cce_sum_")[:8]})


def test_ids_made_from_content_are_found() -> None:
    result, found = tools([*talk()[:1], *talk()], recency_window=0)
    named = re.findall(r"dup of (m\d+-\w{8})", json.dumps(result.messages, ensure_ascii=False))
    assert named
    for tool in (found[0], found[2]):  # it was kept, so it is among the messages only
        assert body(tool.call({"handle": named[0]})) == "One. " + PROSE * 3


def test_originals_of_originals_come_unfolded() -> None:
    store = MemoryStore()
    once = compress(talk(), store=store)
    longer = [*once.messages, *({"role": "user", "content": f"Go {n}. {PROSE}"} for n in range(9))]
    twice = compress(longer, store=store, recency_window=0, compression_depth="aggressive")
    tool = retrieve_tool(store, messages=twice.messages)
    answers = [tool.call({"handle": handle}) for handle in handles(twice)]
    assert any("Go 3. " + PROSE in answer for answer in answers)
    assert not any("[summary" in answer for answer in answers)


def test_entries_added_later_are_found() -> None:
    session = Session(recency_window=1)
    tool = retrieve_tool(session.verbatim)
    assert "none is known" in tool.call("k3f9a2")
    session.extend(talk())
    (first, *_) = HANDLE.findall(json.dumps(session.refold()))
    assert "One. " + PROSE in tool.call(first)


def test_results_put_away_by_a_tool_compressor_are_found(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s.db") as store:
        short = ToolCompressor(max_bytes=500, store=store).compress(LOG)
        tool = retrieve_tool(store)
        answer = tool.call({"handle": short, "lines": "7-8"})
        assert f"role tool, 1000 lines, {len(LOG)} chars; lines 7-8]\n" in answer
        assert body(answer) == "step 7: FAILED badly\nstep 8: ok"


def mapping_tool(text: str, **choices: Any) -> RetrieveTool:
    return retrieve_tool({"m1": {"role": "user", "content": text}}, **choices)


@pytest.mark.parametrize(
    ("lines", "first", "last"),
    [("3-5", 3, 5), ("3", 3, 3), ("998-", 998, 1000), ("L3-L4", 3, 4), ("999-2000", 999, 1000)],
)
def test_a_range_of_lines(lines: str, first: int, last: int) -> None:
    answer = mapping_tool(LOG).call({"handle": "m1", "lines": lines})
    assert body(answer) == "\n".join(LOG.split("\n")[first - 1 : last])
    assert f"; lines {first}-{last}]" in answer


def test_a_query_searches_all_that_was_said() -> None:
    messages = talk()
    messages[3]["content"] = f"{PROSE * 3}\nThe anvil is in the northern bay.\n{PROSE * 3}"
    result, store = compress(messages), MemoryStore()
    named = compress(messages, store=store, conversation="ann")
    for tool in (
        retrieve_tool(result),
        retrieve_tool(store, messages=named.messages, conversation="ann"),
    ):
        answer = tool.call({"query": "Where is the anvil?"})
        assert answer.startswith("[message 4, result of read {}]\n")
        assert "The anvil is in the northern bay." in answer
    other = retrieve_tool(store, conversation="bob")
    assert "northern" not in other.call({"query": "anvil"})


def test_a_query_without_a_conversation_says_what_is_missing() -> None:
    answer = retrieve_tool(MemoryStore()).call({"query": "anvil"})
    assert answer.startswith("[retrieve_original: a query needs the conversation")


@given(st.lists(st.text("ab \r漢", max_size=9), min_size=1, max_size=40), st.integers(9, 60))
def test_answers_are_whole_lines_and_together_the_text(lines: list[str], most: int) -> None:
    tool = mapping_tool("\n".join(lines), max_tokens=most)
    gathered: list[str] = []
    while len(gathered) < len(lines):
        answer = tool.call({"handle": "m1", "lines": f"{len(gathered) + 1}-"})
        shown = body(answer)
        more = re.search(r"\n\[for more ask for lines \"(\d+)-\" of \d+\]\Z", shown)
        gathered += (shown[: more.start()] if more else shown).split("\n")
        assert more is None or int(more[1]) == len(gathered) + 1
    assert gathered == lines
    assert body(mapping_tool("\n".join(lines)).call("m1")) == "\n".join(lines)


def test_a_line_that_is_longer_than_an_answer_counts_as_several() -> None:
    tool = mapping_tool("x" * 50_000, max_tokens=500)
    gathered, first = "", 1
    for _ in range(100):
        answer = body(tool.call({"handle": "m1", "lines": f"{first}-"}))
        shown, _, more = answer.partition("\n[for more ask for lines ")
        assert len(shown) < 8_000
        gathered += shown.replace("\n", "")
        first += shown.count("\n") + 1
        if not more:
            break
    assert gathered == "x" * 50_000


def test_an_unknown_handle_names_near_ones() -> None:
    result, found = tools(talk())
    (first, _) = handles(result)
    wrong = first[:-1] + ("0" if first[-1] != "0" else "1")
    for tool in found:
        answer = tool.call({"handle": f"#{wrong}"})
        assert f"there is no original #{wrong}; similar: " in answer
        assert f"#{first[:5]}" in answer


def test_a_handle_that_may_mean_two_things_is_not_guessed() -> None:
    twins = ("m696", "m1333")  # found by trying: their handles begin the same
    originals = {id_: {"role": "user", "content": f"I am {id_}"} for id_ in twins}
    folds = [Behind.made((digest(wire),), (id_,)) for id_, wire in originals.items()]
    tool = retrieve_tool({**{one.fold: one.to_record() for one in folds}, **originals})
    answer = tool.call("#mhner")
    handles = re.findall(r"#(mhner[a-z]{23})", answer)
    assert "may be one of" in answer
    assert {body(tool.call(handle)) for handle in handles} == {f"I am {id_}" for id_ in twins}


def test_a_wrong_text_is_never_returned() -> None:
    result, _ = tools(talk())
    changed = {
        key: {**wire, "content": "forged"} if "content" in wire else wire
        for key, wire in result.verbatim.items()
    }
    answer = retrieve_tool(changed).call(handles(result)[0])
    assert "is known, but its text is no longer kept" in answer
    assert "forged" not in answer


def test_a_session_in_the_store_is_not_for_the_model() -> None:
    store = MemoryStore()
    session = Session(store=store)
    session.extend(talk())
    session.view()
    key = session.save(store)
    assert "there is no original" in retrieve_tool(store).call({"handle": key})


class BrokenStore:
    def put(self, entries: Mapping[str, Any]) -> None:
        raise StoreError("disk full")

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        raise StoreError("the file is gone")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "give a query"),
        ({"handle": ""}, "give a query"),
        ({"handle": "m1", "query": "two"}, "give a query"),
        ({"query": "two", "lines": "1-2"}, "lines go with a handle"),
        ({"handle": "m1", "search": "two"}, "there is no 'search': give a query"),
        ({"handle": 3}, "there is no original 3"),
        ({"handle": "m1", "lines": "all of them"}, "lines must be a range"),
        ({"handle": "m1", "lines": "70-80"}, "there are no lines 70-80; it has 2]"),
        ({"handle": "m1", "lines": "8-3"}, "there are no lines 8-3; it has 2]"),
        ("", "give a query"),
        ("[1, 2]", "there is no original"),
        ("x" * 100_000, "there is no original"),
    ],
)
def test_nothing_is_raised(arguments: Any, said: str) -> None:
    answer = mapping_tool("one\ntwo").call(arguments)
    assert said in answer
    assert len(answer) < 500


def test_a_broken_store_is_told() -> None:
    assert "the file is gone" in retrieve_tool(BrokenStore()).call("k3f9a2")


@given(
    st.dictionaries(
        st.sampled_from(("query", "handle", "lines", "start")),
        st.text(max_size=9) | st.integers() | st.none() | st.lists(st.integers(), max_size=2),
    )
    | st.text(max_size=30)
)
def test_no_arguments_are_too_strange(arguments: dict[str, Any] | str) -> None:
    assert mapping_tool("one\ntwo").call(arguments).startswith("[")


def test_messages_without_text_are_shown_as_data() -> None:
    image = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x"}}]}
    tool = retrieve_tool({"m1": image, "m2": talk()[2]})
    assert json.loads(body(tool.call("m1"))) == image
    assert body(tool.call("m2")) == "[call read {}]"


def test_the_schema_is_valid_for_the_vendors() -> None:
    from anthropic.types import ToolParam
    from openai.types.chat import ChatCompletionFunctionToolParam
    from openai.types.responses import FunctionToolParam

    types: dict[Any, Any] = {
        "openai": ChatCompletionFunctionToolParam,
        "openai_responses": FunctionToolParam,
        "anthropic": ToolParam,
    }
    for style, type_ in types.items():
        schema = retrieve_tool({}, style=style, name="fetch").schema
        TypeAdapter(type_).validate_python(schema, strict=True)
        assert json.loads(json.dumps(schema)) == schema
        inner = schema.get("function", schema)
        parameters = inner.get("parameters") or inner["input_schema"]
        assert inner["name"] == "fetch"
        assert set(parameters["properties"]) == {"query", "handle", "lines"}


@pytest.mark.parametrize(
    ("source", "choices", "said"),
    [
        (3, {}, "source must be a Result, mapping or store"),
        ({}, {"name": "no spaces"}, "name must be"),
        ({}, {"style": "gemini"}, "style must be one of"),
        ({}, {"max_tokens": 0}, "max_tokens must be a whole number"),
    ],
)
def test_what_can_never_work_is_refused(source: Any, choices: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        retrieve_tool(source, **choices)


def test_handles_are_the_same_in_every_run() -> None:
    first, second = (compress(talk()) for _ in range(2))
    assert handles(first) == handles(second)
    assert handles(first)


@pytest.mark.parametrize(
    "number",
    [10**5000, -(10**5000), [10**5000], True, 2.5, None, "9" * 5000],
    ids=["huge", "far below", "in a list", "true", "half", "none", "text"],
)
@pytest.mark.parametrize("name", ["lines", "query", "handle"])
def test_any_number_is_answered(name: str, number: object) -> None:
    answer = mapping_tool(LOG).call({name: number})
    assert answer.startswith("[")
    assert len(answer) < 20_000


@pytest.mark.parametrize("name", ["lines", "query"])
def test_a_number_that_nobody_can_spell_is_named(name: str) -> None:
    answer = mapping_tool(LOG).call({"handle": "m1", name: 10**5000})
    assert f"{name} must be a text" in answer
