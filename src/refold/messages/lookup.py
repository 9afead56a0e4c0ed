"""Find what is kept for stand-ins: records of links, seals and originals.

The caller passes in the function that fetches records by key, so nothing here depends on a store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from refold.messages.message import Message
from refold.messages.provenance import (
    Provenance,
    find_noted,
    read_alias,
    read_link,
    seal_key,
    seal_of,
)

Get = Callable[[Iterable[str]], Mapping[str, Any]]
"""Fetches the records that are kept under some keys."""

_MAX_ALIASES: Final = 10_000
"""How often a stand-in may have been carried over from one fold to the next."""


class Lookup(Protocol):
    """Finds originals, wherever they are kept."""

    def links(self, keys: Iterable[str]) -> Mapping[str, Any]:
        """Return the records that are known under *keys*."""
        ...

    def link_of_one(self, wire: Mapping[str, Any], link: str) -> str:
        """Return the key of a message given alone; *link* is its key as the first of a view."""
        ...

    def are_sealed(self, seals: Mapping[str, Provenance]) -> set[str]:
        """Return which of *seals*, computed for the provenance in messages, are known."""
        ...

    def originals(self, wanted: Sequence[Provenance]) -> Mapping[str, Any]:
        """Return originals, under the keys that `key_of` gives them."""
        ...

    def key_of(self, provenance: Provenance, place: int) -> str:
        """Return the key of the original at *place* of *provenance*."""
        ...


def find_linked(keys: Sequence[str], get: Get) -> dict[str, Provenance]:
    """Return the provenance that is kept under *keys*, following aliases."""
    found: dict[str, Provenance] = {}
    wanted: dict[str, list[str]] = {key: [key] for key in keys}
    for _ in range(_MAX_ALIASES):
        if not wanted:
            break
        behind: dict[str, list[str]] = {}
        for key, record in get(list(wanted)).items():
            alias = read_alias(record)
            if alias is not None:
                behind.setdefault(alias, []).extend(wanted[key])
            elif (provenance := read_link(record)) is not None:
                found.update(dict.fromkeys(wanted[key], provenance))
        wanted = behind
    return found


def recognize(
    messages: Sequence[Message], links: Sequence[str], conversation: str | None, get: Get | None
) -> tuple[Message, ...]:
    """Find out which of *messages* stand for others; *links* has the key of each that may.

    With a store to *get* from, what claims to be a stand-in and is not known there is an ordinary
    message.
    """
    seals = {
        index: seal_key(seal_of(message.wire, message.provenance, conversation))
        for index, message in enumerate(messages)
        if message.provenance and get is not None
    }
    known = {} if get is None else find_linked([*filter(None, links)], get)
    confirmed = get(dict.fromkeys(seals.values())) if get is not None and seals else {}

    def recognized(index: int, message: Message, link: str) -> Message:
        if link:
            return message.changed(provenance=known.get(link), link=link)
        is_doubtful = index in seals and seals[index] not in confirmed
        return message.unproven() if is_doubtful else message

    return tuple(map(recognized, range(len(messages)), messages, links))


class MappingLookup:
    """Looks originals up by id in a mapping or with a function: those of one conversation."""

    def __init__(self, source: Mapping[str, Any] | Callable[[str], Any]) -> None:
        self._source = source

    def _get(self, key: str) -> Any:
        if isinstance(self._source, Mapping):
            return self._source.get(key)
        return self._source(key)

    def links(self, keys: Iterable[str]) -> Mapping[str, Any]:
        """Return the records that the mapping has."""
        return {key: wire for key in keys if (wire := self._get(key)) is not None}

    def link_of_one(self, wire: Mapping[str, Any], link: str) -> str:
        """Return the key of the one stand-in of the conversation that reads like this."""
        if not isinstance(self._source, Mapping) or link in self._source:
            return link
        return find_noted(self._source, wire) or link

    def are_sealed(self, seals: Mapping[str, Provenance]) -> set[str]:
        """Believe provenance that was sealed for its message; a mapping keeps no other records."""
        return {seal for seal, provenance in seals.items() if provenance.seal == seal}

    def originals(self, wanted: Sequence[Provenance]) -> Mapping[str, Any]:
        """Return originals by id."""
        ids = dict.fromkeys([id_ for provenance in wanted for id_ in provenance.ids])
        return {id_: wire for id_ in ids if (wire := self._get(id_)) is not None}

    def key_of(self, provenance: Provenance, place: int) -> str:
        """Return the id."""
        return provenance.ids[place]


class StoreLookup:
    """Looks originals up by content in a store, which may hold those of many conversations."""

    def __init__(self, get: Get) -> None:
        self._get = get

    def links(self, keys: Iterable[str]) -> Mapping[str, Any]:
        """Return the records that the store has."""
        return self._get(keys)

    def link_of_one(self, wire: Mapping[str, Any], link: str) -> str:  # noqa: ARG002
        """Return *link*: a store of many conversations does not know which one is meant."""
        return link

    def are_sealed(self, seals: Mapping[str, Provenance]) -> set[str]:
        """Believe provenance that the store has a note for: refold wrote it."""
        keys = {seal_key(seal): seal for seal in seals}
        return {keys[key] for key in self._get(keys)} if keys else set()

    def originals(self, wanted: Sequence[Provenance]) -> Mapping[str, Any]:
        """Return originals by digest."""
        return self._get(
            dict.fromkeys([digest_ for provenance in wanted for digest_ in provenance.digests])
        )

    def key_of(self, provenance: Provenance, place: int) -> str:
        """Return the digest; provenance that has none finds nothing in a store."""
        return provenance.digests[place] if provenance.digests else ""
