"""The record of what was sent, in the store: so the same bytes are sent again after a restart.

A request is recorded, before it goes out, under the name of the beginning that it is: with the form
of each new message that went out in another one, or with all that its beginning was folded into.
Any process that finds the same beginning later finds the same forms. What was sent as it came is
not recorded: a message that a model has answered, and of which there is no record, was sent as it
is. A store keeps the first value that is put under a key, so what went out as it came because a
record was late gets a mark of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Final, TypedDict

from refold.messages.wire import clone
from refold.server.proxy.apis.base import Api, Round, Wire
from refold.stores.base import Store

_SENT: Final = "proxy:sent:"
_CAME: Final = "proxy:came:"
_ROUNDS: Final = "proxy:rounds:"
_OFF: Final = "proxy:off:"
_ALIAS: Final = "proxy:alias:"
_KINDS: Final = (_SENT, _CAME, _ROUNDS, _OFF)
_MOST_KNOWN: Final = 100_000
"""How many written keys are remembered; beyond that, all are forgotten at once."""


class Sent(TypedDict):
    """How one request was sent."""

    forms: dict[str, Wire]
    """New messages that went out in another form, by place."""
    saved: int
    """The tokens that this saved."""
    is_offered: bool
    """Whether the retrieval tool is offered from here on."""
    folded: list[Wire] | None
    """If the beginning was folded anew: all that was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """All that is on record of a conversation."""

    folded: Sequence[Wire] = ()
    """What its beginning was folded into."""
    start: int = 0
    """How many messages that stands for."""
    forms: Mapping[int, Wire] = field(default_factory=dict[int, Wire])
    """Later messages that went out in another form, by place."""
    known: int = 0
    """How many messages the last request on record had."""
    saved: int = 0
    """Tokens saved by all that."""
    rounds: Mapping[int, Sequence[Round]] = field(default_factory=dict[int, Sequence[Round]])
    """Retrieval rounds, by the last message before the answer that they are part of."""
    is_offered: bool = False
    """Whether the retrieval tool was offered from the beginning."""
    is_off: bool = False
    """Whether the provider refused a folded request, which turns folding off."""

    def sent(self, api: Api, messages: Sequence[Wire], end: int) -> list[tuple[Wire, int | None]]:
        """Return the first *end* messages as they were sent, each with its place at the client."""
        forms = [self.forms.get(at, message) for at, message in enumerate(messages[:end])]
        folded = [(wire, None) for wire in self.folded]
        return [*folded, *with_rounds(api, self.rounds, forms, self.start)]


class Ledger:
    """Records what was sent in one scope of a store, and looks it up."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, beginnings: Sequence[str]) -> Past:
        """Return what is on record of a conversation with these *beginnings*."""
        found = self._store.get([kind + name for name in beginnings for kind in _KINDS])
        if not found:
            return Past()
        known: dict[str, dict[int, Any]] = {
            kind: {n: found[kind + b] for n, b in enumerate(beginnings) if kind + b in found}
            for kind in _KINDS
        }
        records: dict[int, Sent] = {
            n: record for n, record in known[_SENT].items() if n not in known[_CAME]
        }
        folded_at = max((n for n, record in records.items() if record["folded"]), default=-1)
        later = [record for n, record in records.items() if n >= folded_at]
        return Past(
            folded=(records[folded_at]["folded"] or ()) if folded_at >= 0 else (),
            start=folded_at + 1,
            forms={int(at): wire for record in later for at, wire in record["forms"].items()},
            known=max([*records, *known[_CAME]], default=-1) + 1,
            saved=sum(record["saved"] for record in later),
            rounds={n: [Round(*r) for r in rounds] for n, rounds in known[_ROUNDS].items()},
            is_offered=any(record["is_offered"] for record in records.values()),
            is_off=bool(known[_OFF]),
        )

    def enter(self, beginning: str, sent: Sent) -> None:
        """Record how a request is about to be sent."""
        self._store.put({_SENT + beginning: sent})

    def take_back(self, beginning: str) -> None:
        """Record that a request went out with its new messages as they came."""
        self._store.put({_CAME + beginning: True})

    def enter_rounds(self, beginning: str, rounds: Sequence[Round], names: tuple[str, str]) -> None:
        """Record the retrieval rounds in the answer to a request.

        *names* are the client's id of the answer, and the provider's id of its last round.
        """
        entries: dict[str, Any] = {_ROUNDS + beginning: [list(each) for each in rounds]}
        known, last = names
        entries |= {_ALIAS + known: last} if known != last else {}
        self._store.put(entries)

    def provider_name(self, name: str) -> str:
        """Return the provider's id of the answer with the client's id *name*."""
        return str(self._store.get([_ALIAS + name]).get(_ALIAS + name, name))

    def turn_off(self, beginning: str) -> None:
        """Record that a conversation is not to be folded anymore."""
        self._store.put({_OFF + beginning: True})


def with_rounds(
    api: Api, rounds: Mapping[int, Sequence[Round]], messages: Sequence[Wire], start: int
) -> Iterator[tuple[Wire, int | None]]:
    """Yield the *messages* from *start* on and the retrieval *rounds* among them.

    With each comes its place among the client's messages; `None` if it is none of them.
    """
    breaks = [at + 1 for at in sorted(rounds) if start < at + 1 < len(messages)]
    for first, last in pairwise((start, *breaks, len(messages))):
        part = messages[first:last]
        hidden = rounds.get(first - 1)
        places = {id(message): first + n for n, message in enumerate(part)}
        for message in api.insert(part, hidden) if part and hidden else part:
            yield message, places.get(id(message))


def name_beginnings(messages: Iterable[object]) -> list[str]:
    """Return a name for each beginning of *messages*: equal beginnings, equal names."""
    running = blake2b(digest_size=16)
    names: list[str] = []
    for message in messages:
        running.update(json.dumps(message, sort_keys=True, separators=(",", ":")).encode())
        running.update(b"\n")
        names.append(running.hexdigest())
    return names


class JoinedStore:
    """Joins several puts into one; for a single thread, as in a worker.

    What this process has put is not put again: a view is put with every request, and only its end
    is new.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pending: dict[str, Any] | None = None
        self._known: set[str] = set()

    @contextmanager
    def joined(self) -> Iterator[None]:
        """Write at the end what is put inside the block; nothing if the block raises."""
        self._pending = {}
        try:
            yield
            entries = self._pending
        finally:
            self._pending = None
        if entries:
            self._write(entries)

    def put(self, entries: Mapping[str, Any]) -> None:
        """Store every entry, now or at the end of the block; existing keys keep their values."""
        new = {key: value for key, value in entries.items() if key not in self._known}
        if self._pending is None:
            if new:
                self._write(new)
            return
        for key, value in new.items():
            self._pending.setdefault(key, clone(value))

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values of *keys*, written or about to be."""
        wanted = list(keys)
        found = self._store.get(wanted)
        pending = self._pending or {}
        own = {key: clone(pending[key]) for key in wanted if key in pending and key not in found}
        return {**found, **own}

    def _write(self, entries: Mapping[str, Any]) -> None:
        self._store.put(entries)
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        self._known.update(entries)
