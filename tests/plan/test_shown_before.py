"""Profile `lossless`: what a result repeats of earlier results and calls is not shown again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refold import Compressor, compress, uncompress
from tests.conversations import Conversation

LINES = [f"    crate_{n} = load(place={n % 7}, weight={n * 31})" for n in range(60)]
MARK = "follow as before]"


def turn(number: int, text: str, **arguments: str) -> Conversation:
    function = {"name": "run", "arguments": json.dumps(arguments or {"step": str(number)})}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
    ]


def talk(*turns: Conversation) -> Conversation:
    start: Conversation = [{"role": "user", "content": "Where does the cargo get lost?"}]
    end = [{"role": "user", "content": f"And now, {n}?"} for n in range(4)]
    return [*start, *(message for turn in turns for message in turn), *end]


def folded(messages: Conversation, **choices: Any) -> list[str]:
    result = compress(messages, profile="lossless", **choices)
    assert list(uncompress(result.messages, result.verbatim).messages) == messages
    return [message["content"] for message in result.messages if message["role"] == "tool"]


def test_another_window_into_the_same_file() -> None:
    first, second = "\n".join(LINES[:40]), "\n".join(LINES[20:])
    shown = folded(talk(turn(1, first), turn(2, second)))
    assert shown[0] == first
    head, body = shown[1].split("\n", 1)
    assert head.startswith("[reformatted #")
    assert body == "\n".join([LINES[20], f"[19 lines {MARK}", *LINES[40:]])


def test_what_a_call_wrote() -> None:
    text = "\n".join(LINES)
    view = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(LINES, 1))
    shown = folded(talk(turn(1, "ok", path="cargo.py", content=text), turn(2, view)))
    assert shown[1].endswith(f"2–60 {MARK}")


def test_what_cannot_be_seen_is_not_referred_to() -> None:
    text = "\n".join(LINES)
    shown = folded(talk(turn(1, "short"), turn(2, text)))
    assert shown[1] == text


@pytest.mark.parametrize("size", range(3, 12))
def test_a_growing_conversation_keeps_its_beginning(size: int) -> None:
    turns = [turn(n, "\n".join(LINES[n * 5 : n * 5 + 30])) for n in range(6)]
    whole = folded(talk(*turns))
    messages = talk(*turns)[:size]
    shown = folded([*messages, *talk()[1:]])
    assert shown == whole[: len(shown)]


def test_a_budget_that_needs_no_selection() -> None:
    messages = talk(turn(1, "\n".join(LINES)), turn(2, "\n".join(["# again", *LINES])))
    compressor = Compressor(profile="lossless", token_budget=1_200)
    result = compressor.compress(messages)
    assert MARK in str(result.messages)
    assert list(uncompress(result.messages, result.verbatim).messages) == messages
