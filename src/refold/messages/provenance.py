"""What names a fold: keys that follow from content, and the letters and ids that follow from keys.

An original is kept under a digest of its exact spelling, a fold under one of what it stands for.
Nothing here is believed when it comes back in a message: `refold.messages.manifest` says what is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple, Self

from refold.messages.wire import spell

ID_KEY: Final = "id"
METADATA_KEY: Final = "metadata"
PROVENANCE_KEY: Final = "_cce_original"
"""The key under `metadata` that carries provenance (shared with other tools of this family)."""

FOLD_PREFIX: Final = "refold:fold:"
VIEW_PREFIX: Final = "refold:view:"
HANDLE_PREFIX: Final = "refold:handle:"
STAND_IN_PREFIX: Final = "refold:stand-in:"
RECORD_PREFIXES: Final = (FOLD_PREFIX, VIEW_PREFIX, HANDLE_PREFIX, STAND_IN_PREFIX)
ID_PREFIX: Final = "cce_sum_"
_ID_CHARS: Final = 12
"""Letters of a summary id: 56 bits."""
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_MOST_BELOW: Final = 24
"""Folds below that a record lists, to be fetched together: 400 folds of folds are 17 round trips
then, and the record of each has about a kilobyte more."""


def name(kind: str, *parts: str) -> str:
    """Return 160 bits; every part with its length, so that none can pass for another."""
    pieces = [kind.encode()]
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        pieces += (b"%d:" % len(data), data)
    return blake2b(b"".join(pieces), digest_size=20).hexdigest()


class Behind(NamedTuple):
    """What a stand-in stands for."""

    fold: str
    """The key of the fold."""
    of: tuple[str, ...] = ()
    """Its children in reading order: digests of originals, and keys of older folds."""
    ids: tuple[str, ...] = ()
    """The ids of these messages."""
    below: tuple[str, ...] = ()
    """Keys of folds further down, as far as they are known: only to fetch them together."""

    @classmethod
    def made(cls, of: Sequence[str], ids: Sequence[str], below: Sequence[str] = ()) -> Self:
        """Return what stands for these children."""
        return cls(fold_key(of), tuple(of), tuple(ids), tuple(below[:_MOST_BELOW]))

    def to_record(self) -> str:
        """Spell it for a store: as text, which no garbage collector has to look into."""
        below = {"below": list(self.below)} if self.below else {}
        return spell({"of": list(self.of), "ids": list(self.ids), **below})

    @classmethod
    def from_record(cls, key: str, record: object) -> Self | None:
        """Read it back; `None` for whatever is not what was written under *key*."""
        data = read_record(record)
        of, ids, below = (_texts(data.get(field)) for field in ("of", "ids", "below"))
        if not of or fold_key(of) != key:
            return None
        return cls(key, of, ids if len(ids) == len(of) else of, below)


def fold_key(of: Sequence[str]) -> str:
    """Return the key of the fold that stands for these children."""
    return FOLD_PREFIX + name("fold", *of)


def read_record(record: object) -> Mapping[str, Any]:
    """Return the data of a record; nothing for what is none."""
    try:
        data = json.loads(record) if isinstance(record, str) else record
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, Mapping) else {}


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return ()


def letters_of(fold: str, count: int) -> str:
    """Spell the first letters of a fold: letters only, so that no id looks like a number."""
    number = int.from_bytes(blake2b(fold.encode(), digest_size=32).digest())
    spelled = []
    for _ in range(count):
        number, letter = divmod(number, len(_LETTERS))
        spelled.append(_LETTERS[letter])
    return "".join(spelled)


def summary_id_of_fold(fold: str) -> str:
    """Return the id of the stand-in for a fold."""
    return ID_PREFIX + letters_of(fold, _ID_CHARS)


def noted_provenance(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a message says that it stands for, be that true or not."""
    metadata = message.get(METADATA_KEY)
    noted = metadata.get(PROVENANCE_KEY) if isinstance(metadata, Mapping) else None
    return noted if isinstance(noted, Mapping) and _texts(noted.get("ids")) else {}


def foreign_ids(message: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ids of the originals that a message says that it stands for."""
    return _texts(noted_provenance(message).get("ids"))
