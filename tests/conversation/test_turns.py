"""A window sends what a session would, in whatever form its lists come."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest

from refold import ContextWindowManager, MemoryStore, Session, uncompress
from tests.conversations import Conversation, spelled

MODEL = "claude-sonnet-4-5"


def agent_run(turns: int, about: str = "crane") -> Conversation:
    """A run of tool calls with results that are shorter as a table."""
    messages: Conversation = [{"role": "user", "content": f"Find out why the {about} stands."}]
    for number in range(turns):
        function = {"name": "look", "arguments": f'{{"page": {number}}}'}
        call = {"id": f"c{number}", "type": "function", "function": function}
        rows = [
            {"bay": number, "row": n, "is idle": True, "said": f"{about} {number * n % 997} of {n}"}
            for n in range(110)
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(rows)})
    return messages


def manager(limit: int = 100_000, **choices: Any) -> ContextWindowManager:
    return ContextWindowManager(
        model=MODEL, context_limit=limit, reserve_output_tokens=0, **choices
    )


def ends(messages: Conversation) -> list[int]:
    """Return after how many messages the model is asked."""
    return [n for n in range(1, len(messages) + 1) if messages[n - 1]["role"] != "assistant"]


def test_a_window_sends_what_a_session_would() -> None:
    messages, window = agent_run(60), manager()
    session = Session(model=MODEL, token_budget="auto")
    length = 0
    for end in ends(messages):
        session.extend(messages[length:end])
        length = end
        fitted = window.fit(messages[:end])
        view = session.view()
        if not session.report.folds:
            assert spelled(fitted.messages) == spelled(view)
        assert fitted.tokens_after == pytest.approx(session.report.tokens, rel=0.05)
        assert fitted.tokens_before == session.report.tokens_unfolded
    assert session.report.folds


@pytest.mark.parametrize("limit", [12_000, pytest.param(100_000, marks=pytest.mark.campaign)])
def test_what_was_sent_comes_back_and_goes_on_the_same_conversation(limit: int) -> None:
    messages, window = agent_run(60), manager(limit)
    told: Conversation = []
    views: list[Conversation] = []
    length = 0
    for end in ends(messages):
        fitted = window.fit([*told, *messages[length:end]])
        assert fitted.fits
        assert uncompress(fitted.messages, fitted.verbatim).messages == messages[:end]
        told, length = fitted.messages, end
        views.append(told)
    changes = sum(spelled(new[: len(old)]) != spelled(old) for old, new in pairwise(views))
    assert 0 < changes < len(views) / 2


def test_two_ways_on_from_one_beginning_are_two_conversations() -> None:
    window, beginning = manager(12_000), agent_run(10)
    window.fit(beginning)
    ways = [[*beginning, *agent_run(20, about)[21:]] for about in ("crane", "winch")]
    for _ in range(2):
        for way in ways:
            fitted = window.fit(way)
            assert fitted.fits
            assert uncompress(fitted.messages, fitted.verbatim).messages == way


@pytest.mark.parametrize("length", [3, 7, 10, 11, 17])
def test_a_conversation_may_go_back_to_where_it_was_shorter(length: int) -> None:
    store = MemoryStore()
    messages, window = agent_run(8), manager(12_000, store=store)
    window.fit(messages[:11])
    fitted = window.fit(messages[:length])
    assert uncompress(fitted.messages, fitted.verbatim).messages == messages[:length]
    assert uncompress(fitted.messages, store).messages == messages[:length]


def test_threads_may_share_a_manager_and_a_conversation() -> None:
    window = manager(12_000, store=MemoryStore())

    def run(number: int) -> bool:
        messages = agent_run(8, f"crane {number % 4}")
        for end in ends(messages):
            fitted = window.fit(messages[:end])
            if uncompress(fitted.messages, fitted.verbatim).messages != messages[:end]:
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(8)))


def test_marks_of_caches_are_where_the_caller_has_them_now() -> None:
    window, messages = manager(), agent_run(2)
    marked = [*messages[:-1], {**messages[-1], "cache_control": {"type": "ephemeral"}}]
    assert window.fit(marked).messages[-1]["cache_control"]
    moved = [*messages, *agent_run(3)[5:]]
    assert not any("cache_control" in message for message in window.fit(moved).messages)
