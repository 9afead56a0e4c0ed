"""Which texts of a conversation may be shortened now, and what to tell whoever does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from refold.agent.policy import FoundText, ToolText
from refold.agent.shapes import find_calls, get

_MAX_CONTEXT_CHARS: Final = 400


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may be shortened."""

    found: FoundText
    tokens: int
    may_send: bool
    """Whether a model may see it."""
    context: str
    """What it is, for the model."""


def unseen(messages: Sequence[Any]) -> set[int]:
    """Return the messages that answer calls of the last turn: the model has not read them yet."""
    called = max((call.index for call in find_calls(messages)), default=-1)
    spoke = max((n for n, m in enumerate(messages) if get(m, "role") == "assistant"), default=-1)
    if called < 0 or spoke > called:
        return set()
    return set(range(called + 1, len(messages)))


def newest(texts: Sequence[FoundText], count: int) -> set[int]:
    """Return the messages of the last *count* tool results."""
    results = [text.index for text in texts if isinstance(text, ToolText)]
    return set(results[len(results) - count :]) if count else set()


def current_task(texts: Sequence[FoundText]) -> str:
    """Return what the user asked for last, on one line."""
    asked = [text.text for text in texts if text.role == "user" and not isinstance(text, ToolText)]
    return " ".join(asked[-1].split())[:_MAX_CONTEXT_CHARS] if asked else ""


def describe_text(found: FoundText, task: str) -> str:
    """Say what a text is, for whoever shortens it."""
    lines = []
    if isinstance(found, ToolText):
        lines.append(f"Tool: {found.tool or 'unknown'}")
        if found.arguments:
            lines.append(f"Arguments: {found.arguments[:_MAX_CONTEXT_CHARS]}")
    if task:
        lines.append(f"Task: {task}")
    return "\n".join(lines)
