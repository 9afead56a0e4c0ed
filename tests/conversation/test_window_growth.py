"""A history that grows is read on from where it was, and never mistaken for another one."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessage

from refold import ContextWindowManager

SAID = ChatCompletionMessage(role="assistant", content="The ferry leaves at nine.")


def history(turns: int) -> list[Any]:
    return [{"role": ("user", "assistant")[n % 2], "content": f"Turn {n}."} for n in range(turns)]


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
