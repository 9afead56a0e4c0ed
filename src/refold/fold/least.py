"""The least view: what no budget may change, and one line for each stretch between."""

from __future__ import annotations

from collections.abc import Mapping

from refold.fold.lay_out import YIELDING, Layout, find_users, keep_ties
from refold.fold.pieces import Place, Reading
from refold.messages.blocks import find_blocks
from refold.messages.untouchable import find_last_words


def lay_out_least(
    reading: Reading,
    untouchable: Mapping[int, str],
    *,
    keeps_question: bool,
    keeps_task: bool = False,
) -> Layout:
    """Put everything into digests that may go there."""
    messages = reading.messages
    reasons = {
        index: why
        for index, why in untouchable.items()
        if why not in YIELDING
        or messages[index].images
        or messages[index].opaque
        or (keeps_question and why == "last_user_message")
        or (keeps_task and why == "first_task")
    }
    places = [Place.WHOLE if m.index in reasons else Place.DIGEST for m in messages]
    for message, _ in find_last_words(messages) if keeps_question else ():
        if places[message.index] is Place.DIGEST:
            places[message.index] = Place.EXCERPT
    layout = Layout(places, reasons, find_blocks(messages))
    layout.task = next((n for n in find_users(reading)[:1] if places[n] is Place.DIGEST), -1)
    keep_ties(layout, messages)
    return layout
