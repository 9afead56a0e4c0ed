"""Stretches of a conversation that live or go together: tool calls with all their results."""

from __future__ import annotations

from collections.abc import Sequence

from refold.formats import find_ties
from refold.model.message import Message


def find_blocks(messages: Sequence[Message]) -> list[range]:
    """Tile the conversation with blocks that no roll-up may cut.

    A block reaches from a message that calls tools to the last message that answers one of its
    calls, with whatever was said in between; some session files have other ties as well.
    """
    last_answer, ties = _last_answers(messages), find_ties(messages)
    blocks: list[range] = []
    start = 0
    while start < len(messages):
        end = start + 1
        place = start
        while place < end:
            binds = place + 1 < len(messages) and messages[place].binds_next
            last = max(last_answer.get(place, place), ties.get(place, place), place + binds)
            end = max(end, last + 1)
            place += 1
        blocks.append(range(start, end))
        start = end
    return blocks


def open_calls(messages: Sequence[Message]) -> set[int]:
    """Return the indices of messages with a tool call that nobody has answered yet.

    Some models number their calls anew in every turn, so an id may be open again.
    """
    waiting: dict[str, int] = {}
    for message in messages:
        waiting.update((call.id, message.index) for call in message.calls)
        for id_ in answered_by(message):
            waiting.pop(id_, None)
    return set(waiting.values())


def answered_by(message: Message) -> set[str]:
    """Return the calls that *message* answers, with text or without."""
    answered = {part.call_id for part in message.parts if part.call_id}
    call = message.wire.get("tool_call_id")
    return answered | {call} if isinstance(call, str) else answered


def _last_answers(messages: Sequence[Message]) -> dict[int, int]:
    """Map each calling message to the last message that answers it."""
    caller: dict[str, int] = {}
    last: dict[int, int] = {}
    for message in messages:
        for call in message.calls:
            caller[call.id] = message.index
        for id_ in answered_by(message):
            if id_ in caller:
                last[caller[id_]] = message.index
    return last
