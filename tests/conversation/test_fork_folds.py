"""A fold that is made in a fork, and taken over when more has been sent meanwhile."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from refold import MemoryStore, Session, uncompress
from tests.conversation.histories import tool_turn


def log(number: int, lines: int) -> str:
    return "\n".join(
        f"10:{n // 60:02}:{n % 60:02} pier {number * n} took {n}" for n in range(lines)
    )


@given(st.lists(st.integers(1, 90), min_size=4, max_size=25), st.integers(0, 3))
def test_it_shows_everything_and_what_came_later_as_it_was_given(
    sizes: list[int], later: int
) -> None:
    store = MemoryStore()
    session = Session[Any](store=store, conversation="c", token_budget=2_500)
    messages: list[Any] = [{"role": "user", "content": "Which pier was slow?"}]
    session.extend(messages)
    waiting: list[Session[Any]] = []
    view = session.view()
    for number, lines in enumerate(sizes):
        before, folds, since = view, session.report.folds, 0
        if waiting and len(waiting[0]) + 2 * later <= len(session):
            fork = waiting.pop()
            since = len(session) - len(fork)
            fork.fold()
            session.take(fork)
        turn = tool_turn(number, log(number, lines))
        messages += turn
        session.extend(turn)
        if session.is_due() and not waiting:
            waiting.append(session.fork())
        view = session.stay()
        if session.report.folds == folds:
            assert view[: len(before)] == before
        else:
            assert view[len(view) - 2 - since : -2] == messages[len(messages) - 2 - since : -2]
        assert uncompress(view, store, conversation="c").messages == messages


def test_a_trace_goes_through_json_and_on_as_if_nothing_had_happened() -> None:
    store, messages = MemoryStore(), [{"role": "user", "content": "Which pier was slow?"}]
    session = Session[Any](store=store, token_budget=2_500)
    session.extend(messages)
    for number in range(20):
        session.view()
        other = Session[Any](store=store, token_budget=2_500)
        other.retrace(messages, json.loads(json.dumps(session.trace())))
        turn = tool_turn(number, log(number, 40))
        messages += turn
        for one in (session, other):
            one.extend(turn)
        assert session.fork().view() == other.view()
    assert session.report.folds > 1
