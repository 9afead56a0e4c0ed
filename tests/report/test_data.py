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
    assert [step["percent"] for step in data["steps"]] == list(STEPS)
    for step in data["steps"]:
        result = compress(messages, token_budget=step["budget"])
        assert step["tokens"] == result.tokens_after
        assert step["count"] == len(result.messages)
        assert step["fits"] == (result.fits is not False)
        assert sum(row["t"] for row in step["rows"]) == step["tokens"]
        assert len(step["rows"]) == len(data["messages"]) == len(messages)
    assert data["tokens"] == compress(messages).tokens_before
    json.dumps(data)


def test_a_view_of_a_session_is_shown_as_it_was_sent() -> None:
    session = Session(token_budget=500)
    session.extend(run())
    view = session.view()
    data = ReportBuilder(run(), Options(), None, None).show(session.wires, session.places)
    (step,) = data["steps"]
    assert (step["percent"], step["budget"], step["count"]) == (None, None, len(view))
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
