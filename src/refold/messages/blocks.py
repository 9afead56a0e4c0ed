"""Blocks of messages that are kept or folded together: tool calls with all their results."""

from __future__ import annotations

from collections.abc import Sequence

from refold.messages.formats import find_format
from refold.messages.message import Message


def find_blocks(messages: Sequence[Message]) -> list[range]:
    """Tile the conversation with blocks that no fold may split.

    A block reaches from a message that calls tools to the last message that answers one of its
    calls, including everything in between; some session files have other ties as well.
    """
    last_answer = _last_answers(messages)
    find_ties = find_format(messages[0].format).ties if messages else None
    ties = find_ties([message.wire for message in messages]) if find_ties else {}
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
    """Return the indices of messages with a tool call that is not answered yet.

    Some models number their calls from the start in every turn, so ids may recur.
    """
    waiting: dict[str, int] = {}
    for message in messages:
        waiting.update((call.id, message.index) for call in message.calls)
        for id_ in answered_by(message):
            waiting.pop(id_, None)
    return set(waiting.values())


def answered_by(message: Message) -> set[str]:
    """Return the ids of the calls that *message* answers, with text or without."""
    answered = {part.call_id for part in message.parts if part.call_id}
    call = message.wire.get("tool_call_id")
    return answered | {call} if isinstance(call, str) else answered


def _last_answers(messages: Sequence[Message]) -> dict[int, int]:
    """Map each message with calls to the last message that answers one of them."""
    caller: dict[str, int] = {}
    last: dict[int, int] = {}
    for message in messages:
        for call in message.calls:
            caller[call.id] = message.index
        for id_ in answered_by(message):
            if id_ in caller:
                last[caller[id_]] = message.index
    return last


def pair_warnings(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return warnings for calls and results that providers will reject, folded or not.

    An open call at the end is waiting for its result. One that is followed by a question of the
    user is dead: it is kept, as its result may still come, but does not keep anything else.
    """
    asked = [m.index for m in messages if m.role == "user" and not m.is_tool_result and m.is_turn]
    warnings = [
        f"messages[{index}] calls a tool that was never answered, yet others follow"
        for index in sorted(open_calls(messages))
        if asked and index < asked[-1]
    ]
    called: set[str] = set()
    for message in messages:
        called.update(call.id for call in message.calls)
        warnings += [
            f"messages[{message.index}] answers {call_id!r}, which was not called before it"
            for call_id in sorted(answered_by(message) - called)
        ]
    return tuple(warnings)
