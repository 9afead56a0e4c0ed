"""A message written shorter as a whole: what no fold of its texts can do, and how to undo it."""

from __future__ import annotations

from typing import Any

from refold.formats import Loader
from refold.model.message import Message
from refold.model.provenance import (
    inner_key,
    looks_folded,
    note_of,
    seal_key,
    seal_of,
)
from refold.render import Rendering, attach, provenance_of


def stand_in(
    original: Message, wire: dict[str, Any], version: int, conversation: str | None = None
) -> Message | None:
    """Make the message that stands for *original* out of *wire*, which it takes over.

    `None` if nobody could tell later that it is a stand-in: then it must not be made.
    """
    provenance = provenance_of((original,), version)
    link = ""
    if original.has_envelope:
        attach(wire, provenance, conversation)
    elif looks_folded(wire):
        link = inner_key(wire, provenance)
    else:
        return None
    loaded = Loader(original.format).load(wire, original.index)
    return loaded.changed(id=original.id, provenance=provenance, link=link)


def keep_original(original: Message, shown: Message, rendering: Rendering, link: str = "") -> None:
    """Add to *rendering* what it takes to find *original* again behind *shown*.

    *link* is the key of what is shown in the view; what was folded since has one of its own.
    """
    rendering.keep(original)
    provenance = provenance_of((original,), rendering.version)
    if shown.link:
        rendering.link(link or shown.link, provenance)
    else:
        seal = seal_of(shown.wire, provenance, rendering.conversation)
        rendering.entries[seal_key(seal)] = note_of(provenance)
