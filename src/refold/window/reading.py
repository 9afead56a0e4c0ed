"""Read a conversation as it is to be sent: short forms shown, summaries of ours taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refold.errors import MessageError, TooManyMessagesError
from refold.messages.formats import check_list, load
from refold.messages.message import Message
from refold.messages.provenance import Chain
from refold.messages.restore import Linked, Lookup, Trust, unfold_wholly
from refold.plan.render import Rendering, render_short_forms

Wires = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Chains:
    """Where the stand-ins of a list end: as they were given, and as they are sent.

    They differ where a `CompressionManager` has put short forms beside contents.
    """

    given: Chain
    sent: Chain

    def copy(self) -> Chains:
        """Return chains that go on from here on their own."""
        return Chains(self.given.copy(), self.sent.copy())


def as_sent(
    messages: Wires, chains: Chains, conversation: str | None
) -> tuple[Wires, Rendering | None]:
    """Show the short forms of `CompressionManager` in the place of the long ones.

    Returns what is sent then, and what it takes to undo that. The chain of what was given goes on
    to the end of *messages*; that of what is sent is left to whoever reads them.
    """
    # A sibling: late, so that neither needs the other first.
    from refold.agent.shapes import apply_short_form, drop_short_form, has_short_form

    if not any(map(has_short_form, check_list(messages))):
        for message in messages:
            chains.given.link_of(message)
        return messages, None
    sent = [
        apply_short_form(message) if isinstance(message, dict) else message for message in messages
    ]
    originals = [drop_short_form(message) for message in messages]
    rendering = render_short_forms(
        originals, sent, conversation, before=chains.given, after=chains.sent.copy()
    )
    return rendering.messages, rendering


def unroll(
    messages: Sequence[Message], lookup: Lookup, own: Lookup, trust: Trust, most: int
) -> list[tuple[Linked, int]] | None:
    """Return the conversation with earlier stand-ins of ours replaced by what they stand for.

    A summary is made from the originals as long as they can be found and are not more than *most*.
    What stands for one message is replaced only if *own* knows it: what others made short, such as
    a `CompressionManager`, stays so. Each message comes with the index of the one that it, or what
    it stood behind, was given as. `None` if there is nothing to replace.
    """
    unrolled: list[tuple[Linked, int]] = []
    is_other = False
    for message in messages:
        originals: Sequence[Linked] = [(message.wire, message.link)]
        if message.claims_provenance or message.link:
            originals = _originals(message, lookup, own, trust, most)
            is_other = is_other or originals[0][0] is not message.wire
        unrolled.extend((original, message.index) for original in originals)
    if not is_other:
        return None
    try:
        load([wire for (wire, _), _ in unrolled])
    except MessageError:  # originals that stand beside their own summary: ids would clash
        return None
    return unrolled


def _originals(
    message: Message, lookup: Lookup, own: Lookup, trust: Trust, most: int
) -> Sequence[Linked]:
    """Return the messages behind one, or that one if they are too many or unknown."""
    linked = (message.wire, message.link)
    try:
        found = unfold_wholly(linked, lookup, trust, most)
        return found if len(found) > 1 else unfold_wholly(linked, own, trust, most)
    except TooManyMessagesError:
        return [linked]
