"""What no budget may change: instructions, the task, the last question, open tool calls."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from refold.messages.blocks import open_calls
from refold.messages.formats import find_task
from refold.messages.message import Message
from refold.notation.recognize import is_digest
from refold.options import Options, Pin, PreservePattern


def find_untouchable(
    messages: Sequence[Message], options: Options, yielding: Collection[str] = ()
) -> dict[int, str]:
    """Map the index of every message that must stay word for word to the reason.

    Of several reasons, one that never yields takes precedence over the *yielding* ones.
    """
    reasons: dict[int, str] = {}
    turns = [message for message in messages if message.is_turn]
    users = [m for m in turns if m.role == "user" and not m.is_tool_result]
    sent = [m for m in users if not (m.is_stand_in and is_digest(m.parts[0].text))]
    wordless = [m for m in sent if not has_words(m) and (m.images or m.opaque)]
    asked = [m for m in sent if has_words(m)] or wordless
    for message in messages:
        if reason := reason_to_stay(message, options):
            reasons[message.index] = reason
    for index in open_calls(messages):
        reasons.setdefault(index, "open_tool_call")
    if asked:
        reasons.setdefault(find_task(asked).index, "first_task")
        reasons.setdefault(asked[-1].index, "last_user_message")
        for message in wordless:  # images after a question are part of it
            if message.index > asked[-1].index:
                reasons.setdefault(message.index, "user_turn")
    if options.min_recency_window:
        for message in turns[-options.min_recency_window :]:
            if message.index not in reasons or reasons[message.index] in yielding:
                reasons[message.index] = "min_recency_window"
    return reasons


def reason_to_stay(message: Message, options: Options) -> str:
    """Return why *message* stays regardless of the others; "" if it need not."""
    if not message.is_turn:
        return "not_a_turn"
    if message.is_fixed:
        return "fixed_item"
    if message.role in options.preserve:
        return "preserved_role"
    if is_pinned(message, options.pins):
        return "pinned"
    label = _matching(message, options.preserve_patterns)
    return f"pattern:{label}" if label else ""


def is_shared(message: Message) -> bool:
    """Tell whether *message* is a stand-in for several messages: nobody's own words."""
    return message.stands_for is not None and len(message.stands_for.ids) > 1


def has_words(message: Message) -> bool:
    """Tell whether *message* has any text, images aside."""
    return any(part.text.strip() for part in message.parts)


def _matching(message: Message, patterns: Sequence[PreservePattern]) -> str:
    """Return the label of the first pattern that *message* matches; "" for a shared stand-in."""
    if not patterns or is_shared(message):
        return ""
    texts = [part.text for part in message.parts]
    return next((e.label for e in patterns if any(map(e.pattern.search, texts))), "")


def find_last_words(messages: Sequence[Message]) -> list[tuple[Message, int]]:
    """Return the user's last texts, if they are beside tool results.

    They are kept while the results may be shortened. Each is a message and a part number.
    """
    for message in reversed(messages):
        if message.role != "user" or not message.is_turn:
            continue
        if numbers := _find_words(message):
            return [(message, n) for n in numbers] if message.is_tool_result else []
    return []


def words_beside_results(message: Message) -> str:
    """Return what the user says in *message* beside tool results; "" if there are none."""
    numbers = _find_words(message) if message.is_tool_result and message.role == "user" else ()
    return "\n".join(message.parts[number].text for number in numbers)


def _find_words(message: Message) -> list[int]:
    """Return the numbers of the texts that no tool returned."""
    return [n for n, part in enumerate(message.parts) if not part.call_id and part.text.strip()]


def is_pinned(message: Message, pins: Sequence[Pin]) -> bool:
    """Tell whether the caller has pinned *message*."""
    names = (message.id, f"role:{message.role}") if pins else ()
    return any(pin in names if isinstance(pin, str) else bool(pin(message.wire)) for pin in pins)
