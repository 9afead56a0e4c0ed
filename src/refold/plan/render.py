"""Write a plan as messages and originals; makes no decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from refold.messages.chain import Chain
from refold.messages.folds import Fold
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


@dataclass(slots=True, kw_only=True)
class Rendering:
    """The messages to send, and everything needed to restore the originals."""

    version: int = 0
    conversation: str | None = None
    messages: list[dict[str, Any]] = field(default_factory=list)
    verbatim: dict[str, Any] = field(default_factory=dict)
    """For the caller: originals by id, and links."""
    entries: dict[str, Any] = field(default_factory=dict)
    """For the store: originals by content, links and seals."""
    links: list[str] = field(default_factory=list)
    """The key of the provenance of each message; "" for most."""
    stand_ins: dict[str, str] = field(default_factory=dict)
    """Link of each new stand-in that has one → its summary id."""
    carried: dict[str, str] = field(default_factory=dict)
    """New link of each earlier stand-in → its old link."""
    chain: Chain | None = None
    """The chain that later messages continue."""

    def keep(self, source: Message) -> None:
        """Store an original."""
        original = clone_message(source.wire)
        self.verbatim[original_key(source)] = self.entries[source.digest] = original

    def link(self, key: str, provenance: Provenance, stand_in: str = "") -> None:
        """Store the provenance of a stand-in that cannot carry it."""
        record = provenance.to_record()
        self.entries[key] = record
        self.verbatim[key] = noted(record, stand_in)

    def carry(self, key: str, link: str) -> None:
        """Store *key* as an alias of a stand-in's *link*."""
        self.verbatim[key] = self.entries[key] = alias_of(link)

    def attach(self, message: dict[str, Any], provenance: Provenance) -> None:
        """Attach its sealed provenance to a message, beside its other metadata."""
        self.entries[attach(message, provenance, self.conversation)] = note_of(provenance)


def render(
    plan: Sequence[Fold], *, version: int, chain: Chain, conversation: str | None = None
) -> Rendering:
    """Write *plan*, which continues *chain*.

    The result shares nothing with the caller's objects.
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
    # Stand-ins before it are new, so its link changes; unless it would be guessable.
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
    """Write a view in which some messages are *sent* in a short form that the caller made.

    Each of them becomes a stand-in for its original. It continues *before*, the chain of the
    originals, and *after*, that of the view. A message that is no mapping, or would not be
    recognizable as a stand-in, is sent as it is.
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
    """Make a short form a stand-in for its original, if it is recognizable as one."""
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
    """Return the provenance of a stand-in for *sources*."""
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
        assert call.path is not None, "only calls that may be changed are clipped"
        put(message, call.path, clone(call.given))
    if fold.is_stripped:
        strip(message, first.format, fold.note)
    return message


def _drop_claim(message: dict[str, Any]) -> None:
    """Remove provenance that a stand-in has from its source, and that is not its own."""
    metadata = message.get(METADATA_KEY)
    if isinstance(metadata, dict):
        metadata.pop(PROVENANCE_KEY, None)


def attach(message: dict[str, Any], provenance: Provenance, conversation: str | None = None) -> str:
    """Attach *provenance* to *message*; return the key under which a store records its seal."""
    metadata = message.get(METADATA_KEY)
    seal = seal_of(message, provenance, conversation)
    message[METADATA_KEY] = {
        **(metadata if isinstance(metadata, dict) else {}),
        PROVENANCE_KEY: {**provenance.to_wire(), "seal": seal},
    }
    return seal_key(seal)
