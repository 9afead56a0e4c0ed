"""Read a conversation as it is to be sent: short forms shown, summaries of ours taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from refold.errors import MessageError, TooManyMessagesError
from refold.formats import check_list, load
from refold.model.message import Message
from refold.restore import Lookup, looks_folded, restore

Wires = Sequence[Mapping[str, Any]]


def as_sent(messages: Wires) -> Wires:
    """Return *messages* with the short forms of `CompressionManager` in the place of the long."""
    # A sibling: late, so that neither needs the other first.
    from refold.agent.beside import has_short_form, shown

    if not any(map(has_short_form, check_list(messages))):
        return messages
    return [shown(message) if isinstance(message, dict) else message for message in messages]


def unroll(
    messages: Sequence[Message], lookup: Lookup, most: int
) -> list[tuple[Mapping[str, Any], int]] | None:
    """Return the conversation with earlier roll-ups of ours replaced by what they stand for.

    A summary is made from the originals as long as they can be found and are not more than *most*;
    what else there is stays as it is. Each message comes with the index of the one that it, or
    what it stood behind, was given as. `None` if there is nothing to replace.
    """
    unrolled: list[tuple[Mapping[str, Any], int]] = []
    for message in messages:
        originals: Sequence[Mapping[str, Any]] = [message.wire]
        if message.provenance is not None or looks_folded(message.wire):
            originals = _originals(message, lookup, most)
        unrolled.extend((original, message.index) for original in originals)
    if len(unrolled) == len(messages):
        return None
    try:
        load([wire for wire, _ in unrolled])
    except MessageError:  # originals that stand beside their own summary: ids would clash
        return None
    return unrolled


def _originals(message: Message, lookup: Lookup, most: int) -> Sequence[Mapping[str, Any]]:
    """Return the messages behind one, or that one if they are too many, or not several."""
    try:
        found = restore([message.wire], lookup, recursive=True, max_messages=most).messages
    except TooManyMessagesError:
        return [message.wire]
    return found if len(found) > 1 else [message.wire]
