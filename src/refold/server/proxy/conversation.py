"""One conversation: a session, and what is known of the requests that it had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from refold.conversation.session import Session
from refold.errors import describe_kind
from refold.notation.marks import is_lossless_mark
from refold.server.proxy.apis.base import Round, Wire
from refold.server.proxy.ledger import Outbox, Past
from refold.server.proxy.request import Known, Request
from refold.server.proxy.settings import ToolRules
from refold.tools.shapes import find_texts


@dataclass(slots=True)
class Conversation:
    """The state of one conversation, which only grows."""

    name: str
    outbox: Outbox
    session: Session[Any]
    rules: ToolRules
    past: Past
    """What was on record of it."""
    is_read: bool = False
    """Whether the session has got what is on record."""
    length: int = 0
    """How many of a request's messages, with its retrieval rounds, are in the session."""
    rounds: dict[int, Sequence[Round]] = field(default_factory=dict[int, Sequence[Round]])
    """Retrieval rounds, by the place of the client's last message before them."""
    is_offered: bool = False
    """Whether the retrieval tool is offered."""
    known: Known = field(default_factory=Known)
    """The messages of the last request."""
    sent: list[Any] = field(default_factory=list[Any])
    """What was sent last."""
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

    def read(self, request: Request, end: int) -> None:
        """Go on from what was sent of a request, as the conversation that sent it would.

        The first *end* of its messages have been answered.
        """
        past, session = self.past, self.session
        if past.trace is not None:
            self.length = request.reach(past.known)
            past.rows(self.length)
            for message in request.whole[: self.length]:
                self.rules.note(message)
            session.retrace(request.whole[: self.length], past.trace)
            self.sent, self.folds = session.wires, session.report.folds
            self.recorded = len(self.sent)
            self.saved_by_folds = min(past.saved_by_folds, self.saved)
        self.note_sent(request.whole[: max(end, request.reach(past.came))])
        self.is_read = True

    def note_sent(self, messages: Sequence[Any]) -> None:
        """Note that all of *messages* went out, those that are not on record as they came."""
        if len(messages) > self.length:
            self.extend(messages)
            self.session.note_sent()
            self.sent, self.length = self.session.wires, len(messages)

    def extend(self, messages: Sequence[Any]) -> None:
        """Append the new *messages*."""
        for message in messages[self.length :]:
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


def is_cut(original: Wire, form: Wire) -> bool:
    """Return whether the *form* of a message leaves something out; if not, nothing is lost."""
    known = {text.text for text in find_texts([original])}
    changed = [text.text for text in find_texts([form]) if text.text not in known]
    return not all(map(is_lossless_mark, changed))
