"""Requests with messages: what a worker is asked, how they are parsed and written again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import Enum
from hashlib import blake2b
from operator import is_
from typing import Any, Final, NamedTuple

from refold.integrations.choices import CheckedChoices
from refold.result import Thinking
from refold.server.proxy.apis import api_called
from refold.server.proxy.apis.base import Api, Wire
from refold.server.proxy.ledger import Ledger, name_beginnings
from refold.server.proxy.settings import Settings
from refold.stores.base import Store
from refold.stores.scope import ScopedStore

_MARK: Final = "cache_control"
_RECALL_SECONDS: Final = 2.0
"""How long reading what was sent may take. Without it a request goes out as it came."""


class FoldMode(Enum):
    """How a request may be folded."""

    REQUEST = "request"
    """According to the settings."""
    ROWS = "rows"
    """As many messages come out as go in, and no tool is offered."""
    LOSSLESS = "lossless"
    """The same, and nothing is left out."""


class Job(NamedTuple):
    """A request to fold."""

    api: str
    path: str
    tenant: str
    session: str
    """The client's id of the conversation, if it sends one."""
    body: bytes
    deadline: float
    """When the proxy stops waiting, on the clock of the worker."""
    mode: FoldMode = FoldMode.REQUEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """What to send, and figures about it."""

    body: bytes | None = None
    """`None` if it is what came."""
    conversation: str = ""
    """Its name within the tenant."""
    beginning: str = ""
    """The name of all its messages so far; see `name_beginnings`."""
    model: str = ""
    has_tool: bool = False
    """Whether the retrieval tool is offered."""
    tokens_before: int = 0
    """Tokens of the messages, unfolded."""
    tokens_after: int = 0
    saved_before: int = 0
    """Tokens that earlier requests saved, and that stay saved."""
    tokens_known: int = 0
    """Tokens of the messages that were sent before, unfolded."""
    is_refolded: bool = False
    """Whether the beginning was folded anew, so that the provider's cache does not have it."""
    first_changed: int = 0
    """The first message that the provider has not seen at its place: its cache ends before it."""
    thinking: Thinking = "kept"
    """Whether thinking was left out, because something before it has changed."""
    is_recorded: bool = False
    """Whether all of it was read from the record."""
    why_not: str = ""
    """Why something was not folded, if that was an error."""


class Request:
    """A parsed request."""

    def __init__(self, job: Job) -> None:
        self.api: Api = api_called(job.api)
        self.body: Any = json.loads(job.body)
        found = self.body.get(self.api.key) if isinstance(self.body, dict) else None
        self.given: list[Any] = found if isinstance(found, list) else []
        is_marked = self.api.provider == "anthropic" or b"cache_control" in job.body
        self.messages = without_marks(self.given) if is_marked else self.given
        self.beginnings = name_beginnings(self.messages)
        self.is_renamed = False
        self.about = Folded()
        if self.given:
            name = job.session or self.body.get("prompt_cache_key") or self.beginnings[0]
            known = f"{self.api.provider}:{name}".encode()
            self.about = Folded(
                conversation=blake2b(known, digest_size=8).hexdigest(),
                beginning=self.beginnings[-1],
                model=self.api.model_of(self.body, job.path) or "",
            )

    def rename(self, ledger: Ledger) -> None:
        """Refer to the last round of the previous answer; the client only knows the first."""
        name = self.api.previous_id(self.body)
        known = ledger.provider_name(name) if name else ""
        if known != name:
            self.body = self.api.with_previous_id(self.body, known)
            self.is_renamed = True

    def write(self, messages: Sequence[Any], *, has_tool: bool) -> bytes | None:
        """Return the request with these *messages*; `None` if that is what came."""
        is_same = len(messages) == len(self.given) and all(map(is_, messages, self.given))
        if is_same and not has_tool and not self.is_renamed:
            return None
        body = {**self.body, self.api.key: messages}
        return _dump(self.api.offer_retrieval(body) if has_tool else body)

    def marked(self, message: Any, place: int) -> Any:
        """Return what is sent for the client's message at a *place*, with the cache marks there."""
        plain, given = self.messages[place], self.given[place]
        if message == plain:
            return given
        return message if plain is given else with_marks(message, given)


def _dump(body: Wire) -> bytes:
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can write
        return json.dumps(body, separators=(",", ":"), allow_nan=False).encode()


def without_marks(messages: Sequence[Any]) -> list[Any]:
    """Return *messages* without cache marks; those that have none are the same objects.

    A client puts `cache_control` on the last blocks it sends, and on other ones next time. So
    messages are compared and folded without it, and the marks are put back where they are now.
    """
    return [_without_marks(message) for message in messages]


def _without_marks(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    content = message.get("content")
    if not isinstance(content, list):
        return _unmark(message)
    unmarked = [_unmark(block) for block in content]
    is_same = all(new is old for new, old in zip(unmarked, content, strict=True))
    plain = _plain(content if is_same else unmarked)
    return _unmark(message) if plain is content else {**_unmark(message), "content": plain}


def _plain(content: list[Any]) -> Any:
    """Return a single block of text as a string: only to carry a mark it has to be a block."""
    match content:
        case [{"type": "text", "text": str(text), **rest}] if not rest:
            return text
    return content


def _unmark(block: Any) -> Any:
    if not isinstance(block, dict) or _MARK not in block:
        return block
    return {key: value for key, value in block.items() if key != _MARK}


def with_marks(message: Wire, marked: Wire) -> Wire:
    """Return *message* with the marks that *marked*, another form of it, has at the same places."""
    content, theirs = message.get("content"), marked.get("content")
    own = {_MARK: marked[_MARK]} if _MARK in marked else {}
    if isinstance(content, str) and isinstance(theirs, list):
        content = [{"type": "text", "text": content}]
        message = {**message, "content": content}
    if not isinstance(content, list) or not isinstance(theirs, list):
        return {**message, **own}
    if len(content) != len(theirs):
        return {**message, **own}
    blocks = [
        {**block, _MARK: other[_MARK]} if isinstance(other, dict) and _MARK in other else block
        for block, other in zip(content, theirs, strict=True)
    ]
    return {**message, "content": blocks, **own}


class Records:
    """What was sent, as the proxy itself reads it where no worker answers in time.

    A request that goes out as it came, in the middle of a folded conversation, would invalidate the
    provider's cache of all of it, twice. So what is on record is sent again in the same form, and
    only what is new goes out as it came.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._choices = CheckedChoices({"store": settings.store or None})
        self._thread = ThreadPoolExecutor(1, "refold records")

    async def recall(self, job: Job) -> Folded | None:
        """Return a request with its past as it was sent; `None` if it is not to be folded.

        Raises:
            TimeoutError: the store does not answer.
            StoreError: it cannot be read.
        """
        async with asyncio.timeout(_RECALL_SECONDS):
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._recall, job)

    def _recall(self, job: Job) -> Folded | None:
        try:
            request = Request(job)
        except (ValueError, RecursionError):
            return None
        if not request.given:
            return None
        ledger = Ledger(store_of(self._choices.store, job.tenant, self._settings))
        request.rename(ledger)
        past = ledger.read(request.beginnings)
        if past.is_off:
            return None
        written = [
            message if place is None else request.marked(message, place)
            for message, place in past.sent(request.api, request.messages, len(request.messages))
        ]
        is_offered = past.is_offered and self._settings.retrieve == "inline"
        has_tool = (
            is_offered and job.mode is FoldMode.REQUEST and request.api.has_tools(request.body)
        )
        body = request.write(written, has_tool=has_tool)
        return replace(
            request.about,
            body=body,
            has_tool=has_tool,
            saved_before=past.saved,
            is_recorded=past.known == len(request.messages),
        )

    def close(self) -> None:
        """Read nothing anymore."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def store_of(store: Store, tenant: str, settings: Settings) -> Store:
    """Return the part of the store that belongs to a tenant."""
    return store if settings.retrieve == "mcp" else ScopedStore(store, tenant)
