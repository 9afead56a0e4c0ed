"""Where a stand-in comes from: the originals it stands for, and how to find and check them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, Self

from refold.native import mypyc_attr

METADATA_KEY = "metadata"
PROVENANCE_KEY = "_cce_original"
"""The key under `metadata` that carries provenance (shared with other tools of this family)."""

LINK_PREFIX = "refold:link:"
TAG: Final = re.compile(r"\[(?:summary|cce:|truncated|recoded|…(?:[0-9]{1,2}%| #))")
"""How every text of a stand-in can begin: a cheap test before any look-up.

An ellipsis in brackets alone is what people write in quotations.
"""

ID_PREFIX = "cce_sum_"
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_PAIRS: Final = tuple(low + high for high in _LETTERS for low in _LETTERS)
"""Two letters at once. Letters only: nobody takes an id of ours for a number of theirs."""
_BASE: Final = 26 * 26
_HASH: Final = blake2b(digest_size=8)
"""Of nothing; to copy it is faster than to make another one."""


@mypyc_attr(acyclic=True)
class Provenance:
    """The originals behind one stand-in, in reading order. Read-only.

    `digests` name the originals by content, so that a look-up can never return a wrong text: an
    entry that does not match is as good as missing. Data written by other tools has none.
    """

    __slots__ = ("digests", "ids", "parent_ids", "summary_id", "version")

    def __init__(
        self,
        *,
        ids: tuple[str, ...],
        summary_id: str,
        digests: tuple[str, ...] = (),
        parent_ids: tuple[str, ...] = (),
        version: int = 0,
    ) -> None:
        self.ids: Final = ids
        self.summary_id: Final = summary_id
        self.digests: Final = digests
        self.parent_ids: Final = parent_ids
        self.version: Final = version

    def to_wire(self) -> dict[str, Any]:
        """Spell it as JSON for a message's metadata or for a store."""
        wire: dict[str, Any] = {"ids": list(self.ids), "summary_id": self.summary_id}
        if self.parent_ids:
            wire["parent_ids"] = list(self.parent_ids)
        if self.digests:
            wire["digests"] = list(self.digests)
        wire["version"] = self.version
        return wire

    @classmethod
    def from_wire(cls, wire: object) -> Self | None:
        """Read it back; anything that is not provenance is `None`, never an error."""
        if not isinstance(wire, Mapping):
            return None
        ids = _strings(wire.get("ids"))
        if not ids:
            return None
        digests = _strings(wire.get("digests"))
        version = wire.get("version", 0)
        return cls(
            ids=ids,
            summary_id=str(wire.get("summary_id", "")),
            digests=digests if len(digests) == len(ids) else (),
            parent_ids=_strings(wire.get("parent_ids")),
            version=version if isinstance(version, int) else 0,
        )


def _strings(value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return ()


def read_provenance(message: Mapping[str, Any]) -> Provenance | None:
    """Return the provenance that *message* carries in its metadata, if any."""
    metadata = message.get(METADATA_KEY)
    if metadata is None or not isinstance(metadata, Mapping):
        return None
    return Provenance.from_wire(metadata.get(PROVENANCE_KEY))


def make_summary_id(ids: Sequence[str], digests: Sequence[str]) -> str:
    """Derive the id of a stand-in from what it stands for: 12 letters."""
    fresh = _HASH.copy()
    fresh.update("\0".join((*ids, *digests)).encode("utf-8", "surrogatepass"))
    number = int.from_bytes(fresh.digest())
    return f"{ID_PREFIX}{_six_letters(number)}{_six_letters(number // _BASE**3)}"


def _six_letters(number: int) -> str:
    """Spell the last six letters of a number, the last ones first."""
    last = number % _BASE**3  # no machine word is too short for it: so all else is fast
    return f"{_PAIRS[last % _BASE]}{_PAIRS[last // _BASE % _BASE]}{_PAIRS[last // _BASE**2]}"


def link_key(stand_in_digest: str) -> str:
    """Name the place where provenance waits when the message itself cannot carry it."""
    return LINK_PREFIX + stand_in_digest
