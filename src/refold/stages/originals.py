"""Under which key an original is kept, and which id its stand-in gets."""

from __future__ import annotations

from collections.abc import Sequence

from refold.model.message import Message
from refold.model.provenance import ID_PREFIX, make_summary_id

HANDLE_CHARS = 6


def summary_id_of(sources: Sequence[Message]) -> str:
    """Derive the id of the stand-in for *sources*; that for a single one is derived once."""
    first = sources[0]
    if len(sources) == 1 and first.lone_id is not None:
        return first.lone_id
    keys = [original_key(message) for message in sources]
    made = make_summary_id(keys, [message.digest for message in sources])
    if len(sources) == 1:
        first.lone_id = made
    return made


def handle_of(sources: Sequence[Message]) -> str:
    """Return the handle that the stand-in for *sources* shows, if it needs one.

    A message that cannot carry provenance is found by its content, so two stand-ins that read the
    same must stand for the same originals: the handle, derived from those, sees to it.
    """
    if sources[0].has_envelope:
        return ""
    return summary_id_of(sources).removeprefix(ID_PREFIX)[:HANDLE_CHARS]


def original_key(message: Message) -> str:
    """Return the key under which *message* is kept when something stands in for it.

    A stand-in shares its id with its first source, so folding it again under that id would bury
    the source. Its summary id would not do either: other tools give the same one to many.
    """
    return f"{message.id}@{message.digest[:12]}" if message.provenance else message.id
