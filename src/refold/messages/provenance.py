"""Where a stand-in comes from: the originals it stands for, and what ties it to them.

A stand-in that can carry its provenance does, under a seal for that very message. Any other is
found by its place among all stand-ins of its conversation: see `refold.messages.chain`. Its id and
its handles are letters that follow from what it stands for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, Self

from refold.messages.exact import ATOMS
from refold.messages.wire import digest, digest_unordered, spell
from refold.notation.marks import ANCHOR_CHARS
from refold.notation.recognize import (
    find_anchor_letters,
    has_long_handle,
    has_tag,
    may_have_tag,
)

ID_KEY: Final = "id"
METADATA_KEY = "metadata"
PROVENANCE_KEY = "_cce_original"
"""The key under `metadata` that carries provenance (shared with other tools of this family)."""

LINK_PREFIX = "refold:link:"
_STAND_IN: Final = "stand_in"
_USUAL_DEPTH: Final = 6
"""How deep the arguments of a call are, and the blocks of a content."""
_BESIDE: Final = (METADATA_KEY, "compressed_content")
"""Fields that come and go without a change of meaning; one is `CompressionManager`'s."""
ID_PREFIX = "cce_sum_"
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_PAIRS: Final = tuple(low + high for high in _LETTERS for low in _LETTERS)
"""Two letters at once. Letters only, so that no id of ours looks like a number of the text."""
_BASE: Final = 26 * 26
"""How many pairs of letters there are."""
_LETTER_HASH: Final = blake2b(digest_size=24)
"""An empty hash to copy, which is faster than making one."""


@dataclass(slots=True, eq=False, kw_only=True)
class Provenance:
    """The originals behind one stand-in, in reading order. Read-only.

    `digests` name the originals by content, so that a look-up can never return a wrong text: an
    entry that does not match is as good as missing. Data written by other tools has none. `links`
    say under which key the provenance of an original is kept that may be a stand-in itself.
    """

    ids: Final[tuple[str, ...]]
    summary_id: Final[str]
    digests: Final[tuple[str, ...]] = ()
    parent_ids: Final[tuple[str, ...]] = ()
    links: Final[Mapping[int, str]] = field(default_factory=dict)
    """The place of each original that may be a stand-in itself, and the key of its link, without
    what all such keys begin with."""
    version: Final[int] = 0
    seal: Final[str] = ""
    """What the message that carries this says that `seal_of` must give for it."""

    def to_wire(self) -> dict[str, Any]:
        """Spell it as JSON for a message's metadata or for a store."""
        wire: dict[str, Any] = {"ids": list(self.ids), "summary_id": self.summary_id}
        if self.parent_ids:
            wire["parent_ids"] = list(self.parent_ids)
        if self.digests:
            wire["digests"] = list(self.digests)
        if self.links:
            wire["links"] = {str(place): name for place, name in self.links.items()}
        wire["version"] = self.version
        return wire

    def to_record(self) -> dict[str, Any]:
        """Spell it for a link, without what follows from the rest: there are many links."""
        wire = self.to_wire()
        wire.pop("parent_ids", None)  # the records that `links` name tell
        if self.summary_id == make_summary_id(self.ids, self.digests):
            del wire["summary_id"]
        if not self.version:
            del wire["version"]
        return wire

    def link_at(self, place: int) -> str:
        """Return the key of the provenance of the original at *place*, if it may have any."""
        name = self.links.get(place)
        return LINK_PREFIX + name if name else ""

    @classmethod
    def from_wire(cls, wire: object) -> Self | None:
        """Read it back; anything that is not provenance is `None`, never an error."""
        if not isinstance(wire, Mapping):
            return None
        ids = _strings(wire.get("ids"))
        if not ids:
            return None
        digests = _strings(wire.get("digests"))
        version, seal = wire.get("version", 0), wire.get("seal", "")
        summary_id = wire.get("summary_id")
        return cls(
            ids=ids,
            summary_id=make_summary_id(ids, digests) if summary_id is None else str(summary_id),
            digests=digests if len(digests) == len(ids) else (),
            parent_ids=_strings(wire.get("parent_ids")),
            links=_links(wire.get("links")),
            version=version if isinstance(version, int) else 0,
            seal=seal if isinstance(seal, str) else "",
        )


def read_link(record: object) -> Provenance | None:
    """Read the record of a link, as data or text; `None` if it is not provenance."""
    return Provenance.from_wire(_data_of(record))


def _data_of(record: object) -> object:
    """Return the data of a record that may be spelled as text, as `noted` does."""
    if not isinstance(record, str) or not record.startswith("{"):
        return record
    try:
        return json.loads(record)
    except (ValueError, RecursionError):
        return None


def _strings(value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return ()


def _links(value: object) -> Mapping[int, str]:
    if not isinstance(value, Mapping):
        return {}
    return {
        int(place): name
        for place, name in value.items()
        if isinstance(place, str) and isinstance(name, str) and place.isdecimal() and len(place) < 9
    }


def read_provenance(message: Mapping[str, Any]) -> Provenance | None:
    """Return the provenance that *message* carries in its metadata, if any."""
    metadata = message.get(METADATA_KEY)
    if metadata is None or not isinstance(metadata, Mapping):
        return None
    return Provenance.from_wire(metadata.get(PROVENANCE_KEY))


def looks_folded(wire: Mapping[str, Any]) -> bool:
    """Tell cheaply whether *wire* may hold one of our tags."""
    text = _lone_text(wire)
    if text is not None:
        return has_tag(text)
    return _may_hold_tag(wire, _USUAL_DEPTH) and has_tag(spell(wire))


def _may_hold_tag(value: object, depth: int) -> bool:
    """Tell whether a string in *value* may hold one, without spelling it: many times faster.

    What is no plain data may always, and so may what is deeper than *depth* levels.
    """
    if type(value) is str:
        return may_have_tag(value)
    if type(value) is dict and depth:
        return any(_may_hold_tag(item, depth - 1) for pair in value.items() for item in pair)
    if type(value) is list and depth:
        return any(_may_hold_tag(item, depth - 1) for item in value)
    return type(value) not in ATOMS


def _lone_text(wire: Mapping[str, Any]) -> str | None:
    """Return the content of a message that says nothing else."""
    content = wire.get("content")
    has_calls = wire.get("tool_calls") or wire.get("function_call")
    return content if isinstance(content, str) and not has_calls else None


def _text_of(wire: Mapping[str, Any]) -> str:
    """Return a text with everything that a message says."""
    text = _lone_text(wire)
    return spell(wire) if text is None else text


def stand_in_digest(wire: Mapping[str, Any]) -> str:
    """Digest a stand-in, without the fields that programs may add to it."""
    said = {name: value for name, value in wire.items() if name not in _BESIDE}
    if all(type(value) is str for value in said.values()):  # as most are: nothing to walk through
        return digest(dict(sorted(said.items())))
    return digest_unordered(said)


def find_anchors(wire: Mapping[str, Any]) -> list[str]:
    """Return the anchors that a message shows."""
    return find_anchor_letters(_text_of(wire))


def shows_long_handle(wire: Mapping[str, Any]) -> bool:
    """Tell whether a message shows an unguessable handle: an anchor, or that of a note."""
    return has_long_handle(_text_of(wire))


def seal_of(
    wire: Mapping[str, Any], provenance: Provenance, conversation: str | None = None
) -> str:
    """Tie provenance to the one message that may carry it: by its id, its words, its conversation.

    What is moved to another message, copied into another conversation or made up has another seal.
    """
    said = (conversation, wire.get("id"), stand_in_digest(wire), provenance.to_wire())
    return hash_texts(b"seal", spell(said)).hex()


def seal_key(seal: str) -> str:
    """Name the place where a store notes that refold has written a seal."""
    return LINK_PREFIX + seal


def find_seals(wires: Iterable[object], conversation: str | None = None) -> dict[str, Any]:
    """Return the notes that a store needs in order to believe messages that carry provenance."""
    notes: dict[str, Any] = {}
    for wire in wires:
        if not isinstance(wire, Mapping):
            continue
        behind = read_provenance(wire)
        if behind is not None and behind.seal == seal_of(wire, behind, conversation):
            notes[seal_key(behind.seal)] = note_of(behind)
    return notes


def note_of(provenance: Provenance) -> dict[str, Any]:
    """Spell what a store keeps under a seal; that there is a note is all that counts."""
    return {"summary_id": provenance.summary_id}


def inner_key(shown: Mapping[str, Any], provenance: Provenance) -> str:
    """Name the place of the provenance of a stand-in that no view shows before it is folded."""
    return (
        LINK_PREFIX
        + hash_texts(b"inner", stand_in_digest(shown), spell(provenance.to_wire())).hex()
    )


def noted(record: Mapping[str, Any], stand_in: str) -> str:
    """Spell a record as text; if *stand_in* is given, with the digest that tells its stand-in.

    One by one they are kept in memory for a whole conversation: the garbage collector has to look
    at data time and again, and at a text never.
    """
    return spell({**record, _STAND_IN: stand_in} if stand_in else record)


def find_noted(records: Mapping[str, Any], wire: Mapping[str, Any]) -> str:
    """Return the key of the one record that is noted for a message; none if several are."""
    name = stand_in_digest(wire)
    found: dict[str, object] = {}
    for key, record in records.items():
        if not str(key).startswith(LINK_PREFIX) or (isinstance(record, str) and name not in record):
            continue
        data = _data_of(record)
        if isinstance(data, Mapping) and data.get(_STAND_IN) == name:
            found[key] = data
    said = {spell(identity_of_link(data)) for data in found.values()}
    return next(iter(found)) if len(said) == 1 else ""


def identity_of_link(record: object) -> object:
    """Return what identifies a link: the originals, and what those stand for."""
    data = _data_of(record)
    return (data.get("digests"), data.get("links")) if isinstance(data, Mapping) else None


def alias_of(key: str) -> str:
    """Spell that a stand-in is the one that is known as *key*; as short as can be, for many are."""
    return key.removeprefix(LINK_PREFIX)


def read_alias(record: object) -> str | None:
    """Return the key that a record refers to; `None` if it is no alias."""
    is_alias = isinstance(record, str) and not record.startswith("{")
    return f"{LINK_PREFIX}{record}" if is_alias else None


def hash_texts(start: bytes, *texts: str) -> bytes:
    """Return 128 bits; every piece with its length, so that none can pass for another."""
    fresh = blake2b(start, digest_size=16)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        fresh.update(len(data).to_bytes(8) + data)
    return fresh.digest()


def make_summary_id(ids: Sequence[str], digests: Sequence[str]) -> str:
    """Derive the id of a stand-in from what it stands for: 12 letters."""
    return ID_PREFIX + _twelve_letters(_letters_digest(ids, digests)[:8])


def make_anchor(ids: Sequence[str], digests: Sequence[str]) -> str:
    """Derive the long handle of a stand-in, which its short one is the beginning of."""
    data = _letters_digest(ids, digests)
    return "".join(_twelve_letters(data[at : at + 8]) for at in (0, 8, 16))[:ANCHOR_CHARS]


def _letters_digest(ids: Sequence[str], digests: Sequence[str]) -> bytes:
    fresh = _LETTER_HASH.copy()
    fresh.update("\0".join((*ids, *digests)).encode("utf-8", "surrogatepass"))
    return fresh.digest()


def _twelve_letters(data: bytes) -> str:
    number = int.from_bytes(data)
    return _six_letters(number) + _six_letters(number // _BASE**3)


def _six_letters(number: int) -> str:
    """Spell the last six letters of a number, the last ones first."""
    last = number % _BASE**3  # no machine word is too short for it: so all else is fast
    return f"{_PAIRS[last % _BASE]}{_PAIRS[last // _BASE % _BASE]}{_PAIRS[last // _BASE**2]}"
