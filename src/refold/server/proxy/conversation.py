"""One conversation in a worker: a session, and how its messages map to those of the client.

The session may have more messages than the client: retrieval rounds, which the client never sees.
And its view may have fewer, once the beginning was folded anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from refold.conversation.session import Session
from refold.errors import describe_kind
from refold.notation.marks import is_lossless_mark
from refold.server.proxy.apis.base import Api, Round, Wire
from refold.server.proxy.ledger import Past, with_rounds
from refold.server.proxy.request import Known
from refold.server.proxy.rules import ToolRules
from refold.tools.shapes import find_texts


@dataclass(slots=True)
class Conversation:
    """The state of one conversation, which only grows."""

    name: str
    session: Session[Any]
    rules: ToolRules
    past: Past
    """What was on record of it."""
    is_read: bool = False
    """Whether the session has got what is on record."""
    length: int = 0
    """How many of the client's messages are in the session."""
    origins: list[int | None] = field(default_factory=list[int | None])
    """For each message so far, its place among the client's; `None` if it is none of them."""
    rounds: dict[int, Sequence[Round]] = field(default_factory=dict[int, Sequence[Round]])
    """Retrieval rounds, by the place of the client's last message before them."""
    is_offered: bool = False
    """Whether the retrieval tool is offered."""
    known: Known = field(default_factory=Known)
    """The messages of the last request."""
    sent: list[Any] = field(default_factory=list[Any])
    """What was sent last."""
    entered: str = ""
    """The name of the last beginning that was recorded."""
    recorded: int = 0
    """How many messages of what was sent are on record."""
    folds: int = 0
    """How often what was sent had been folded."""
    saved_by_folds: int = 0
    """Tokens that the last fold saved, and that stay saved."""
    beside: tuple[list[Any], int] = field(default_factory=lambda: ([], 0))
    """System prompt and tools of the last request, and their tokens."""
    work: Future[Any] | None = None
    """What is done beside the requests: reading the conversation, or folding the *fork*."""
    fork: Session[Any] | None = None
    error: str = ""
    """Why it cannot be folded, if that has failed."""

    @property
    def saved(self) -> int:
        """Tokens saved by the last view."""
        return self.session.report.tokens_unfolded - self.session.report.tokens

    @property
    def places(self) -> list[int | None]:
        """For each message of the view, which of the client's it is, if it is one."""
        ranges = self.session.places
        return [self.origins[one.start] if len(one) == 1 else None for one in ranges]

    def read(self, api: Api, messages: Sequence[Wire], end: int) -> None:
        """Go on from what was sent of *messages*, as the conversation that sent it would.

        The first *end* of them have been answered.
        """
        past, session = self.past, self.session
        self.rounds, self.is_offered = dict(past.rounds), past.is_offered
        if past.trace is not None:
            pairs = past.joined(api, messages)
            for message, place in pairs:
                self.rules.note(message)
                self.origins.append(place)
            session.retrace([message for message, _ in pairs], past.trace)
            self.sent, self.length, self.folds = session.wires, past.known, session.report.folds
            self.recorded = len(self.sent)
            self.saved_by_folds = min(past.saved_by_folds, self.saved)
        self.note_sent(api, messages[: max(end, past.came)])
        self.is_read = True

    def note_sent(self, api: Api, messages: Sequence[Any]) -> None:
        """Note that all of *messages* went out, those that are not on record as they came."""
        if len(messages) > self.length:
            self.extend(api, messages)
            self.session.note_sent()
            self.sent, self.length = self.session.wires, len(messages)

    def extend(self, api: Api, messages: Sequence[Any]) -> None:
        """Append the new *messages*, with the retrieval rounds among them."""
        for message, place in with_rounds(api, self.rounds, messages, self.length):
            self.origins.append(place)
            self.rules.note(message)
            self.session.append(message)

    def settle(self) -> list[Any] | None:
        """Take over what was folded beside; return what to send if nothing came since."""
        work, fork, view = self.work, self.fork, None
        if work is None or fork is None or not work.done():
            return None
        self.work = self.fork = None
        failure = work.exception()
        if failure is not None:
            self.error = describe_kind(failure)
        elif len(fork) == len(self.session):
            self.session, view = fork, work.result()
        else:
            self.session.take(fork)
        return view


def answered(messages: Sequence[object]) -> int:
    """Return how many messages there are up to the last one of the model."""
    for place in range(len(messages), 0, -1):
        message = messages[place - 1]
        if isinstance(message, Mapping):
            kind = str(message.get("type", ""))
            if message.get("role") in ("assistant", "model") or kind.endswith("_call"):
                return place
    return 0


def is_cut(given: Wire, form: Wire) -> bool:
    """Return whether the *form* of a message leaves something out; if not, nothing is lost."""
    known = {text.text for text in find_texts([given])}
    changed = [text.text for text in find_texts([form]) if text.text not in known]
    return not all(map(is_lossless_mark, changed))
