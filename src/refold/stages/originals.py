"""Under which key an original is kept, and which id its stand-in gets."""

from __future__ import annotations

from collections.abc import Sequence

from refold.model.message import Message
from refold.model.provenance import make_summary_id
from refold.model.wire import digest


def summary_id_of(sources: Sequence[Message]) -> str:
    """Derive the id of the stand-in for *sources*."""
    keys = [original_key(message) for message in sources]
    return make_summary_id(keys, [digest(message.wire) for message in sources])


def original_key(message: Message) -> str:
    """Return the key under which *message* is kept when something stands in for it.

    A stand-in shares its id with its first source, so folding it again under that id would bury
    the source: it goes under its own summary id instead.
    """
    return message.provenance.summary_id if message.provenance else message.id
