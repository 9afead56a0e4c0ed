"""A message written shorter as a whole: what no fold of its texts can do, and how to undo it."""

from __future__ import annotations

from typing import Any

from refold.formats import Loader
from refold.model.message import Message
from refold.render import Rendering, attach, provenance_of
from refold.restore import looks_folded


def stand_in(original: Message, wire: dict[str, Any], version: int) -> Message | None:
    """Make the message that stands for *original* out of *wire*, which it takes over.

    `None` if nobody could tell later that it is a stand-in: then it must not be made.
    """
    provenance = provenance_of((original,), version)
    if original.has_envelope:
        attach(wire, provenance)
    elif not looks_folded(wire):
        return None
    loaded = Loader(original.format).load(wire, original.index)
    return loaded.changed(id=original.id, provenance=provenance)


def keep_original(original: Message, shown: Message, rendering: Rendering, version: int) -> None:
    """Add to *rendering* what it takes to find *original* again behind *shown*."""
    rendering.keep(original)
    if not original.has_envelope:
        rendering.link(shown.digest, provenance_of((original,), version))
