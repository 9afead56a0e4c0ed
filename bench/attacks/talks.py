"""Conversations for attacks on what grows and on what is saved: made up, the same for a seed."""

from __future__ import annotations

import random
from typing import Any

Messages = list[dict[str, Any]]
_WORDS = (
    "the ledger keeps nine crates near a quiet pier while every ferry counts its rope harbour "
    "signal window config retry timeout queue worker database index cache token"
).split()


def prose(rng: random.Random, chars: int) -> str:
    """Return sentences of about so many characters, no two alike."""
    said: list[str] = []
    size = 0
    while size < chars:
        words = " ".join(rng.choices(_WORDS, k=12)).capitalize()
        said.append(f"{words} {rng.randrange(100_000)}.")
        size += len(said[-1]) + 1
    return " ".join(said)


def talk(rng: random.Random, count: int, *, chars: int = 1_000, ids: bool = False) -> Messages:
    """Return so many messages: a system prompt, a task, questions, answers and tool results."""
    messages: Messages = [
        {"role": "system", "content": "You are a careful agent."},
        {"role": "user", "content": "Watch the harbour and report every delay."},
    ]
    while len(messages) < count:
        number = len(messages)
        match number % 4:
            case 0:
                messages.append({"role": "user", "content": prose(rng, chars)})
            case 1:
                function = {"name": "look", "arguments": f'{{"pier": {number}}}'}
                call = {"id": f"c{number}", "type": "function", "function": function}
                messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
                result = {"role": "tool", "tool_call_id": f"c{number}"}
                messages.append({**result, "content": prose(rng, 2 * chars)})
            case _:
                messages.append({"role": "assistant", "content": prose(rng, chars)})
    if ids:
        messages = [{"id": f"t{number}", **message} for number, message in enumerate(messages)]
    return messages[:count]
