"""Requests with messages: what a worker is asked, how they are parsed and written again."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from hashlib import blake2b
from operator import is_
from typing import Any, Final, NamedTuple

from refold.result import Thinking
from refold.server.proxy.apis import api_called
from refold.server.proxy.apis.base import Api, Wire
from refold.server.proxy.ledger import Ledger, name_beginnings

_MARK: Final = "cache_control"
_MOST_BYTES: Final = 64 << 20
"""How much `LastSent` keeps; what was used least recently is dropped first."""


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
    first: str = ""
    """The name of its first message; see `name_beginnings`."""
    beginning: str = ""
    """The name of all its messages so far."""
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
    why_not: str = ""
    """Why something was not folded, if that was an error."""


class Request:
    """A parsed request."""

    def __init__(self, job: Job) -> None:
        self.api: Api = api_called(job.api)
        self.body: Any = json.loads(job.body)
        found = self.body.get(self.api.key) if isinstance(self.body, dict) else None
        self.given: list[Any] = found if isinstance(found, list) else []
        is_marked = self.api.provider == "anthropic" and b"cache_control" in job.body
        self.messages = without_marks(self.given) if is_marked else self.given
        self.beginnings = name_beginnings(self.messages)
        self.is_renamed = False
        self.about = Folded()
        if self.given:
            name = job.session or self.body.get("prompt_cache_key") or self.beginnings[0]
            known = f"{self.api.provider}:{name}".encode()
            self.about = Folded(
                conversation=blake2b(known, digest_size=8).hexdigest(),
                first=self.beginnings[0],
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


class LastSent:
    """The last request of each conversation, as it came and as it was folded.

    A request that goes out as it came, in the middle of a folded conversation, would invalidate the
    provider's cache of all of it, twice. So if folding fails, what was sent last is sent again in
    the same form, and only what is new goes out as it came.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], tuple[bytes, Folded]] = OrderedDict()
        self._size = 0

    def keep(self, job: Job, folded: Folded) -> None:
        """Remember a request that is about to be sent, if it was folded."""
        name = job.tenant, folded.first
        self._drop(name)
        if folded.body is not None:
            self._kept[name] = job.body, folded
            self._size += len(job.body) + len(folded.body)
        while self._size > _MOST_BYTES:
            self._drop(next(iter(self._kept)))

    def recall(self, job: Job) -> Folded | None:
        """Return a request with its past as it was sent; `None` if nothing of it was folded."""
        try:
            request = Request(job)
        except (ValueError, RecursionError):
            return None
        came, folded = self._kept.get((job.tenant, request.about.first), (b"", Folded()))
        if folded.body is None:
            return None
        past = Request(job._replace(body=came))
        count = len(past.messages)
        if request.messages[:count] != past.messages or request.about.model != folded.model:
            return None
        sent = Request(job._replace(body=folded.body)).messages
        if len(sent) == count:
            sent = [request.marked(message, place) for place, message in enumerate(sent)]
        has_tool = folded.has_tool and request.api.has_tools(request.body)
        saved = folded.tokens_before - folded.tokens_after
        return replace(
            folded,
            body=request.write([*sent, *request.given[count:]], has_tool=has_tool),
            beginning=request.about.beginning,
            has_tool=has_tool,
            saved_before=saved,
            is_refolded=False,
        )

    def _drop(self, name: tuple[str, str]) -> None:
        came, folded = self._kept.pop(name, (b"", Folded()))
        self._size -= len(came) + len(folded.body or b"")
