"""Tool calls that nobody will answer any more, and answers to calls that nobody made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refold.budget.blocks import answered_by, open_calls
from refold.model.message import Message


def pair_warnings(messages: Sequence[Message]) -> tuple[str, ...]:
    """Say what providers will refuse in *messages*, whatever we do with the rest.

    An open call at the end is waiting for its result. One that a question of the user follows is
    dead: it is kept, for its result may still come, but it does not stop anything else from going.
    """
    return (*_dead_calls(messages), *_orphan_results(messages))


def _dead_calls(messages: Sequence[Message]) -> Iterator[str]:
    asked = [m.index for m in messages if m.role == "user" and not m.is_tool_result and m.is_turn]
    last_asked = asked[-1] if asked else -1
    for index in sorted(open_calls(messages)):
        if index < last_asked:
            yield f"messages[{index}] calls a tool that was never answered, and the talk went on"


def _orphan_results(messages: Sequence[Message]) -> Iterator[str]:
    called: set[str] = set()
    for message in messages:
        called.update(call.id for call in message.calls)
        for call_id in sorted(answered_by(message) - called):
            yield f"messages[{message.index}] answers {call_id!r}, which nobody called before it"
