"""Turn a plan into messages and originals; decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from refold.model.message import Message
from refold.model.plan import Fold
from refold.model.provenance import (
    METADATA_KEY,
    PROVENANCE_KEY,
    Provenance,
    link_key,
    make_summary_id,
)
from refold.model.wire import clone, clone_with, digest
from refold.stages.originals import original_key
from refold.stages.tags import with_id

ROLLED_ROLE = "assistant"
"""A roll-up speaks of what happened; nobody's words are put into the user's mouth."""

KnownLinks = Callable[[str], Provenance | None]
"""Looks up which originals a link already stands for, if it is taken."""


@dataclass(slots=True, kw_only=True)
class Rendering:
    """Messages to send, and everything needed to undo the fold."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    verbatim: dict[str, Any] = field(default_factory=dict)
    """Originals by id, and links; what the caller gets."""
    entries: dict[str, Any] = field(default_factory=dict)
    """Originals by content, and links; what a store gets."""


def render(plan: Sequence[Fold], *, version: int, known: KnownLinks) -> Rendering:
    """Write out *plan*. Nothing in the result is shared with the caller's objects."""
    rendering = Rendering()
    for fold in plan:
        if fold.is_kept:
            rendering.messages.append(clone(dict(fold.sources[0].wire)))
        else:
            _render_fold(fold, rendering, version, known)
    return rendering


def _render_fold(fold: Fold, rendering: Rendering, version: int, known: KnownLinks) -> None:
    provenance = _keep_originals(fold.sources, rendering, version)
    message = _write(fold, {})
    if fold.sources[0].has_envelope:
        _attach(message, provenance)
    else:
        message = _link(message, fold, provenance, rendering, known)
    rendering.messages.append(message)


def _keep_originals(sources: tuple[Message, ...], rendering: Rendering, version: int) -> Provenance:
    keys, digests, parents = [], [], []
    for source in sources:
        original = clone(dict(source.wire))
        key, name = original_key(source), digest(source.wire)
        rendering.verbatim[key] = original
        rendering.entries[name] = original
        keys.append(key)
        digests.append(name)
        if source.provenance:
            parents.append(source.provenance.summary_id)
    return Provenance(
        ids=tuple(keys),
        summary_id=make_summary_id(keys, digests),
        digests=tuple(digests),
        parent_ids=tuple(parents),
        version=version,
    )


def _write(fold: Fold, replaced: Mapping[int, str]) -> dict[str, Any]:
    texts = {**fold.texts, **replaced}
    if fold.is_rolled:
        first = fold.sources[0].wire
        identity = {"id": first["id"]} if "id" in first else {}
        return {**identity, "role": ROLLED_ROLE, "content": texts[0]}
    parts = fold.sources[0].parts
    return clone_with(
        fold.sources[0].wire, {parts[number].path: text for number, text in texts.items()}
    )


def _attach(message: dict[str, Any], provenance: Provenance) -> None:
    """Let the message carry its provenance, beside whatever metadata it has."""
    metadata = message.get(METADATA_KEY)
    message[METADATA_KEY] = {
        **(metadata if isinstance(metadata, dict) else {}),
        PROVENANCE_KEY: provenance.to_wire(),
    }


def _link(
    message: dict[str, Any],
    fold: Fold,
    provenance: Provenance,
    rendering: Rendering,
    known: KnownLinks,
) -> dict[str, Any]:
    """Keep provenance under the content of a message that has no place for it.

    Should two stand-ins for different originals read the same, the later one gets its id into its
    text: what a link leads to is never in doubt.
    """
    key = link_key(digest(message))
    taken = Provenance.from_wire(rendering.entries.get(key)) or known(key)
    if taken is not None and taken.digests != provenance.digests:
        number, text = next(iter(fold.texts.items()))
        message = _write(fold, {number: with_id(text, provenance.summary_id)})
        key = link_key(digest(message))
    rendering.entries[key] = rendering.verbatim[key] = provenance.to_wire()
    return message
