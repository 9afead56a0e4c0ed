"""What no budget may touch: instructions, the task, the last question, open tool calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from refold.errors import ConfigError
from refold.messages.formats import find_task
from refold.messages.message import Message
from refold.notation.recognize import is_digest
from refold.options import Options, Pin, PreservePattern
from refold.plan.blocks import open_calls
from refold.plan.rules.protect import is_pinned


def find_untouchable(
    messages: Sequence[Message], options: Options, yielding: Collection[str] = ()
) -> dict[int, str]:
    """Map the index of every message that must survive word for word to the reason.

    A reason that never yields comes before one of those that are *yielding*.
    """
    found: dict[int, str] = {}
    turns = [message for message in messages if message.is_turn]
    users = [m for m in turns if m.role == "user" and not m.is_tool_result]
    sent = [m for m in users if not (m.is_stand_in and is_digest(m.parts[0].text))]
    wordless = [m for m in sent if not has_words(m) and (m.images or m.opaque)]
    asked = [m for m in sent if has_words(m)] or wordless
    for message in messages:
        if reason := _reason_to_stay(message, options):
            found[message.index] = reason
    for index in open_calls(messages):
        found.setdefault(index, "open_tool_call")
    if asked:
        found.setdefault(find_task(asked).index, "first_task")
        found.setdefault(asked[-1].index, "last_user_message")
        for message in wordless:  # pictures after a question are part of it
            if message.index > asked[-1].index:
                found.setdefault(message.index, "user_turn")
    if options.min_recency_window:
        for message in turns[-options.min_recency_window :]:
            if message.index not in found or found[message.index] in yielding:
                found[message.index] = "min_recency_window"
    return found


def _reason_to_stay(message: Message, options: Options) -> str:
    """Say why *message* stays whatever is said around it; nothing if it does not."""
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
    """Tell whether *message* is a summary of ours for several others: no words of anybody's."""
    return message.provenance is not None and len(message.provenance.ids) > 1


def has_words(message: Message) -> bool:
    """Tell whether *message* says anything, beside what pictures say."""
    return any(part.text.strip() for part in message.parts)


def _matching(message: Message, patterns: Sequence[PreservePattern]) -> str:
    """Return the label of the first pattern that *message* matches, if its words are somebody's."""
    if not patterns or is_shared(message):
        return ""
    texts = [part.text for part in message.parts]
    return next((e.label for e in patterns if any(map(e.pattern.search, texts))), "")


def find_last_words(messages: Sequence[Message]) -> list[tuple[Message, int]]:
    """Return the texts that the user said last, if they stand beside tool results.

    They are kept, while the results may be shortened; each is a message and the number of a part.
    """
    for message in reversed(messages):
        if message.role != "user" or not message.is_turn:
            continue
        if said := _find_words(message):
            return [(message, n) for n in said] if message.is_tool_result else []
    return []


def words_beside_results(message: Message) -> str:
    """Return what the user says in *message* beside the results of tools; nothing without such."""
    said = _find_words(message) if message.is_tool_result and message.role == "user" else ()
    return "\n".join(message.parts[number].text for number in said)


def _find_words(message: Message) -> list[int]:
    """Return the numbers of the texts that are no tool's."""
    return [n for n, part in enumerate(message.parts) if not part.call_id and part.text.strip()]


def check_pins(pins: Iterable[object]) -> None:
    """Refuse what can pin nothing."""
    for pin in pins:
        if not isinstance(pin, str) and not callable(pin):
            raise ConfigError(f"a pin is an id, role:NAME or a predicate; got {pin!r}")


def find_pinned(messages: Sequence[Message], pins: Sequence[Pin]) -> dict[int, str]:
    """Map the index of every message that must stay to the reason, beside what no budget touches.

    Also a turn without text, such as a picture: some providers want the user to speak first.
    """
    said = [m.index for m in messages if m.role == "user" and not m.is_tool_result]
    found = dict.fromkeys((*said[:1], *said[-1:]), "user_turn")
    found.update((m.index, "pinned") for m in messages if is_pinned(m, pins))
    # A turn with words has its own name for why it stays.
    return {i: why for i, why in found.items() if why == "pinned" or not has_words(messages[i])}
