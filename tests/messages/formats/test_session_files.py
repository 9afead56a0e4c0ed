"""Session files of coding agents: only turns are folded, every record comes back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.classic import compress
from tests.messages.formats.test_anthropic import THINKING, answer, use
from tests.messages.formats.test_openai_chat import OTHER, PROSE, fold, text


def turn(role: str, content: Any, number: int, **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "s-1",
        "type": role,
        "message": {"role": role, "content": content},
        "uuid": f"u{number}",
        "timestamp": f"2025-01-01T00:00:{number:02}Z",
        **more,
    }


CLAUDE_CODE: list[dict[str, Any]] = [
    {"type": "summary", "summary": PROSE, "leafUuid": "u9"},
    turn("user", PROSE, 0, cwd="/srv/shop"),
    turn("assistant", [THINKING, text("Looking."), use("t1")], 1, requestId="r1"),
    turn("user", [answer("t1", OTHER)], 2, toolUseResult={"stdout": OTHER, "interrupted": False}),
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {"files": [PROSE]}},
    turn("assistant", [text(PROSE + OTHER)], 3),
    turn("user", OTHER + PROSE, 4),
    turn("user", PROSE + PROSE + OTHER, 5),
]


def test_claude_code_turns_are_folded() -> None:
    result = fold(*CLAUDE_CODE)
    assert len(result.messages) == len(CLAUDE_CODE)
    assert result.messages[1]["message"]["content"].startswith("[summary: ")
    assert result.messages[3]["message"]["content"][0]["content"].startswith("[summary: ")
    assert result.messages[3]["message"]["content"][0]["tool_use_id"] == "t1"
    assert result.messages[5]["message"]["content"][0]["text"].startswith("[summary: ")


def test_claude_code_records_that_are_no_turns_are_untouched() -> None:
    result = fold(*CLAUDE_CODE)
    for place in (0, 2, 4):
        assert result.messages[place] == CLAUDE_CODE[place]


def test_claude_code_records_keep_everything_around_the_text() -> None:
    result = fold(*CLAUDE_CODE)
    for before, after in zip(CLAUDE_CODE, result.messages, strict=True):
        assert list(after) == list(before)
        assert {**after, "message": None} == {**before, "message": None}


def test_claude_code_recency_counts_turns() -> None:
    trailing = [{"type": "summary", "summary": "x", "leafUuid": "u"}] * 5
    result = fold(*CLAUDE_CODE, *trailing, recency_window=1)
    assert result.messages[7] == CLAUDE_CODE[7]
    assert result.messages[6] != CLAUDE_CODE[6]


def test_claude_code_records_that_are_no_turns_cost_nothing() -> None:
    turns = [record for record in CLAUDE_CODE if "message" in record]
    assert compress(CLAUDE_CODE).tokens_before == compress(turns).tokens_before


def item(payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "2025-01-01T00:00:00Z", "type": "response_item", "payload": payload}


CODEX: list[dict[str, Any]] = [
    {"timestamp": "t", "type": "session_meta", "payload": {"id": "s", "instructions": PROSE}},
    item({"type": "message", "role": "user", "content": [{"type": "input_text", "text": PROSE}]}),
    item({"type": "reasoning", "summary": [], "encrypted_content": "Z" * 300}),
    item({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"}),
    item({"type": "function_call_output", "call_id": "c1", "output": OTHER}),
    item({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c2"}),
    item(
        {
            "type": "function_call_output",
            "call_id": "c2",
            "output": {"content": PROSE + OTHER, "success": True},
        }
    ),
    {"timestamp": "t", "type": "event_msg", "payload": {"type": "token_count", "info": PROSE}},
    item(
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": OTHER + PROSE}],
        }
    ),
    {"timestamp": "t", "type": "turn_context", "payload": {"cwd": "/srv"}},
]


def test_codex_items_are_folded() -> None:
    messages = fold(*CODEX).messages
    assert len(messages) == len(CODEX)
    assert messages[1]["payload"]["content"][0]["text"].startswith("[summary: ")
    assert messages[4]["payload"]["output"].startswith("[summary: ")
    assert messages[4]["payload"]["call_id"] == "c1"
    assert messages[6]["payload"]["output"]["content"].startswith("[summary: ")
    assert messages[6]["payload"]["output"]["success"] is True
    assert messages[8]["payload"]["content"][0]["text"].startswith("[summary: ")


def test_codex_records_that_are_no_items_are_untouched() -> None:
    messages = fold(*CODEX).messages
    for place in (0, 2, 3, 5, 7, 9):
        assert messages[place] == CODEX[place]


def test_codex_records_keep_their_keys() -> None:
    for before, after in zip(CODEX, fold(*CODEX).messages, strict=True):
        assert list(after) == list(before)
        assert list(after["payload"]) == list(before["payload"])


SAID: dict[str, Any] = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": PROSE}],
}


@pytest.mark.parametrize(
    "alone",
    [
        {"type": "reasoning", "id": "rs", "summary": []},
        {"type": "item_reference", "id": "msg"},
        {"type": "web_search_call", "id": "ws", "action": {"type": "search", "query": "q"}},
        {"type": "mcp_list_tools", "id": "m", "server_label": "s", "tools": []},
        {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "x"}]},
    ],
)
def test_one_item_of_the_responses_api_tells_what_the_others_are(alone: dict[str, Any]) -> None:
    result = fold({"role": "user", "content": OTHER}, alone, SAID)
    assert result.messages[1] == alone
    assert result.messages[2]["content"][0]["text"].startswith("[summary: ")


def test_calls_of_the_responses_api_stay_with_what_came_of_them() -> None:
    screenshot = {"type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA"}
    pair = [
        {"type": "computer_call", "id": "cc", "call_id": "c1", "action": {"type": "click"}},
        {"type": "computer_call_output", "call_id": "c1", "output": screenshot},
    ]
    said = {"role": "user", "content": OTHER}
    for place in range(1, 8):
        messages: list[dict[str, Any]] = [said, *[SAID] * 8, said]
        messages[place:place] = pair
        for budget in range(150, 500, 30):
            shown = compress(messages, token_budget=budget, recency_window=0).messages
            assert (pair[0] in shown) == (pair[1] in shown)


def test_old_codex_files_without_payload() -> None:
    records: list[dict[str, Any]] = [
        {"id": "s", "timestamp": "t", "instructions": None},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": PROSE}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": OTHER},
    ]
    messages = fold(*records).messages
    assert messages[0] == records[0]
    assert messages[1]["content"][0]["text"].startswith("[summary: ")
    assert messages[3]["output"].startswith("[summary: ")
    assert messages[3]["call_id"] == "c1"
    assert [list(message) for message in messages] == [list(record) for record in records]


def test_codex_items_that_nobody_knows_travel_along() -> None:
    search = item(
        {"type": "web_search_call", "status": "completed", "action": {"query": "x" * 400}}
    )
    snapshot = item({"type": "ghost_snapshot", "ghost_commit": {"id": "abc"}})
    result = fold(CODEX[1], search, snapshot, *CODEX[2:])
    assert result.messages[1:3] == [search, snapshot]
    assert compress([search]).tokens_before > 20
    assert compress([snapshot]).tokens_before == 0


def test_codex_outputs_without_text_answer_their_calls() -> None:
    picture = {"type": "input_image", "image_url": "https://x.test/a.png"}
    records = [CODEX[1]]
    for n, output in enumerate(([picture], {"success": True}, "", None, [picture], [picture])):
        call = {"type": "function_call", "name": "view", "arguments": "{}", "call_id": f"c{n}"}
        records.append(item(call))
        records.append(item({"type": "function_call_output", "call_id": f"c{n}", "output": output}))
        said = [{"type": "output_text", "text": f"{n} {PROSE}"}]
        records.append(item({"type": "message", "role": "assistant", "content": said}))
    records.append(item({"type": "message", "role": "user", "content": "And now?"}))
    result = fold(*records, token_budget=400)
    assert result.fits
    payloads = [record["payload"] for record in result.messages]
    called = {p["call_id"] for p in payloads if p["type"] == "function_call"}
    answered = {p["call_id"] for p in payloads if p["type"] == "function_call_output"}
    assert called == answered


def test_a_message_among_responses_items_needs_no_type() -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": OTHER}
    said = {"role": "assistant", "content": [{"type": "output_text", "text": PROSE}]}
    result = fold({"role": "user", "content": PROSE + OTHER}, call, output, said)
    assert result.messages[0]["content"].startswith("[summary: ")
    assert result.messages[3]["content"][0]["text"].startswith("[summary: ")


def test_a_call_of_the_provider_costs_what_came_of_it() -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
    own = {"type": "mcp_call", "id": "mcp_1", "name": "search", "arguments": "{}", "output": ""}
    short, long = (
        compress([call, {**own, "output": output}]).tokens_before for output in ("ok", PROSE * 9)
    )
    assert long > short + 100
