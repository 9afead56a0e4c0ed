"""One conversation in a worker: a session, and how its messages map to those of the client.

The session may have more messages than the client: retrieval rounds, which the client never sees.
And its view may have fewer, once the beginning was folded anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from refold.conversation.session import Session
from refold.notation.marks import is_lossless_mark
from refold.server.proxy.apis.base import Api, Round, Wire
from refold.server.proxy.ledger import Past, with_rounds
from refold.server.proxy.request import Request
from refold.tools.shapes import find_texts


class Snapshot(NamedTuple):
    """A conversation as it came and as it was sent."""

    before: list[Any]
    """What came; what was folded anew before a restart, in the form in which it is sent."""
    after: list[Any]
    places: list[range]
    """For each message of *after*, which of *before* it stands for."""
    format: str
    model: str


@dataclass(slots=True)
class Conversation:
    """The state of one conversation, which only grows."""

    name: str
    model: str
    session: Session
    length: int = 0
    """How many of the client's messages are in the session."""
    origins: list[int | None] = field(default_factory=list[int | None])
    """For each message so far, its place among the client's; `None` if it is none of them."""
    base: tuple[int, int] = (0, 0)
    """What was folded anew: so many messages at the start of the view stand for so many."""
    rounds: dict[int, Sequence[Round]] = field(default_factory=dict[int, Sequence[Round]])
    """Retrieval rounds, by the place of the client's last message before them."""
    is_offered: bool = False
    """Whether the retrieval tool is offered."""
    is_off: bool = False
    """Whether the provider has refused a folded request."""
    saved_earlier: int = 0
    """Tokens saved before this session started."""
    tokens_known: int = 0
    """Tokens of all messages so far, unfolded."""
    sent: tuple[list[Any], int] = field(default_factory=lambda: ([], 0))
    """What was sent last, and how many of the client's messages it stands for."""
    given: Sequence[Any] = ()
    """The client's messages of the last request; only where they may be shown."""
    beside: tuple[list[Any], int] = field(default_factory=lambda: ([], 0))
    """System prompt and tools of the last request, and their tokens."""

    @property
    def saved(self) -> int:
        """Tokens saved by the last view."""
        report = self.session.report
        return self.saved_earlier + report.tokens_unfolded - report.tokens

    def replay(self, api: Api, past: Past, messages: Sequence[Any]) -> None:
        """Start from what was sent of *messages*, in the form in which it was sent."""
        self.is_off, self.rounds = past.is_off, dict(past.rounds)
        self.is_offered, self.saved_earlier = past.is_offered, past.saved
        self.base = len(past.folded), past.start
        self.origins = [None] * past.start
        sent = past.sent(api, messages, past.known)
        self.origins += (place for _, place in sent[len(past.folded) :])
        view = [wire for wire, _ in sent]
        self.session.extend(view)
        self.session.note_sent()
        self.sent, self.length = (view, past.known), past.known

    def extend(self, api: Api, messages: Sequence[Any]) -> None:
        """Append the new *messages*, with the retrieval rounds among them."""
        for message, place in with_rounds(api, self.rounds, messages, self.length):
            self.origins.append(place)
            self.session.append(message)

    def origin_of(self, place: int) -> int | None:
        """Return which of the client's messages is at a *place* of the view, if any."""
        shown, stood_for = self.base
        if place >= shown:
            return self.origins[place - shown + stood_for]
        if len(self.session) != len(self.origins):
            return None  # the session was started from what had been folded
        at = self.session.unchanged[place]
        return None if at is None else self.origins[at]

    def snapshot(self, api: Api) -> Snapshot:
        """Return what came and what was sent, for people to see."""
        shown, stood_for = self.base
        is_restarted = len(self.session) != len(self.origins)
        origins = [*[None] * shown, *self.origins[stood_for:]] if is_restarted else self.origins
        before = [
            message if origin is None or origin >= len(self.given) else self.given[origin]
            for message, origin in zip(self.session.messages, origins, strict=True)
        ]
        session = self.session
        return Snapshot(before, session.wires, session.places, api.format, self.model)

    def write(self, view: Sequence[Any], request: Request) -> list[Any]:
        """Return the *view* with the client's own objects where they are sent as they came."""
        origins = map(self.origin_of, range(len(view)))
        return [
            message if origin is None else request.marked(message, origin)
            for message, origin in zip(view, origins, strict=True)
        ]

    def new_forms(self, view: Sequence[Any], messages: Sequence[Any]) -> dict[int, Wire]:
        """Return the changed messages that are new in the *view*, by their place at the client."""
        forms: dict[int, Wire] = {}
        for place in range(len(view) - 1, self.base[0] - 1, -1):
            origin = self.origin_of(place)
            if origin is not None and origin < self.length:
                break
            if origin is not None and view[place] != messages[origin]:
                forms[origin] = view[place]
        return forms


def is_cut(given: Wire, form: Wire) -> bool:
    """Return whether the *form* of a message leaves something out; if not, nothing is lost."""
    known = {text.text for text in find_texts([given])}
    changed = [text.text for text in find_texts([form]) if text.text not in known]
    return not all(map(is_lossless_mark, changed))
