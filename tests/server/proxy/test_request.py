"""Cache marks are no part of a message; what went out last goes out again, before what is new."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from refold.server.proxy.request import Folded, Job, LastSent, Request, without_marks

MARK = {"cache_control": {"type": "ephemeral"}}
TEXT = {"type": "text", "text": "read the logs"}
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": "fine"}


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ([{**TEXT, **MARK}], "read the logs"),  # Claude Code, with reminders in the system's name
        ([{**TEXT, **MARK}], [TEXT]),
        ([TEXT, {**TEXT, **MARK}], [TEXT, TEXT]),
        ([{**RESULT, **MARK}], [RESULT]),
    ],
)
def test_a_mark_that_has_moved_on_makes_no_difference(marked: Any, plain: Any) -> None:
    with_mark, without = ({"role": "system", "content": content} for content in (marked, plain))
    assert without_marks([with_mark]) == without_marks([without])


def test_blocks_that_say_more_than_their_text_stay() -> None:
    cited = {"role": "user", "content": [{**TEXT, "citations": []}]}
    assert without_marks([cited]) == [cited]


def job(messages: list[Any], *, tenant: str = "t", model: str = "m") -> Job:
    body = {"model": model, "messages": messages, "tools": [{"name": "read"}]}
    return Job("anthropic", "/v1/messages", tenant, "s", json.dumps(body).encode(), 0.0)


def block(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text, **more}]}


LONG, SHORT, NEW = block("long"), block("short"), block("new", **MARK)
ASK = {"role": "user", "content": "ask"}
SAID = {"role": "assistant", "content": "said"}


def kept(*, has_tool: bool = False) -> LastSent:
    """Return what is known after a request was sent in which one message was folded."""
    last = LastSent()
    came = job([ASK, block("long", **MARK)])
    about = Request(came).about
    body = json.dumps({"model": "m", "messages": [ASK, block("short", **MARK)]}).encode()
    folded = Folded(body=body, first=about.first, model="m", tokens_before=9, tokens_after=4)
    last.keep(came, replace(folded, has_tool=has_tool))
    return last


def test_the_past_is_as_it_was_sent_and_marks_are_where_they_are_now() -> None:
    later = job([ASK, LONG, SAID, NEW])
    found = kept(has_tool=True).recall(later)
    assert found is not None
    assert found.body is not None
    body = json.loads(found.body)
    assert body["messages"] == [ASK, SHORT, SAID, NEW]
    assert [tool["name"] for tool in body["tools"]] == ["read", "retrieve_original"]
    assert found.has_tool
    assert found.beginning == Request(later).about.beginning
    assert found.tokens_before - found.tokens_after == found.saved_before == 5


def test_other_conversations_are_none_of_its_business() -> None:
    later = [ASK, LONG, SAID, NEW]
    assert kept().recall(job(later, tenant="other")) is None
    assert kept().recall(job(later, model="other")) is None
    assert kept().recall(job([ASK, block("edited"), SAID])) is None
    assert kept().recall(job([block("other"), LONG])) is None
    assert kept().recall(job(later)._replace(body=b"{")) is None


def test_what_went_out_as_it_came_is_not_kept() -> None:
    last = kept()
    came = job([ASK, LONG, SAID, NEW])
    last.keep(came, Folded(first=Request(came).about.first))
    assert last.recall(came) is None


def test_only_so_much_is_kept() -> None:
    last = LastSent()
    jobs = [job([block(f"{n}" + "x" * (20 << 20))]) for n in range(3)]
    for one in jobs:
        last.keep(one, Folded(body=one.body, first=Request(one).about.first, model="m"))
    assert [last.recall(one) is None for one in jobs] == [True, True, False]
