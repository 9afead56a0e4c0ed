"""A message written shorter as a whole: what no fold of its texts can do, and how to undo it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refold.formats import Loader
from refold.model.message import Message
from refold.model.provenance import METADATA_KEY, PROVENANCE_KEY, Provenance, link_key
from refold.render import Rendering
from refold.restore import looks_folded
from refold.stages.originals import original_key, summary_id_of


def stand_in(original: Message, wire: Mapping[str, Any], version: int) -> Message | None:
    """Make the message that stands for *original* and is written as *wire*.

    `None` if nobody could tell later that it is a stand-in: then it must not be made.
    """
    provenance = _provenance(original, version)
    if original.has_envelope:
        metadata = wire.get(METADATA_KEY)
        known = metadata if isinstance(metadata, Mapping) else {}
        wire = {**wire, METADATA_KEY: {**known, PROVENANCE_KEY: provenance.to_wire()}}
    elif not looks_folded(wire):
        return None
    loaded = Loader(original.format).load(wire, original.index)
    return loaded.changed(id=original.id, provenance=provenance)


def keep_original(original: Message, shown: Message, rendering: Rendering, version: int) -> None:
    """Add to *rendering* what it takes to find *original* again behind *shown*."""
    rendering.keep(original)
    if not original.has_envelope:
        link = _provenance(original, version).to_wire()
        key = link_key(shown.digest)
        rendering.entries[key] = rendering.verbatim[key] = link


def _provenance(original: Message, version: int) -> Provenance:
    parents = () if original.provenance is None else (original.provenance.summary_id,)
    return Provenance(
        ids=(original_key(original),),
        summary_id=summary_id_of((original,)),
        digests=(original.digest,),
        parent_ids=parents,
        version=version,
    )
