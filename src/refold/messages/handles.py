"""Handles: the names that stand-ins show, derived from what they stand for.

A handle is as short as it can be. Where a conversation has a name, or a stand-in stands behind
another one, few letters are enough; the first stand-in of a conversation without a name shows
`ANCHOR_CHARS` of them, so that it cannot be guessed or met by chance. A stand-in that takes its
place later shows the same ones, and its own short handle right behind them.
"""

from __future__ import annotations

from collections.abc import Sequence

from refold.messages.message import Message
from refold.messages.provenance import ID_PREFIX, find_anchors, make_anchor, make_summary_id
from refold.messages.wire import text_digest
from refold.notation.marks import ANCHOR_CHARS, HANDLE_CHARS
from refold.notation.spelling import Spelling


def own_part(handle: str) -> str:
    """Return the letters of a shown handle that say what it is the handle of.

    Behind an anchor, which may be that of the stand-in that this one took the place of, follows
    its own short handle.
    """
    return handle[ANCHOR_CHARS:] or handle


def anchor_of_text(text: str) -> str:
    """Derive the longest handle of a text: the same text, the same handle, on every machine."""
    return make_anchor((), (text_digest(text),))


def summary_id_of(sources: Sequence[Message]) -> str:
    """Derive the id of the stand-in for *sources*; that for a single one is derived once."""
    first = sources[0]
    if len(sources) == 1 and first.lone_id is not None:
        return first.lone_id
    made = make_summary_id(*_names(sources))
    if len(sources) == 1:
        first.lone_id = made
    return made


def handle_of(sources: Sequence[Message]) -> str:
    """Return the handle that a mark for *sources* shows, with which a model can fetch them."""
    return summary_id_of(sources)[len(ID_PREFIX) : len(ID_PREFIX) + HANDLE_CHARS]


def carries_provenance(sources: Sequence[Message]) -> bool:
    """Tell whether the stand-in for *sources* says itself what it stands for.

    One that hides an anchor shows it instead: other stand-ins may be found through it.
    """
    hides_anchor = any(source.link and find_anchors(source.wire) for source in sources)
    return sources[0].has_envelope and not hides_anchor


def tag_handle_of(sources: Sequence[Message], spelling: Spelling) -> str:
    """Return the handle that a stand-in shows; none where the words of tags are laid down.

    A message that cannot carry provenance is found by its words, so two that read the same would
    have the same handle for the model that reads them.
    """
    is_shown = spelling.shows_handles or not carries_provenance(sources)
    return handle_of(sources) if is_shown else ""


def anchor_of(sources: Sequence[Message]) -> str:
    """Return the long handle of the stand-in for *sources*."""
    return make_anchor(*_names(sources))


def _names(sources: Sequence[Message]) -> tuple[list[str], list[str]]:
    return [original_key(message) for message in sources], [message.digest for message in sources]


def original_key(message: Message) -> str:
    """Return the key under which *message* is kept when something stands in for it.

    A stand-in shares its id with its first source, so folding it again under that id would bury
    the source. Its summary id would not do either: other tools give the same one to many.
    """
    is_like_one = message.claims_provenance or bool(message.link)
    return f"{message.id}@{message.digest[:12]}" if is_like_one else message.id
