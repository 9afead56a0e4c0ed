"""The data of the report says what the fold did, at every budget."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from refold import Options, Session, compress
from refold.report import STEPS
from refold.report.data import ReportBuilder, share_out, utf16_len
from tests.cli.session import claude_code, codex
from tests.plan.runs import call, source_code


def run() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Fix the queue. 🙂"}]
    for n in range(12):
        messages += call(n, "read_file", {"path": f"src/mod{n}.py"}, source_code(n))
    return [*messages, {"role": "user", "content": "And now?"}]


def build(messages: list[dict[str, Any]], **choices: Any) -> dict[str, Any]:
    return ReportBuilder(messages, Options(**choices), None, None).fold(STEPS)


def test_every_step_is_the_fold_of_its_budget() -> None:
    messages = run()
    data = build(messages)
    assert [step["label"] for step in data["steps"]] == [f"{percent} %" for percent in STEPS]
    assert data["steps"][data["start"]]["label"] == "30 %"
    for step in data["steps"]:
        result = compress(messages, token_budget=step["budget"])
        assert step["tokens"] == result.tokens_after
        assert step["count"] == len(result.messages)
        assert step["fits"] == (result.fits is not False)
        assert sum(row["t"] for row in step["rows"]) == step["tokens"]
        assert len(step["rows"]) == len(data["messages"]) == len(messages)
    assert data["tokens"] == compress(messages).tokens_before
    json.dumps(data)


def test_the_page_opens_at_the_budget_that_was_chosen() -> None:
    for budget, label in (("40%", "40 %"), (1500, "1,500"), ("30%", "30 %")):
        data = build(run(), token_budget=budget)
        step = data["steps"][data["start"]]
        assert step["label"] == label
        result = compress(run(), token_budget=budget)
        assert (step["tokens"], step["budget"]) == (
            result.tokens_after,
            result.budget.token_budget if result.budget else None,
        )
        assert len(data["steps"]) == len(STEPS) + (budget != "30%")
        tokens = [step["tokens"] for step in data["steps"]]
        assert tokens == sorted(tokens, reverse=True)


def test_the_view_is_what_the_model_reads_from_top_to_bottom() -> None:
    data = build(run())
    for step in data["steps"]:
        sent = compress(run(), token_budget=step["budget"]).messages
        shown = [turn.get("x", data["messages"][turn["i"]]["texts"]) for turn in step["view"]]
        assert ["".join(texts) for texts in shown] == [m["content"] or "" for m in sent]
        assert sum(turn["t"] for turn in step["view"]) == step["tokens"]
        assert [turn["r"] for turn in step["view"]] == [m["role"] for m in sent]
        ends = [turn["p"] for turn in step["view"]]
        assert [first for first, _ in ends] == [0, *(last + 1 for _, last in ends[:-1])]


def test_what_repeats_an_earlier_message_says_so() -> None:
    messages = [*run()[:3], *call(90, "read_file", {"path": "again"}, source_code(0)), *run()[3:]]
    data = build(messages)
    for step in data["steps"]:
        words = [data["strings"][text["r"]] for text in step["rows"][4]["x"]]
        assert any(one.endswith("repeats message 2") for one in words)
    assert any(text == "dropped: repeats message 2" for text in data["strings"])


def test_a_view_of_a_session_is_shown_as_it_was_sent() -> None:
    session = Session(token_budget=500)
    session.extend(run())
    view = session.view()
    data = ReportBuilder(run(), Options(), None, None).show(session.wires, session.places)
    (step,) = data["steps"]
    assert (step["label"], step["budget"], step["count"]) == ("sent", None, len(view))
    assert step["tokens"] == session.report.tokens
    assert data["tokens"] == session.report.tokens_unfolded
    sent = {message["content"] for message in view if message["content"]}
    for place in session.places:
        texts = {text.get("o") for number in place for text in step["rows"][number]["x"]}
        actions = {step["rows"][number]["a"] for number in place}
        if len(place) > 1:
            assert actions == {"digested"}
            assert texts <= sent, "each message is shown beside all that stands for it"
        elif None not in texts:
            assert actions <= {"recoded", "excerpted"}
            assert texts <= sent
    assert any(len(place) > 1 for place in session.places)


def test_runs_tile_the_texts_as_javascript_counts() -> None:
    data = build(run())
    seen = 0
    for step in data["steps"]:
        for message, row in zip(data["messages"], step["rows"], strict=True):
            for place, text in enumerate(row["x"]):
                if "o" in text:
                    before = text.get("c", message["texts"][place] if message["texts"] else "")
                    assert sum(text["l"][::3]) == utf16_len(before)
                    assert sum(text["f"][::3]) == utf16_len(text["o"])
                    seen += 1
    assert seen > 20


def test_messages_tell_role_kind_tool_and_calls() -> None:
    first, asked, read, *_ = build(run())["messages"]
    assert (first["role"], first["kind"], first["tools"]) == ("user", "text", [])
    assert (asked["kind"], asked["tools"]) == ("tool call", ["read_file"])
    assert asked["calls"][0][0] == "read_file"
    assert (read["role"], read["kind"], read["tools"]) == ("tool", "code", ["read_file"])


def test_records_that_no_model_sees_are_left_out() -> None:
    for session in (claude_code(), codex()):
        records = [json.loads(line) for line in session.splitlines()]
        data = build(records)
        assert 8 <= len(data["messages"]) < len(records)
        numbers = [message["n"] for message in data["messages"]]
        assert numbers == sorted(set(numbers))


def test_the_models_of_a_session_come_first() -> None:
    records = [json.loads(line) for line in claude_code().splitlines()]
    records[4]["message"]["model"] = "claude-opus-4-6"
    records[6]["message"]["model"] = "<synthetic>"
    prices = build(records)["prices"]
    assert prices["own"] == ["claude-opus-4-6"]
    assert prices["models"][0][0] == "claude-opus-4-6"
    assert len(prices["models"]) > 4


def test_nothing_at_all() -> None:
    data = build([])
    assert data["messages"] == []
    assert [step["tokens"] for step in data["steps"]] == [0] * len(STEPS)


@given(st.integers(0, 10_000), st.lists(st.integers(0, 500), max_size=20))
def test_shares_add_up(total: int, weights: list[int]) -> None:
    parts = share_out(total, weights)
    assert len(parts) == len(weights)
    assert sum(parts) == (total if weights else 0)
    assert all(part >= 0 for part in parts)


@given(st.text())
def test_lengths_are_those_of_javascript(text: str) -> None:
    assert utf16_len(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2
