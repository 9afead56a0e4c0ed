"""Messages that must stay: the caller's pins, and the user's first and last turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from refold.budget.guard import has_words
from refold.errors import ConfigError
from refold.model.message import Message
from refold.options import Pin
from refold.stages.protect import is_pinned


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
