"""A fold as plain text: the conversation as a model reads it, and why each message is as it is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from refold.messages.formats import load
from refold.messages.formats.objects import Objects
from refold.messages.message import Message
from refold.report.pieces import say_action, say_count, say_reason
from refold.result import Result, percent_saved


def draw_view(result: Result[Any]) -> Iterator[str]:
    """Yield the lines of the folded conversation: who speaks, and what."""
    wires = Objects().read(result.messages)
    messages = load(wires) if wires else ()
    places = result.places or [range(n, n + 1) for n in range(len(messages))]
    for message, place in zip(messages, places, strict=True):
        yield f"── {number_of(place)} {message.role} ──"
        yield from draw_message(message)
        yield ""
    yield say_figures(result)


def draw_message(message: Message) -> Iterator[str]:
    """Yield texts and calls of a message; of thinking and pictures, that they are there."""
    if message.thinking:
        yield "(thinking)"
    yield from (part.text for part in message.parts if part.text.strip())
    if message.images:
        yield f"({say_count(message.images, 'picture')})"
    for call in message.calls:
        yield f"calls {call.name} {call.spelled}"


def explain(result: Result[Any]) -> Iterator[str]:
    """Yield the figures, then what happened to each message and why; alike neighbours share one."""
    yield say_figures(result)
    if result.budget is not None:
        yield f"budget: {result.budget.explain()}"
    fates = groupby(result.entries.get(), lambda e: (say_action(e.action), say_reason(e.reason)))
    for (action, why), run in fates:
        entries = list(run)
        first, last = entries[0].message_index, entries[-1].message_index
        before = sum(entry.input_chars for entry in entries)
        after = sum(entry.output_chars for entry in entries)
        size = f"{before:,} chars" if before == after else f"{before:,} → {after:,} chars"
        yield f"{number_of(range(first, last + 1))} {action}: {why} · {size}"


def number_of(place: range) -> str:
    """Spell the numbers of the messages that one stands for: `#3`, or `#3–12`."""
    last = place.stop - 1
    return f"#{place.start}" if last == place.start else f"#{place.start}–{last}"


def say_figures(result: Result[Any]) -> str:
    """Return the figures on one line: messages, tokens, and the share saved."""
    stands_for = sum(map(len, result.places)) or len(result.messages)
    counts = say_change(stands_for, len(result.messages))
    tokens = say_change(result.tokens_before, result.tokens_after)
    saved = percent_saved(result.tokens_before, result.tokens_after)
    return f"{counts} messages · {tokens} tokens ({saved})"


def say_change(before: int, after: int) -> str:
    """Spell a number before and after, or only once if it is the same."""
    return f"{before:,}" if before == after else f"{before:,} → {after:,}"
