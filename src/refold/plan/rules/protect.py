"""Keep messages because of who said them, when, or how short they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from refold.messages.message import Message
from refold.messages.untouchable import is_pinned
from refold.plan.draft import Draft, Keep, RunContext, Verdict

_SURELY_LONG: Final = 1_000
"""A text of so many characters is not short, however it is measured."""


def protect(draft: Draft, context: RunContext) -> Iterator[Verdict]:
    """Keep preserved roles, recent turns, tool calls, short texts and earlier stand-ins."""
    for segment in draft.segments:
        reason = protection(segment.message, segment.text, context)
        if reason is not None:
            yield segment, Keep(), reason


def protection(message: Message, text: str, context: RunContext) -> str | None:
    """Return why a *text* of *message* is protected, if it is."""
    if not message.is_turn:
        return "not_a_turn"
    if message.role in context.options.preserve:
        return "preserved_role"
    if is_pinned(message, context.options.pins):
        return "pinned"
    is_large = context.is_large(message)
    if context.is_recent(message) and not is_large:
        return "recency_window"
    # A provider may have signed the thinking before a call together with the text.
    if message.calls and (message.thinking or not context.shortens_beside_calls):
        return "tool_calls"
    if not is_large and _is_short(text, context):
        return "short_content"
    if message.is_stand_in:
        return "already_compressed"
    return None


def _is_short(text: str, context: RunContext) -> bool:
    rules = context.text_cache.rules
    return len(text) < _SURELY_LONG and rules.measure(text) < rules.short_text
