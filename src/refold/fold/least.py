"""The least view: what no budget may change, and one line for each stretch between."""

from __future__ import annotations

from collections.abc import Mapping

from refold.fold.lay_out import YIELDING, Layout
from refold.fold.pieces import Place, Reading
from refold.messages.blocks import find_blocks


def lay_out_least(
    reading: Reading, untouchable: Mapping[int, str], *, keeps_question: bool
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
    }
    places = [Place.WHOLE if m.index in reasons else Place.DIGEST for m in messages]
    blocks = find_blocks(messages)
    for block in blocks:
        if len(block) > 1 and any(places[i] is Place.WHOLE for i in block):
            for i in block:
                if places[i] is Place.DIGEST:
                    places[i] = Place.EXCERPT
    return Layout(places, reasons, blocks)
