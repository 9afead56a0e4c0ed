"""The record of what was sent, in the store: so the same bytes are sent again after a restart.

A store keeps the first value that is put under a key. So a message is recorded, in the form in
which it is about to go out, under the name of the beginning that ends with it: any process that
finds the same beginning later finds the same form. What was sent as it came is not recorded: a
message that a model has answered, and of which there is no record, was sent as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Final

from refold.messages.wire import clone
from refold.server.proxy.apis.base import Round, Wire
from refold.stores.base import Store

_SENT: Final = "proxy:sent:"
_FOLDED: Final = "proxy:folded:"
_ROUNDS: Final = "proxy:rounds:"
_OFFERED: Final = "proxy:offered:"
_OFF: Final = "proxy:off:"
_ALIAS: Final = "proxy:alias:"
_KINDS: Final = (_SENT, _FOLDED, _ROUNDS, _OFFERED, _OFF)
_NONE: Final[Mapping[str, Wire]] = MappingProxyType({})
_MOST_KNOWN: Final = 100_000
"""How many written keys are remembered; beyond that, all are forgotten at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """All that is on record of a conversation, by the place of the message it is recorded with."""

    sent: Mapping[int, Wire] = field(default_factory=dict[int, Wire])
    """Messages that went out in another form: `wire` and `saved`."""
    folded_at: int = -1
    """The last message in view when the beginning was folded anew; -1 if it never was."""
    folded: Wire = field(default_factory=dict[str, Any])
    """What the beginning up to there was folded into: `wires` and `saved`."""
    rounds: Mapping[int, Sequence[Round]] = field(default_factory=dict[int, Sequence[Round]])
    """Retrieval rounds, by the last message before the answer that they are part of."""
    is_offered: bool = False
    """Whether the retrieval tool was offered from the beginning."""
    is_off: bool = False
    """Whether the provider refused a folded request, which turns folding off."""


class Ledger:
    """Records what was sent in one scope of a store, and looks it up."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, beginnings: Sequence[str]) -> Past:
        """Return what is on record of a conversation with these *beginnings*."""
        keys = [kind + name for name in beginnings for kind in _KINDS]
        found = self._store.get(keys)
        if not found:
            return Past()
        known = {
            kind: {n: found[kind + b] for n, b in enumerate(beginnings) if kind + b in found}
            for kind in _KINDS
        }
        folded_at = max(known[_FOLDED], default=-1)
        return Past(
            sent=known[_SENT],
            folded_at=folded_at,
            folded=known[_FOLDED].get(folded_at, {}),
            rounds={n: [Round(*r) for r in rounds] for n, rounds in known[_ROUNDS].items()},
            is_offered=bool(known[_OFFERED]),
            is_off=bool(known[_OFF]),
        )

    def enter(
        self,
        *,
        sent: Mapping[str, Wire] = _NONE,
        folded: Mapping[str, Wire] = _NONE,
        offered: str = "",
    ) -> None:
        """Record what is about to be sent, by beginning, atomically."""
        entries: dict[str, Any] = {_SENT + name: form for name, form in sent.items()}
        entries |= {_FOLDED + name: view for name, view in folded.items()}
        entries |= {_OFFERED + offered: True} if offered else {}
        if entries:
            self._store.put(entries)

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
