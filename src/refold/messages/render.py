"""Write a plan as messages, originals and the records of its view; makes no decisions."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from refold.messages.folds import Fold
from refold.messages.foreign import foreign_ids, note_provenance
from refold.messages.formats import Loader, find_format, recognize, strip
from refold.messages.formats.objects import normalize
from refold.messages.handles import behind_of
from refold.messages.manifest import NOTHING, Behind, Trail, ViewRow, read_wording, write_view
from refold.messages.message import Message
from refold.messages.wire import clone, clone_message, id_of, put


@dataclass(slots=True, kw_only=True)
class Rendering:
    """The messages to send, and everything needed to restore the originals."""

    trail: Trail
    """The whole view."""
    messages: list[dict[str, Any]] = field(default_factory=list)
    verbatim: dict[str, Any] = field(default_factory=dict)
    """For the caller: originals by id, and records."""
    entries: dict[str, Any] = field(default_factory=dict)
    """For the store: originals by content, and records."""
    stands: list[Behind | None] = field(default_factory=list[Behind | None])
    """What each message stands for; `None` for most."""
    owners: dict[str, int] = field(default_factory=dict[str, int])
    """The number of the message that each record which may be taken is of."""

    def keep(self, source: Message) -> None:
        """Store an original."""
        original = clone_message(source.wire)
        # What shows a stand-in may be one, of which another store knows, with the id of its source.
        is_doubtful = foreign_ids(source.wire) or read_wording(source.wire, source).is_marked
        is_taken = is_doubtful or self.verbatim.get(source.id, original) != original
        key = source.digest if is_taken else source.id
        self.verbatim[key] = self.entries[source.digest] = original

    def finish(self, rows: Sequence[ViewRow]) -> None:
        """Write the records of the view, which ends with these *rows*."""
        records, self.owners = write_view(self.trail, rows)
        self.entries |= records
        self.verbatim |= records


def render(
    plan: Sequence[Fold], *, version: int, trail: Trail, rewritten: Container[int] = ()
) -> Rendering:
    """Write *plan*, which continues *trail*.

    *rewritten* are the places of messages that were written shorter before the plan was made. The
    result shares nothing with the caller's objects.
    """
    rendering = Rendering(trail=trail)
    rows: list[ViewRow] = []
    for fold in plan:
        source = fold.sources[0]
        if fold.is_kept:
            message = clone_message(source.wire)
            behind, is_new = source.stands_for, source.index in rewritten
        else:
            message = _write(fold)
            behind, is_new = behind_of(fold.sources), True
            for original in fold.sources:
                if original.stands_for is None:
                    rendering.keep(original)
            note_provenance(message, behind, version, fold.sources)
        loaded = source if fold.is_kept else None
        wording = read_wording(message, loaded, source.index)
        rows.append(ViewRow(wording, behind, is_new, id_of(message)))
        rendering.messages.append(message)
        rendering.stands.append(behind)
    rendering.finish(rows)
    return rendering


def render_short_forms(
    originals: Sequence[Any], sent: Sequence[Any], trail: Trail, source_trail: Trail | None = None
) -> Rendering:
    """Write a view in which some messages are *sent* in a short form that the caller made.

    Each of them becomes a stand-in for its original. The view continues *trail*; *source_trail* is
    what is known of the *originals*. A message that is not a mapping, or would not be recognizable
    as a stand-in, is sent as it is.
    """
    known = dict(source_trail.stands) if source_trail else {}
    rendering = Rendering(trail=trail)
    loader = Loader(recognize(originals).name)
    rows: list[ViewRow] = []
    for index, (original, message) in enumerate(zip(originals, sent, strict=True)):
        behind = None
        if isinstance(original, Mapping) and isinstance(message, dict):
            wording = read_wording(message, index=index)
            if index in known:
                behind = Behind(known[index])
            elif wording.is_marked and message == original:  # nobody knows what is behind it
                trail.looked = NOTHING
            elif wording.is_marked:
                source = loader.load(original, index)
                behind = behind_of((source,))
                message = clone_message(message)  # noqa: PLW2901
                note_provenance(message, behind, 0, (source,))
                rendering.keep(source)
            is_new = behind is not None and index not in known
            rows.append(ViewRow(wording, behind, is_new, id_of(message)))
        rendering.messages.append(message)
        rendering.stands.append(behind)
    rendering.finish(rows)
    return rendering


def _write(fold: Fold) -> dict[str, Any]:
    first = fold.sources[0]
    if fold.is_rolled:
        wires = [source.wire for source in fold.sources]
        return normalize(find_format(first.format).write(wires, fold.texts[0], fold.role))
    message = clone_message(first.wire)
    for number, text in fold.texts.items():
        put(message, first.parts[number].path, text)
    for call in fold.calls.values():
        assert call.path is not None, "only calls that may be changed are clipped"
        put(message, call.path, clone(call.raw_arguments))
    if fold.is_stripped:
        strip(message, first.format, fold.note)
    return message
