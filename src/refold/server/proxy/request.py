"""Requests with messages: how they are parsed, what is known of them, and how they are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from operator import is_, itemgetter
from threading import Lock
from typing import Any, Final, NamedTuple

from refold.messages.cache_marks import MARK, with_marks, without_marks
from refold.result import Thinking
from refold.server.proxy.apis import api_called
from refold.server.proxy.apis.base import Api, Round, Wire
from refold.server.proxy.ledger import (
    ALIAS,
    Past,
    name_beginnings,
    with_rounds,
)
from refold.server.proxy.settings import Settings
from refold.stores.base import Store

_LONG_SECONDS: Final = 3_600
"""How long a cache lasts whose mark says `1h`."""


@dataclass(slots=True)
class Job:
    """A request to fold."""

    api: str
    path: str
    tenant: str
    session: str
    """The client's id of the conversation, if it sends one."""
    body: bytes
    deadline: float
    """When the proxy stops waiting, on the clock of the folder."""
    is_lossless: bool = False
    """Whether results are only respelled: as many messages come out as go in, and no tool."""
    _lock: Lock = field(default_factory=Lock, repr=False)

    def claim(self) -> bool:
        """Return `True` to the first who asks: the fold, or the proxy that stopped waiting for it.

        That one's form of the request is the one that is sent.
        """
        return self._lock.acquire(blocking=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """What to send, and figures about it."""

    body: bytes | None = None
    """`None` if it is what came."""
    conversation: str = ""
    """Its name within the tenant."""
    beginning: str = ""
    """The name of all its messages so far; see `name_beginnings`."""
    opening: str = ""
    """The name of it up to the first message that is not an instruction: many share those."""
    model: str = ""
    has_tool: bool = False
    """Whether the retrieval tool is offered."""
    tokens_before: int = 0
    """Tokens of the request as it came: messages, system prompt and tools."""
    tokens_after: int = 0
    """Tokens of it as it is sent."""
    tokens_beside: int = 0
    """Tokens of system prompt and tools, which are sent as they came."""
    saved_before: int = 0
    """Tokens that earlier requests saved, and that stay saved."""
    saved_by_folds: int = 0
    """Of the tokens saved, those that folds save, not shorter results."""
    tokens_known: int = 0
    """Tokens of the messages that were sent before, unfolded."""
    is_refolded: bool = False
    """Whether the beginning was folded anew, so that the provider's cache does not have it."""
    why: str = ""
    """Why a fold was due: `cold`, `paid` or `full`."""
    is_late: bool = False
    """Whether it went out before that was done; then the next one has it."""
    first_changed: int = 0
    """The first message that the provider has not seen at its place: its cache ends before it."""
    thinking: Thinking = "kept"
    """Whether thinking was left out, because something before it has changed."""
    is_recorded: bool = False
    """Whether all of it was read from the record."""
    why_not: str = ""
    """Why something was not folded, if that was an error."""


class Snapshot(NamedTuple):
    """A conversation as it came and as it was sent."""

    before: list[Any]
    after: list[Any]
    places: list[range]
    """For each message of *after*, which of *before* it stands for."""
    format: str
    model: str


class Known(NamedTuple):
    """The messages of an earlier request: what is the same need not be read again."""

    came: Sequence[Any] = ()
    messages: Sequence[Any] = ()
    """The same without cache marks."""
    beginnings: Sequence[str] = ()

    def count_same(self, came: Sequence[Any], read: Callable[[list[Any]], list[Any]]) -> int:
        """Return how many messages of a request that *came* are the same but for cache marks."""
        length = 0
        for new, old, message in zip(came, self.came, self.messages, strict=False):
            if new != old and read([new]) != [message]:
                break
            length += 1
        return length


class Request:
    """A parsed request."""

    def __init__(self, job: Job, settings: Settings, known: Iterable[Known] = ()) -> None:
        """*known* are the last requests of other conversations: one may begin as this one does."""
        self.job, self.settings = job, settings
        self.api: Api = api_called(job.api)
        self.body: Any = json.loads(job.body)
        self.is_changed = False
        """Whether something beside the messages is not sent as it came."""
        if settings.ttl and self.api.provider == "anthropic" and isinstance(self.body, dict):
            self.is_changed = _extend_marks(self.body, settings.ttl)
        self._remembers_long = self.is_changed or b'"1h"' in job.body
        messages = self.body.get(self.api.key) if isinstance(self.body, dict) else None
        self.came: list[Any] = messages if isinstance(messages, list) else []
        """The messages as the client has sent them."""
        is_marked = self.api.provider == "anthropic" or b"cache_control" in job.body
        read = without_marks if is_marked else list
        same = ((one.count_same(self.came, read), one) for one in known)
        length, best = max(same, key=itemgetter(0), default=(0, Known()))
        self.messages = [*best.messages[:length], *read(self.came[length:])]
        names = list(best.beginnings[:length])
        self.beginnings = [*names, *name_beginnings(self.messages[length:], *names[-1:])]
        self.expand({})
        self.about = Folded()
        if self.came:
            name = job.session or self.body.get("prompt_cache_key") or self.beginnings[0]
            roles = [m.get("role") if isinstance(m, dict) else None for m in self.messages]
            first = next((n for n, r in enumerate(roles) if r not in ("system", "developer")), 0)
            named = f"{self.api.provider}:{name}".encode()
            self.about = Folded(
                conversation=blake2b(named, digest_size=8).hexdigest(),
                beginning=self.beginnings[-1],
                opening=self.beginnings[first],
                model=self.api.model_of(self.body, job.path) or "",
            )

    def expand(self, rounds: Mapping[int, Sequence[Round]]) -> None:
        """Insert the retrieval *rounds* of earlier answers, which the client does not have."""
        self._rounds = rounds
        self.whole: Sequence[Any] = self.messages
        """All messages, with these rounds."""
        self.places: Sequence[int | None] = range(len(self.messages))
        """For each of them, its place among the client's, if it is one."""
        if rounds:
            pairs = with_rounds(self.api, rounds, self.messages)
            self.whole, self.places = [m for m, _ in pairs], [place for _, place in pairs]

    def reach(self, length: int) -> int:
        """Return how many messages the first *length* of the client's are with their rounds."""
        if not self._rounds:
            return length
        return len(with_rounds(self.api, self._rounds, self.messages[:length]))

    def known(self) -> Known:
        """Return what the next request need not read again."""
        pairs = zip(self.came, self.messages, strict=True)
        messages = [plain if came == plain else came for came, plain in pairs]
        return Known(messages, self.messages, self.beginnings)

    @property
    def answered(self) -> int:
        """How many messages there are up to the last one of the model."""
        for place in range(len(self.messages), 0, -1):
            message = self.messages[place - 1]
            if isinstance(message, dict):
                kind = str(message.get("type", ""))
                if message.get("role") in ("assistant", "model") or kind.endswith("_call"):
                    return self.reach(place)
        return 0

    def rename(self, store: Store) -> None:
        """Refer to the last round of the previous answer; the client only knows the first."""
        name = self.body.get(self.api.previous) if self.api.previous else None
        if name:
            known = store.get([ALIAS + str(name)])
            for last in known.values():
                self.body = {**self.body, self.api.previous: last}
                self.is_changed = True

    def is_cold(self, idle_seconds: float | None) -> bool | None:
        """Return whether the provider's cache has run out, if that is known from the request."""
        if not self._remembers_long or idle_seconds is None:
            return None
        return idle_seconds > _LONG_SECONDS

    def write(
        self, view: Sequence[Any], ranges: Sequence[range], *, has_tool: bool
    ) -> bytes | None:
        """Return the request with a *view*, or `None` if that is what came.

        *ranges* say which of all messages those of the view stand for. One that stands for one of
        the client's has its cache marks, and is its object where it is sent as it came.
        """
        messages = [
            self._marked(message, self.places[one.start]) if len(one) == 1 else message
            for message, one in zip(view, ranges, strict=True)
        ]
        is_same = len(messages) == len(self.came) and all(map(is_, messages, self.came))
        if is_same and not has_tool and not self.is_changed:
            return None
        body = {**self.body, self.api.key: messages}
        return _dump(self.api.offer_retrieval(body) if has_tool else body)

    def write_recorded(self, past: Past) -> Folded:
        """Return the request with its *past* as it was sent, and what is new as it came."""
        known = self.reach(past.known)
        rows = past.rows(known)
        view = [self.whole[row[0]] if row[3] is None else row[3] for row in rows]
        ranges = [range(row[0], row[1]) for row in rows]
        ranges += (range(place, place + 1) for place in range(known, len(self.whole)))
        is_offered = past.is_offered and self.settings.retrieve == "inline"
        has_tool = is_offered and not self.job.is_lossless and self.api.has_tools(self.body)
        return replace(
            self.about,
            body=self.write([*view, *self.whole[known:]], ranges, has_tool=has_tool),
            has_tool=has_tool,
            saved_before=past.saved,
            saved_by_folds=past.saved_by_folds,
            is_recorded=max(past.known, past.came) == len(self.messages),
        )

    def _marked(self, message: Any, place: int | None) -> Any:
        if place is None:
            return message
        plain, came = self.messages[place], self.came[place]
        if message == plain:
            return came
        return message if plain == came else with_marks(message, came)


def _extend_marks(body: Wire, ttl: str) -> bool:
    """Let the caches of a request last for *ttl* where its marks say nothing; tell if any did."""
    contents = (m.get("content") for m in body.get("messages") or () if isinstance(m, dict))
    lists = body.get("system"), body.get("tools"), *contents
    blocks = [body, *(block for part in lists if isinstance(part, list) for block in part)]
    marks = [block.get(MARK) for block in blocks if isinstance(block, dict)]
    short = [mark for mark in marks if isinstance(mark, dict) and "ttl" not in mark]
    for mark in short:
        mark["ttl"] = ttl
    return bool(short)


def _dump(body: Wire) -> bytes:
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can write
        return json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
