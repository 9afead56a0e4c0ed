"""What an earlier pass made of a conversation is used again only if it is the same conversation."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from refold.conversation import ContextWindowManager, FitResult
from refold.conversation.turns import REUSED
from tests.conversation.histories import talk, words
from tests.conversations import Conversation, spelled

OTHER = "Somebody has changed what was said here."


def fitted(turns: int, limit: int = 3_000) -> tuple[ContextWindowManager, Conversation, FitResult]:
    """Return a manager that has made a pass over a conversation of so many turns."""
    manager = ContextWindowManager(
        context_limit=limit, reserve_output_tokens=0, counter=words, low_water=0.5
    )
    messages = talk(turns)
    return manager, messages, manager.fit(messages)


def grown(messages: Conversation) -> Conversation:
    return [*messages, {"role": "user", "content": "And now?"}]


@pytest.mark.parametrize("turns", [60, 100, pytest.param(700, marks=pytest.mark.campaign)])
def test_the_same_objects_are_the_same_conversation(turns: int) -> None:
    manager, messages, first = fitted(turns)
    again = manager.fit(grown(messages))
    assert again.steps[0] == REUSED
    assert spelled(again.messages[:-1]) == spelled(first.messages)


@pytest.mark.parametrize("turns", [60, 100, pytest.param(700, marks=pytest.mark.campaign)])
def test_equal_objects_are_the_same_conversation(turns: int) -> None:
    manager, messages, first = fitted(turns)
    again = manager.fit(grown(copy.deepcopy(messages)))
    assert again.steps[0] == REUSED
    assert spelled(again.messages[:-1]) == spelled(first.messages)


def change(message: dict[str, Any]) -> None:
    message["content"] = OTHER


@pytest.mark.parametrize("place", [1, 2, 30, 99, 100])
def test_a_message_that_was_changed_in_place_is_noticed(place: int) -> None:
    manager, messages, _ = fitted(100)
    change(messages[place])
    again = manager.fit(grown(messages))
    assert REUSED not in again.steps
    assert OTHER in spelled(again.messages) + spelled(again.verbatim)


@pytest.mark.campaign
def test_in_a_very_long_conversation_what_is_shown_is_noticed_at_once() -> None:
    manager, messages, first = fitted(1_000)
    shown = {id(m) for m in messages if m in first.messages}
    assert len(shown) > 2
    for place in [n for n, message in enumerate(messages) if id(message) in shown][1:3]:
        before = messages[place]["content"]
        change(messages[place])
        assert REUSED not in manager.fit(grown(messages)).steps
        messages[place]["content"] = before
        manager.fit(messages)


@pytest.mark.campaign
def test_in_a_very_long_conversation_what_is_folded_is_noticed_in_a_while() -> None:
    manager, messages, _ = fitted(1_000)
    change(messages[900])
    noticed = [REUSED not in manager.fit(grown(messages)).steps for _ in range(9)]
    assert any(noticed)


@pytest.mark.campaign
def test_a_message_that_was_replaced_is_noticed_at_once_however_long_it_is() -> None:
    manager, messages, _ = fitted(1_000)
    messages[900] = {**messages[900], "content": OTHER}
    assert REUSED not in manager.fit(grown(messages)).steps


def test_a_counter_that_learns_does_not_make_a_long_history_be_read_again() -> None:
    manager = ContextWindowManager(context_limit=3_000, reserve_output_tokens=0, low_water=0.5)
    messages = talk(100)
    view = manager.fit(messages)
    manager.observe(view.messages, round(1.02 * view.tokens_after))
    again = manager.fit(grown(messages))
    assert again.fits
    assert again.steps[0] == REUSED
    assert spelled(again.messages[:-1]) == spelled(view.messages)
    assert again.tokens_before == pytest.approx(1.02 * view.tokens_before, rel=0.02)


def test_a_message_that_came_since_and_was_changed_in_place_is_noticed() -> None:
    manager, messages, _ = fitted(100)
    messages.append({"role": "user", "content": "This is new."})
    manager.fit(messages)
    change(messages[-1])
    messages.append({"role": "user", "content": "And now?"})
    again = manager.fit(messages)
    assert again.steps[0] == REUSED
    assert [message["content"] for message in again.messages[-2:]] == [OTHER, "And now?"]


def test_fewer_messages_than_were_read_before() -> None:
    manager, messages, _ = fitted(100)
    longer = [*messages, {"role": "user", "content": "One."}, {"role": "user", "content": "Two."}]
    manager.fit(longer)
    again = manager.fit(longer[:-1])
    assert [message["content"] for message in again.messages[-1:]] == ["One."]
    assert manager.fit(longer).messages[-1]["content"] == "Two."
