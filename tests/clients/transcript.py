"""What must hold of the requests of one conversation: pairs are whole, and it only grows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from tests.clients.upstream import blocks_of

TOOL_NAME = "retrieve_original"
_MOVING = "cache_control"  # clients put it on whatever comes last


def check(requests: Sequence[dict[str, Any]], *, refolds: int = 0) -> None:
    """Fail unless these are valid requests, each of which goes on where the last one ended.

    So many times, *refolds*, one may begin anew: when the window is full. A proxy may offer its
    retrieval tool from some request on, and goes on to offer it.
    """
    assert requests
    for request in requests:
        check_pairs(items_of(request))
    changed = 0
    for before, after in pairwise(requests):
        was_offered, now_offered = tools_of(before), tools_of(after)
        assert now_offered[: len(was_offered)] == was_offered
        assert all(tool.get("name") == TOOL_NAME for tool in now_offered[len(was_offered) :])
        assert before.get("system") == after.get("system")
        was, now = (list(map(spell, items_of(request))) for request in (before, after))
        changed += now[: len(was)] != was
    assert changed == refolds


def tools_of(request: dict[str, Any]) -> list[dict[str, Any]]:
    return list(request.get("tools") or [])


def items_of(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return messages or items, each in one spelling: text or one block of it are the same."""
    if "input" in request:
        return list(request["input"])
    return [
        {
            **message,
            "content": [
                {key: value for key, value in block.items() if key != _MOVING}
                for block in blocks_of(message)
            ],
        }
        for message in request["messages"]
    ]


def spell(item: dict[str, Any]) -> str:
    return json.dumps(item, ensure_ascii=False)


def check_pairs(items: Sequence[dict[str, Any]]) -> None:
    """Fail unless every call has one result, which comes right after it."""
    parts = [
        part
        for item in items
        for part in (item["content"] if "content" in item and "role" in item else [item])
    ]
    calls = [part for part in parts if part["type"] in ("tool_use", "function_call")]
    results = [part for part in parts if part["type"] in ("tool_result", "function_call_output")]
    called = [part.get("call_id") or part["id"] for part in calls]
    answered = [part.get("call_id") or part["tool_use_id"] for part in results]
    assert called == answered
    assert len(set(called)) == len(called)
