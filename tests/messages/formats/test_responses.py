"""Items of the Responses API: what comes back may be sent as it is, and everything comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refold import ContextWindowManager, MemoryStore, uncompress
from refold.messages.formats import load
from tests.classic import Session, compress
from tests.conversations import SENTENCES

LONG = " ".join(SENTENCES)


def said(number: int) -> dict[str, Any]:
    """Return a message as the API returns it: with an id, a type and a status."""
    text = f"{number}. {LONG}"
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def asked(number: int) -> dict[str, Any]:
    return {"role": "user", "content": f"And what about {number}? {LONG}"}


def called(number: int) -> list[dict[str, Any]]:
    call = {"id": f"fc_{number}", "call_id": f"c{number}", "name": "read", "arguments": "{}"}
    return [
        {"type": "reasoning", "id": f"rs_{number}", "summary": []},
        {"type": "function_call", **call, "status": "completed"},
        {
            "type": "function_call_output",
            "id": f"fo_{number}",
            "call_id": f"c{number}",
            "output": json.dumps([{"row": n, "of": number, "says": LONG[:90]} for n in range(40)]),
        },
    ]


TALK = [item for n in range(8) for item in (asked(n), said(n))]
RUN = [asked(0), *(item for n in range(8) for item in (*called(n), said(n))), asked(9)]
CONVERSATIONS = pytest.mark.parametrize("items", [TALK, RUN], ids=["talk", "run"])


def check_keys(items: list[dict[str, Any]], folded: list[dict[str, Any]]) -> None:
    known = {key for item in items for key in item}
    assert {key for item in folded for key in item} <= known
    assert folded != items


@CONVERSATIONS
@pytest.mark.parametrize("profile", ["classic", "standard", "lossless"])
@pytest.mark.parametrize("budget", [None, 900])
def test_no_item_gets_a_key_that_the_provider_does_not_know(
    items: list[dict[str, Any]], profile: Any, budget: int | None
) -> None:
    store = MemoryStore()
    result = compress(items, profile=profile, token_budget=budget, store=store)
    loses_nothing = profile == "lossless" or (profile == "standard" and budget is None)
    if not (loses_nothing and items is TALK):  # which cannot be said shorter
        check_keys(items, result.messages)
    for originals in (store, result.verbatim):
        restored = uncompress(result.messages, originals)
        assert restored.messages == items
        assert not restored.missing_ids


@CONVERSATIONS
def test_neither_do_those_of_a_session_or_a_window(items: list[dict[str, Any]]) -> None:
    session = Session(token_budget=900)
    session.extend(items)
    view = session.view()
    check_keys(items, view)
    assert uncompress(view, session.verbatim).messages == items
    fitted = ContextWindowManager(context_limit=3_000, reserve_output_tokens=500).fit(items)
    check_keys(items, fitted.messages)


def test_messages_that_are_the_callers_own_still_carry_their_provenance() -> None:
    messages = [{"id": f"m{n}", "role": "user", "content": f"{n}. {LONG}"} for n in range(8)]
    result = compress(messages)
    assert any("metadata" in message for message in result.messages)
    assert uncompress(result.messages, result.verbatim).messages == messages


KINDS: list[list[dict[str, Any]]] = [
    [
        {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "s", "output": [{"stdout": LONG, "stderr": ""}]},
    ],
    [
        {"type": "apply_patch_call", "call_id": "p", "operation": {"type": "delete_file"}},
        {"type": "apply_patch_call_output", "call_id": "p", "output": LONG},
    ],
    [
        {"type": "program", "id": "p1", "call_id": "g", "code": "run()", "fingerprint": "f"},
        {"type": "program_output", "id": "p2", "call_id": "g", "result": LONG},
    ],
    [
        {"type": "tool_search_call", "call_id": "t", "arguments": {"query": "read"}},
        {"type": "tool_search_output", "call_id": "t", "tools": [{"name": "read"}]},
    ],
    [
        {"type": "mcp_approval_request", "id": "a", "name": "rm", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True},
    ],
    [
        {"type": "computer_call", "call_id": "c", "action": {"type": "screenshot"}},
        {
            "type": "computer_call_output",
            "call_id": "c",
            "output": {"type": "computer_screenshot", "image_url": "data:,"},
        },
    ],
]


@pytest.mark.parametrize("pair", KINDS, ids=lambda pair: str(pair[0]["type"]))
def test_every_kind_of_call_goes_with_its_output(pair: list[dict[str, Any]]) -> None:
    call, output = load(pair)
    assert {part.call_id for part in output.parts} == {call.calls[0].id}
    items = [asked(0), *pair, *(item for n in range(6) for item in called(n)), asked(1)]
    result = compress(items, profile="standard", token_budget=600)
    kinds = [item.get("type") for item in result.messages]
    assert kinds.count(pair[0]["type"]) == kinds.count(pair[1]["type"])
    assert uncompress(result.messages, result.verbatim).messages == items


@pytest.mark.parametrize("kind", ["compaction", "additional_tools", "mcp_list_tools"])
@pytest.mark.parametrize("profile", ["classic", "standard"])
def test_what_is_the_providers_own_stays(kind: str, profile: Any) -> None:
    own = {"type": kind, "id": "x", "encrypted_content": "e" * 30, "tools": []}
    items = [asked(0), own, *(item for n in range(8) for item in called(n)), asked(1)]
    result = compress(items, profile=profile, token_budget=500)
    assert own in result.messages
    assert uncompress(result.messages, result.verbatim).messages == items


def test_what_is_the_providers_own_is_counted() -> None:
    def tokens(tools: str, id_: str = "x") -> int:
        return compress([{"type": "mcp_list_tools", "id": id_, "tools": tools}]).tokens_before

    assert tokens(LONG) > tokens("tides") + 50
    assert tokens("tides", id_="0123456789abcdef" * 8) == tokens("tides")
