"""Random histories of every awkward kind, and what must hold for whatever fits a window."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from refold.window import FitResult
from tests.conversations import (
    SENTENCES,
    Conversation,
    Wire,
    anthropic,
    calls_and_results,
    openai_chat,
    plain,
    spelled,
    without_thinking,
)
from tests.plan.ladder.promise import kept_indices, open_calls

STRATEGIES = ("fold", "summarize", "truncate", "sliding_window")


def words(text: str) -> int:
    return len(text.split())


def talk(turns: int, sentences: int = 6) -> Conversation:
    """A plain conversation of many long turns, every one of them different."""
    messages: Conversation = [{"role": "system", "content": "You are the harbour master."}]
    for turn in range(turns):
        role = "assistant" if turn % 2 else "user"
        body = " ".join(f"{SENTENCES[(turn + n) % 9]} Note {turn}-{n}." for n in range(sentences))
        messages.append({"role": role, "content": body})
    return messages


def tool_turn(number: int, text: str, *, arguments: str = "{}") -> Conversation:
    """A call and its result in OpenAI's shape."""
    call = {
        "id": f"c{number}",
        "type": "function",
        "function": {"name": "read", "arguments": arguments},
    }
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
    ]


@st.composite
def histories(draw: Callable[[Any], Any], *, only_valid: bool = False) -> Conversation:
    """Histories with parallel calls, late results, open calls, pictures and huge messages."""
    kinds = [openai_chat(), anthropic()] if only_valid else [openai_chat(), anthropic(), plain()]
    messages: Conversation = draw(st.one_of(kinds).filter(bool))
    if draw(st.integers(0, 2)) == 0:
        place = draw(st.integers(0, len(messages) - 1))
        messages[place] = _huge(messages[place], draw(st.integers(3, 40)))
    if only_valid:
        return messages
    if draw(st.integers(0, 2)) == 0:
        messages = _with_late_results(messages)
    if draw(st.integers(0, 2)) == 0:
        messages = messages[: max(1, draw(st.integers(1, len(messages))))]
    return messages


def _huge(message: Wire, times: int) -> Wire:
    """Make a message long, whatever its shape; tool calls keep their content."""
    if isinstance(message.get("content"), str) and message["content"].strip():
        return {**message, "content": f"{message['content']} " * times}
    return message


def _with_late_results(messages: Conversation) -> Conversation:
    """Let somebody say something between calls and the results of OpenAI's shape."""
    late: Conversation = []
    for message in messages:
        late.append(message)
        if message.get("tool_calls"):
            late.append({"role": "user", "content": "Take your time."})
    return late


def violations(
    before: Conversation, result: FitResult, cost: Callable[[Conversation], int]
) -> Iterator[str]:
    """Say what W4 promises and *result* does not keep."""
    after = result.messages
    if result.fits != (cost(after) <= result.tokens_available):
        yield f"fits={result.fits}, but {cost(after)} of {result.tokens_available} tokens"
    if result.tokens_after != cost(after) or result.tokens_before != cost(before):
        yield "the figures are not those of the messages"
    if before and not after:
        yield "empty"
    if result.tokens_after > result.tokens_before:
        yield "longer than before"
    yield from _missing(before, after, kept_indices(before).items())
    yield from _orphans(before, after)


def _missing(
    before: Conversation, after: Conversation, kept: Iterable[tuple[int, str]]
) -> Iterator[str]:
    """Name what must stay and is not there, or not in its order."""
    shown = [spelled(without_thinking(message)) for message in after]
    start = 0
    for index, reason in sorted(kept):
        try:
            start = shown.index(spelled(without_thinking(before[index])), start) + 1
        except ValueError:
            yield f"messages[{index}] ({reason}) is gone or out of order"


def _orphans(before: Sequence[Wire], after: Sequence[Wire]) -> Iterator[str]:
    allowed = {
        id_
        for index in open_calls(list(before))
        for kind, id_ in calls_and_results([before[index]])
        if kind == "call"
    }
    waiting: set[str] = set()
    for kind, id_ in calls_and_results(after):
        if kind == "call":
            waiting.add(id_)
        elif id_ not in waiting:
            yield f"{id_} is answered without a call"
        else:
            waiting.discard(id_)
    for id_ in sorted(waiting - allowed):
        yield f"{id_} has lost its result"


def ordered(before: Conversation, after: Conversation) -> bool:
    """Tell whether the unchanged messages of *after* stand in the order of *before*."""
    rest = iter(json.dumps(message) for message in before)
    known = {json.dumps(message) for message in before}
    return all(
        any(one == text for one in rest)
        for text in (json.dumps(message) for message in after)
        if text in known
    )
