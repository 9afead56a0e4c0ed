"""Turn a plan into messages and originals; decides nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from refold.messages.chain import Chain
from refold.messages.formats import recognize, strip, write_rolled
from refold.messages.handles import carries_provenance, original_key, summary_id_of
from refold.messages.message import Message, has_envelope
from refold.messages.provenance import (
    LINK_PREFIX,
    METADATA_KEY,
    PROVENANCE_KEY,
    Provenance,
    alias_of,
    looks_folded,
    make_summary_id,
    note_of,
    noted,
    read_provenance,
    seal_key,
    seal_of,
    shows_long_handle,
    stand_in_digest,
)
from refold.messages.wire import clone, clone_message, digest, put
from refold.plan.fold import Fold


@dataclass(slots=True, kw_only=True)
class Rendering:
    """Messages to send, and everything needed to undo the fold."""

    version: int = 0
    conversation: str | None = None
    messages: list[dict[str, Any]] = field(default_factory=list)
    verbatim: dict[str, Any] = field(default_factory=dict)
    """Originals by id, and links; what the caller gets."""
    entries: dict[str, Any] = field(default_factory=dict)
    """Originals by content, links and seals; what a store gets."""
    links: list[str] = field(default_factory=list)
    """The key under which the provenance of each message is found; empty for most."""
    stand_ins: dict[str, str] = field(default_factory=dict)
    """The link of each new stand-in that has one, and its summary id."""
    carried: dict[str, str] = field(default_factory=dict)
    """The new link of each stand-in that was there before, and the old one."""
    chain: Chain | None = None
    """What later messages go on from."""

    def keep(self, source: Message) -> None:
        """Keep an original."""
        original = clone_message(source.wire)
        self.verbatim[original_key(source)] = self.entries[source.digest] = original

    def link(self, key: str, provenance: Provenance, stand_in: str = "") -> None:
        """Keep the provenance of a stand-in that cannot carry it."""
        record = provenance.to_record()
        self.entries[key] = record
        self.verbatim[key] = noted(record, stand_in)

    def carry(self, key: str, link: str) -> None:
        """Let a stand-in that is known as *link* be found under another key."""
        self.verbatim[key] = self.entries[key] = alias_of(link)

    def attach(self, message: dict[str, Any], provenance: Provenance) -> None:
        """Let a message carry its provenance under a seal, beside whatever metadata it has."""
        self.entries[attach(message, provenance, self.conversation)] = note_of(provenance)


def render(
    plan: Sequence[Fold], *, version: int, chain: Chain, conversation: str | None = None
) -> Rendering:
    """Write out *plan*, which goes on where *chain* ends.

    Nothing in the result is shared with the caller's objects.
    """
    rendering = Rendering(version=version, conversation=conversation, chain=chain)
    for fold in plan:
        if fold.is_kept:
            rendering.messages.append(_render_kept(fold.sources[0], rendering, chain))
        else:
            rendering.messages.append(_render_fold(fold, rendering, chain))
    return rendering


def _render_kept(source: Message, rendering: Rendering, chain: Chain) -> dict[str, Any]:
    message = clone_message(source.wire)
    key = chain.link_of(message) if source.link or source.claims_provenance else ""
    rendering.links.append(key)
    # Others before it are new: from now on it is found here, unless anybody could guess where.
    if key != source.link and (chain.is_anchored or shows_long_handle(message)):
        rendering.carry(key, source.link)
        if source.provenance is not None:
            rendering.carried[key] = source.link
    return message


def _render_fold(fold: Fold, rendering: Rendering, chain: Chain) -> dict[str, Any]:
    for source in fold.sources:
        rendering.keep(source)
    provenance = provenance_of(fold.sources, rendering.version)
    message = _write(fold)
    if carries_provenance(fold.sources):
        rendering.attach(message, provenance)
        rendering.links.append(chain.link_of(message))
        return message
    _drop_claim(message)
    if not fold.is_marked and (key := chain.link_of(message)):
        rendering.link(key, provenance, stand_in_digest(message))
        rendering.links.append(key)
    else:
        name = stand_in_digest(message)
        key = chain.add(message, name)
        rendering.link(key, provenance, name)
        rendering.stand_ins[key] = provenance.summary_id
        rendering.links.append(key)
    return message


def render_short_forms(
    originals: Sequence[Any],
    sent: Sequence[Any],
    conversation: str | None = None,
    *,
    before: Chain | None = None,
    after: Chain | None = None,
) -> Rendering:
    """Write out a view in which some messages are *sent* in a short form of their own.

    It goes on where *before*, the chain of the originals, and *after*, that of the view, end.

    Each stands for its original then, as in any other view. What is no mapping, or could not be
    told from what people write, is sent as it is.
    """
    rendering = Rendering(conversation=conversation)
    shape = recognize(originals).name
    before, after = before or Chain(conversation), after or Chain(conversation)
    for index, (original, message) in enumerate(zip(originals, sent, strict=True)):
        if not isinstance(original, Mapping) or not isinstance(message, dict):
            rendering.messages.append(message)
            continue
        link = before.link_of(original)
        if message == original:
            rendering.messages.append(message)
            key = after.link_of(message)
            if key != link and (after.is_anchored or shows_long_handle(message)):
                rendering.carry(key, link)
        else:
            fresh = clone_message(message)
            _tie(fresh, index, original, link, format=shape, rendering=rendering, chain=after)
            rendering.messages.append(fresh)
    return rendering


def _tie(
    message: dict[str, Any],
    index: int,
    original: Mapping[str, Any],
    link: str,
    *,
    format: str,
    rendering: Rendering,
    chain: Chain,
) -> None:
    """Let a short form stand for its original, if it can be told from what people write."""
    name = digest(original)
    id_ = original.get("id")
    key = id_ if isinstance(id_, str) else f"m{index}-{name[:8]}"
    if read_provenance(original) is not None or link:
        key = f"{key}@{name[:12]}"  # as `original_key` has it
    provenance = Provenance(
        ids=(key,),
        summary_id=make_summary_id((key,), (name,)),
        digests=(name,),
        links={0: link.removeprefix(LINK_PREFIX)} if link else {},
    )
    if has_envelope(original, format):
        rendering.attach(message, provenance)
        chain.link_of(message)
    elif looks_folded(message):
        said = stand_in_digest(message)
        rendering.link(chain.add(message, said), provenance, said)
    else:
        return
    rendering.verbatim[key] = rendering.entries[name] = clone_message(original)


def provenance_of(sources: Sequence[Message], version: int) -> Provenance:
    """Say what a stand-in for *sources* stands for."""
    parents = [source.provenance.summary_id for source in sources if source.provenance]
    links = [(n, source.link) for n, source in enumerate(sources) if source.link]
    return Provenance(
        ids=tuple([original_key(source) for source in sources]),
        summary_id=summary_id_of(sources),
        digests=tuple([source.digest for source in sources]),
        parent_ids=tuple(parents),
        links={n: link.removeprefix(LINK_PREFIX) for n, link in links},
        version=version,
    )


def _write(fold: Fold) -> dict[str, Any]:
    if fold.is_rolled:
        return write_rolled(fold.sources, fold.texts[0], fold.role)
    first = fold.sources[0]
    message = clone_message(first.wire)
    for number, text in fold.texts.items():
        put(message, first.parts[number].path, text)
    for call in fold.calls.values():
        assert call.path is not None, "only what may be written shorter is"
        put(message, call.path, clone(call.given))
    if fold.is_stripped:
        strip(message, first.format, fold.note)
    return message


def _drop_claim(message: dict[str, Any]) -> None:
    """Let a stand-in that carries no provenance claim none, as what it stands for may."""
    metadata = message.get(METADATA_KEY)
    if isinstance(metadata, dict):
        metadata.pop(PROVENANCE_KEY, None)


def attach(message: dict[str, Any], provenance: Provenance, conversation: str | None = None) -> str:
    """Let *message* carry its provenance; return the key under which a store notes that."""
    metadata = message.get(METADATA_KEY)
    seal = seal_of(message, provenance, conversation)
    message[METADATA_KEY] = {
        **(metadata if isinstance(metadata, dict) else {}),
        PROVENANCE_KEY: {**provenance.to_wire(), "seal": seal},
    }
    return seal_key(seal)
