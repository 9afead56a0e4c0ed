"""The record of what was sent, in the store: so the same bytes are sent again after a restart.

A request is recorded, before it goes out, under the name of the beginning that it is: with what is
new in its view, and the figures by which its session continues. Any process that finds the same
beginning later goes on from there as if it had been there all the time. A message that a model has
answered, and of which there is no record, was sent as it is. A store keeps the first value that is
put under a key, so what went out as it came because a record was late gets a mark of its own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Final, TypedDict

from refold.errors import StoreError
from refold.messages.wire import clone
from refold.server.proxy.apis.base import Api, Round, Wire
from refold.stores.base import Store

SENT: Final = "proxy:sent:"
"""Before the name of a beginning: how that request was sent, a `Sent`."""
CAME: Final = "proxy:came:"
"""The new messages of that request went out as they came."""
ROUNDS: Final = "proxy:rounds:"
"""The retrieval rounds in its answer."""
OFF: Final = "proxy:off:"
"""The conversation is not to be folded anymore."""
ALIAS: Final = "proxy:alias:"
"""Before the client's id of an answer: the provider's id of its last round."""
_KINDS: Final = (SENT, CAME, ROUNDS, OFF)
_spell: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class Sent(TypedDict):
    """How one request was sent."""

    first: int
    """From which message of the view on it is new."""
    trace: dict[str, Any]
    """The trace of the session from there on."""
    saved: int
    """The tokens that the whole view saves."""
    saved_by_folds: int
    """How many of these its last fold saved."""
    is_offered: bool
    """Whether the retrieval tool is offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """All that is on record of a conversation."""

    known: int = 0
    """How many of the client's messages are in the last view on record."""
    trace: Mapping[str, Any] | None = None
    """The trace of that view."""
    came: int = 0
    """How many messages are known to have gone out, those after the view as they came."""
    saved: int = 0
    """Tokens that the view saves."""
    saved_by_folds: int = 0
    rounds: Mapping[int, Sequence[Round]] = field(default_factory=dict[int, Sequence[Round]])
    """Retrieval rounds, by the last message before the answer that they are part of."""
    is_offered: bool = False
    """Whether the retrieval tool was offered."""
    is_off: bool = False
    """Whether the provider refused a folded request, which turns folding off."""

    def rows(self, length: int) -> Sequence[Any]:
        """Return the rows of the last view; `StoreError` if it is none of *length* messages."""
        if self.trace is None:
            return ()
        if self.trace["view"]["covered"] != length:
            raise StoreError("the record of what was sent is incomplete")
        rows: Sequence[Any] = self.trace["view"]["items"]
        return rows


def read_past(store: Store, beginnings: Sequence[str]) -> Past:
    """Return what is on record of a conversation with these *beginnings*."""
    values = store.get([kind + name for name in beginnings for kind in _KINDS])
    if not values:
        return Past()
    sent, came, rounds, off = (
        {n: values[kind + name] for n, name in enumerate(beginnings) if kind + name in values}
        for kind in _KINDS
    )
    records: dict[int, Sent] = {n: record for n, record in sent.items() if n not in came}
    rows: list[Any] = []
    for _, record in sorted(records.items()):
        if record["first"] > len(rows):
            raise StoreError("what was sent is not on record as a whole")
        rows[record["first"] :] = record["trace"]["view"]["items"]
    past = Past(
        known=max(records, default=-1) + 1,
        came=max(came, default=-1) + 1,
        rounds={n: [Round(*each) for each in those] for n, those in rounds.items()},
        is_off=bool(off),
    )
    if not records:
        return past
    last = records[past.known - 1]
    return replace(
        past,
        trace={**last["trace"], "view": {**last["trace"]["view"], "items": rows}},
        saved=last["saved"],
        saved_by_folds=last["saved_by_folds"],
        is_offered=last["is_offered"],
    )


def with_rounds(
    api: Api, rounds: Mapping[int, Sequence[Round]], messages: Sequence[Wire]
) -> list[tuple[Wire, int | None]]:
    """Return *messages* with the retrieval *rounds* among them.

    With each comes its place among the client's messages; `None` if it is none of them.
    """
    pairs: list[tuple[Wire, int | None]] = []
    breaks = [at + 1 for at in sorted(rounds) if at + 1 < len(messages)]
    for first, last in pairwise((0, *breaks, len(messages))):
        part, hidden = messages[first:last], rounds.get(first - 1)
        places = {id(message): first + n for n, message in enumerate(part)}
        whole = api.insert(part, hidden) if hidden else part
        pairs += ((message, places.get(id(message))) for message in whole)
    return pairs


def name_beginnings(messages: Iterable[object], before: str = "") -> list[str]:
    """Return a name for each beginning of *messages*: equal beginnings, equal names.

    *before* is the name of what stands before them.
    """
    names: list[str] = []
    for message in messages:
        before = blake2b((before + _spell(message)).encode(), digest_size=16).hexdigest()
        names.append(before)
    return names


class Outbox:
    """A store in which what is put waits to be written, and is found meanwhile.

    Each conversation has one: all that a request puts is written at once, or not at all. A fold
    beside it may put while it is emptied.
    """

    def __init__(self, store: Store) -> None:
        """*store* is where everything else is read from."""
        self._store = store
        self._waiting: dict[str, Any] = {}

    def put(self, entries: Mapping[str, Any]) -> None:
        """Keep every entry for `take`; existing keys keep their values."""
        for key, value in entries.items():
            self._waiting.setdefault(key, clone(value))

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values of *keys*, written or about to be."""
        wanted = list(keys)
        values, waiting = self._store.get(wanted), self._waiting.copy()
        ours = {key: clone(waiting[key]) for key in wanted if key in waiting and key not in values}
        return {**values, **ours}

    def take(self) -> dict[str, Any]:
        """Return what waits, and forget it."""
        return dict(self._waiting.popitem() for _ in range(len(self._waiting)))


class Writer:
    """Writes to a store beside the event loop; a put waits for the disk.

    What other requests put meanwhile is written together.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[tuple[dict[str, Any], asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def write(self, entries: dict[str, Any]) -> None:
        """Return when all *entries* are written; `StoreError` if that fails."""
        if not entries:
            return
        done = asyncio.get_running_loop().create_future()
        self._waiting.append((entries, done))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_all())
        await done

    async def _write_all(self) -> None:
        while self._waiting:
            parts, self._waiting = self._waiting, []
            together: dict[str, Any] = {}
            for entries, _ in reversed(parts):
                together.update(entries)  # the first value of a key stays
            try:
                await asyncio.to_thread(self._store.put, together)
            except StoreError:  # one of them may be at fault, not the others
                for entries, done in parts:
                    try:
                        await asyncio.to_thread(self._store.put, entries)
                    except StoreError as error:
                        done.set_exception(error)
            for _, done in parts:
                if not done.done():
                    done.set_result(None)
