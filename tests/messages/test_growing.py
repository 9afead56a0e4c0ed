"""A conversation that grows is read once, and never as it was before."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import Compressor, compress
from tests.conversations import Wire, conversations


@given(conversations(), st.integers(1, 3))
def test_a_growing_conversation_folds_like_a_new_one(messages: list[Wire], step: int) -> None:
    compressor = Compressor(profile="classic", recency_window=1)
    for size in range(0, len(messages) + 1, step):
        here = copy.deepcopy(messages[:size])
        result = compressor.compress(here)
        assert result.messages == compress(here, profile="classic", recency_window=1).messages
        assert here == messages[:size]


def changed(message: Wire) -> list[Wire]:
    """Return messages that are not the same, however like it they are."""
    return [
        {**message, "content": "Another text."},
        {**message, "n": True},
        {**message, "n": 1.0},
        dict(reversed(message.items())),
    ]


@pytest.mark.parametrize("place", range(4))
def test_what_was_changed_is_read_again(place: int) -> None:
    message: Wire = {"role": "user", "content": "What is it?", "n": 1}
    compressor = Compressor(profile="classic")
    for _ in range(3):
        given: list[Wire] = [dict(message), {"role": "assistant", "content": "Nothing."}]
        compressor.compress(given)
        given[0] = changed(message)[place]
        shown = compressor.compress(given).messages[0]
        assert list(shown.items()) == list(given[0].items())
        assert list(map(type, shown.values())) == list(map(type, given[0].values()))


def test_what_the_caller_changes_in_place_is_seen() -> None:
    messages = [{"role": "user", "content": "One."}]
    compressor = Compressor(profile="classic")
    for text in ("Two.", "Three.", "Four."):
        messages[0]["content"] = text
        assert compressor.compress(messages).messages == [{"role": "user", "content": text}]


def test_calls_that_come_later_change_the_shape() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages: list[Wire] = [{"role": "user", "content": "Go."}]
    compressor = Compressor(profile="classic")
    for more in (
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
    ):
        compressor.compress(messages)
        messages = [*messages, more]
    assert compressor.compress(messages).messages == compress(messages, profile="classic").messages
