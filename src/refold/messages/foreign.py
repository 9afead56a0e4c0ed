"""What a stand-in notes in its metadata of the originals that it stands for.

It is written for other tools, whose stand-ins have the same. Nobody believes it: `accept_foreign`
goes by it, if the caller asks for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.messages.manifest import Behind, Get, texts_in
from refold.messages.message import Message
from refold.messages.restore import Leaves
from refold.messages.wire import METADATA_KEY, Wire, letters_of

_PROVENANCE: Final = "_cce_original"
"""The key under `metadata`, shared with other tools of this family."""
_MOST_LEVELS: Final = 1_000
"""How deep stand-ins of other tools are replaced."""
ID_PREFIX: Final = "cce_sum_"
_ID_CHARS: Final = 12
"""Letters of a summary id: 56 bits."""


def summary_id_of_fold(fold: str) -> str:
    """Return the id of the stand-in for a fold."""
    return ID_PREFIX + letters_of(fold, _ID_CHARS)


def note_provenance(
    message: dict[str, Any], behind: Behind, version: int, sources: Sequence[Message]
) -> None:
    """Note in a stand-in what it stands for, if it may have one more key; nobody believes it."""
    metadata = message.get(METADATA_KEY)
    if not sources[0].has_envelope:
        if isinstance(metadata, dict):
            metadata.pop(_PROVENANCE, None)
        return
    noted = [(source.stands_for, _noted_in(source.wire)) for source in sources]
    parents = [
        summary_id_of_fold(known.fold) if known else str(claimed.get("summary_id"))
        for known, claimed in noted
        if known or claimed
    ]
    provenance = {
        "ids": list(behind.ids),
        "summary_id": summary_id_of_fold(behind.fold),
        **({"parent_ids": parents} if parents else {}),
        "version": version,
    }
    rest = metadata if isinstance(metadata, dict) else {}
    message[METADATA_KEY] = {**rest, _PROVENANCE: provenance}


def _noted_in(message: Wire) -> Mapping[str, Any]:
    metadata = message.get(METADATA_KEY)
    noted = metadata.get(_PROVENANCE) if isinstance(metadata, Mapping) else None
    return noted if isinstance(noted, Mapping) and texts_in(noted.get("ids")) else {}


def foreign_ids(message: Wire) -> tuple[str, ...]:
    """Return the ids of the originals that a message says that it stands for, true or not."""
    return texts_in(_noted_in(message).get("ids"))


def accept_foreign(
    messages: Sequence[Wire], get: Get, max_messages: int | None = None
) -> tuple[list[Wire], int, list[str]]:
    """Replace stand-ins that other tools wrote by the messages with the ids that they name.

    Nothing about them can be checked. Returns the messages, how many were replaced, and the ids
    that are missing.
    """
    restored: list[Wire] = []
    leaves = Leaves(get, max_messages, listed=len(messages))
    expanded, seen = 0, set[tuple[str, ...]]()
    waiting: list[tuple[Wire, frozenset[str]]] = [(m, frozenset()) for m in reversed(messages)]
    while waiting:
        wire, above = waiting.pop()
        ids = foreign_ids(wire)
        known = get(ids) if ids and len(above) < _MOST_LEVELS else {}
        lost = [id_ for id_ in ids if id_ in above or not isinstance(known.get(id_), Mapping)]
        leaves.missing |= dict.fromkeys(lost)
        if not ids or lost:
            restored.append(wire)
            continue
        expanded += 1
        leaves.listed += 0 if ids in seen else len(ids)
        seen.add(ids)
        waiting += [(known[id_], above | {id_}) for id_ in reversed(ids)]
        leaves.check(len(restored) + len(waiting))
    return restored, expanded, list(leaves.missing)
