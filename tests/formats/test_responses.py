"""Items of the Responses API: what comes back may be sent as it is, and everything comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refold import ContextWindowManager, MemoryStore, uncompress
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
