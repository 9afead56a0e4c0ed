"""A history that grows is read on from where it was, and never mistaken for another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessage

from refold import ContextWindowManager, FitResult, MessageError
from tests.conversation.test_finder import change, grow, history, make_anew, replace, shorten

SAID = ChatCompletionMessage(role="assistant", content="The ferry leaves at nine.")


@pytest.mark.parametrize("place", [0, 2, 5, 6])
def test_an_object_is_seen_wherever_it_comes(place: int) -> None:
    manager = ContextWindowManager(context_limit=4_000)
    told = history(6)
    assert manager.fit(told).messages == told
    changed = [*told[:place], SAID, *told[place + 1 :]]
    assert any(message is SAID for message in manager.fit(changed).messages)
    assert any(message is SAID for message in manager.fit([*changed, *history(2)]).messages)
    assert manager.fit(told).messages == told


def test_an_object_behind_a_known_history_is_seen() -> None:
    manager = ContextWindowManager(context_limit=4_000)
    told = history(6)
    for _ in range(3):
        manager.fit(told)
        told.append({"role": "user", "content": "And then?"})
    grown: list[Any] = [*told, SAID]
    assert any(message is SAID for message in manager.fit(grown).messages)


def as_new(told: list[Any]) -> FitResult:
    return ContextWindowManager(context_limit=4_000).fit(told)


def use(number: int) -> dict[str, Any]:
    block = {"type": "tool_use", "id": f"t{number}", "name": "look", "input": {"at": number}}
    return {"role": "assistant", "content": [block]}


def answer(number: int) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"Found {number}."}
    return {"role": "user", "content": [block]}


def use_tools(told: list[Any]) -> None:
    told += [use(1), answer(1), use(2), answer(2)]


CHANGES = (change, replace, shorten, make_anew, use_tools, grow)


@given(st.lists(st.sampled_from(CHANGES), min_size=1, max_size=6))
def test_what_fits_is_read_on_as_if_it_were_read_anew(
    changes: list[Callable[[list[Any]], None]],
) -> None:
    manager = ContextWindowManager(context_limit=4_000)
    told = history(8)
    manager.fit(told)
    for do in changes:
        do(told)
        if len(told) < 4:
            told += history(4)
        assert manager.fit(told) == as_new(told)


def test_an_id_that_is_used_twice_is_noticed_behind_what_was_read_before() -> None:
    manager = ContextWindowManager(context_limit=4_000)
    told = [{**message, "id": f"m{n}"} for n, message in enumerate(history(4))]
    manager.fit(told)
    with pytest.raises(MessageError, match="'m1' is already used"):
        manager.fit([*told, {"role": "user", "content": "Again.", "id": "m1"}])
    assert manager.fit(told).messages == told
