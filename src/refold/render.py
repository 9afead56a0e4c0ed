"""Turn a plan into messages and originals; decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from refold.formats import write_rolled
from refold.model.message import Message
from refold.model.plan import Fold
from refold.model.provenance import (
    METADATA_KEY,
    PROVENANCE_KEY,
    Provenance,
    link_key,
)
from refold.model.wire import clone_message, digest, put_text
from refold.stages.originals import original_key, summary_id_of


@dataclass(slots=True, kw_only=True)
class Rendering:
    """Messages to send, and everything needed to undo the fold."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    verbatim: dict[str, Any] = field(default_factory=dict)
    """Originals by id, and links; what the caller gets."""
    entries: dict[str, Any] = field(default_factory=dict)
    """Originals by content, and links; what a store gets."""

    def keep(self, source: Message) -> None:
        """Keep an original."""
        original = clone_message(source.wire)
        self.verbatim[original_key(source)] = self.entries[source.digest] = original

    def link(self, stand_in_digest: str, provenance: Provenance) -> None:
        """Keep the provenance of a stand-in that cannot carry it."""
        key = link_key(stand_in_digest)
        self.verbatim[key] = self.entries[key] = provenance.to_wire()


def render(plan: Sequence[Fold], *, version: int) -> Rendering:
    """Write out *plan*. Nothing in the result is shared with the caller's objects."""
    rendering = Rendering()
    for fold in plan:
        if fold.is_kept:
            rendering.messages.append(clone_message(fold.sources[0].wire))
        else:
            rendering.messages.append(_render_fold(fold, rendering, version))
    return rendering


def _render_fold(fold: Fold, rendering: Rendering, version: int) -> dict[str, Any]:
    for source in fold.sources:
        rendering.keep(source)
    provenance = provenance_of(fold.sources, version)
    message = _write(fold)
    if fold.sources[0].has_envelope:
        attach(message, provenance)
    else:
        rendering.link(digest(message), provenance)
    return message


def provenance_of(sources: Sequence[Message], version: int) -> Provenance:
    """Say what a stand-in for *sources* stands for."""
    parents = [source.provenance.summary_id for source in sources if source.provenance]
    return Provenance(
        ids=tuple([original_key(source) for source in sources]),
        summary_id=summary_id_of(sources),
        digests=tuple([source.digest for source in sources]),
        parent_ids=tuple(parents),
        version=version,
    )


def _write(fold: Fold) -> dict[str, Any]:
    if fold.is_rolled:
        return write_rolled(fold.sources, fold.texts[0])
    first = fold.sources[0]
    message = clone_message(first.wire)
    for number, text in fold.texts.items():
        put_text(message, first.parts[number].path, text)
    return message


def attach(message: dict[str, Any], provenance: Provenance) -> None:
    """Let the message carry its provenance, beside whatever metadata it has."""
    metadata = message.get(METADATA_KEY)
    message[METADATA_KEY] = {
        **(metadata if isinstance(metadata, dict) else {}),
        PROVENANCE_KEY: provenance.to_wire(),
    }
