"""One conversation: a session, and what is known of the requests that it had."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

from refold.conversation.session import Session
from refold.errors import StoreError, describe_kind
from refold.messages.provider import is_bound
from refold.messages.wire import spell
from refold.notation.marks import is_lossless_mark
from refold.scan.tokens.choose import counter_for
from refold.server.proxy.apis.base import Round, Wire
from refold.server.proxy.ledger import SENT, Outbox, Past, Sent
from refold.server.proxy.request import Folded, Known, Request
from refold.server.proxy.settings import ToolRules
from refold.stores.base import Store
from refold.tools.shapes import find_texts


@dataclass(slots=True)
class Conversation:
    """The state of one conversation, which only grows."""

    name: str
    session: Session[Any]
    outbox: Outbox
    store: Store
    """The part of it that belongs to the tenant."""
    rules: ToolRules
    past: Past
    """What was on record of it."""
    rounds: dict[int, Sequence[Round]]
    """Retrieval rounds, by the place of the client's last message before them."""
    is_offered: bool
    """Whether the retrieval tool is offered."""
    is_read: bool = False
    """Whether the session has got what is on record."""
    length: int = 0
    """How many of a request's messages, with its retrieval rounds, are in the session."""
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

    def read(self, request: Request) -> None:
        """Go on from what was sent of a request, as the conversation that sent it would."""
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
        self._note_sent(request.whole[: max(request.answered, request.reach(past.came))])
        self.is_read = True

    def read_and_fold(self, request: Request) -> None:
        """Do all of it for a long conversation that is new here, beside its first request."""
        self.read(request)
        cold, budget = request.is_cold(self.session.idle_seconds), self._budget_for(request)
        if self.length < len(request.whole) and self.session.is_due(budget, cold=cold):
            self.session.fold()

    def extend(self, request: Request) -> bool:
        """Bring what is new of a request into the session; return whether a fold is due.

        What the model has answered went out: as it came, if it is not on record.
        """
        self._note_sent(request.whole[: request.answered])
        self._append(request.whole)
        return self.session.is_due(
            self._budget_for(request),
            cold=request.is_cold(self.session.idle_seconds),
            result_tokens=self.rules.limit_of if request.settings.tool_limits else None,
        )

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

    def write(self, request: Request, view: list[Any], before: tuple[int, int]) -> Folded:
        """Return how a request is sent as *view*; the outbox then has what is to be recorded of it.

        *before* are the tokens that were saved by then, and that were known.
        """
        session, report, ranges = self.session, self.session.report, self.session.places
        is_refolded = report.folds > self.folds
        first = 0 if is_refolded else self.recorded
        if not is_refolded and view[: len(self.sent)] != self.sent:
            raise StoreError("what was sent cannot be restored: it is passed on as recorded")
        forms = [
            (request.whole[one.start], wire)
            for one, wire in zip(ranges[first:], view[first:], strict=True)
            if len(one) == 1 and wire != request.whole[one.start]
        ]
        is_lossless = request.job.is_lossless
        if not is_lossless and not self.is_offered:
            self.is_offered = self._wants_tool(request, forms, is_refolded)
        has_tool = not is_lossless and self.is_offered and request.api.has_tools(request.body)
        if is_refolded:
            self.folds, self.saved_by_folds = report.folds, self.saved
        if self.length < len(request.whole):
            sent = Sent(
                first=first,
                trace=session.trace(first),
                saved=self.saved,
                saved_by_folds=self.saved_by_folds,
                is_offered=self.is_offered,
            )
            self.store.put({SENT + request.about.beginning: sent})
            self.recorded = len(view)
        beside, first_changed = self._count_beside(request), report.first_changed
        folded = replace(
            request.about,
            body=request.write(view, ranges, has_tool=has_tool),
            has_tool=has_tool,
            tokens_before=report.tokens_unfolded + beside,
            tokens_after=report.tokens + beside,
            tokens_beside=beside,
            saved_before=before[0],
            saved_by_folds=self.saved_by_folds,
            tokens_known=before[1],
            is_refolded=is_refolded,
            first_changed=first_changed if self.sent else 0,
            thinking=report.thinking,
        )
        self.sent, self.length = view, len(request.whole)
        return folded

    def _note_sent(self, messages: Sequence[Any]) -> None:
        """Note that all of *messages* went out, those that are not on record as they came."""
        if len(messages) > self.length:
            self._append(messages)
            self.session.note_sent()
            self.sent, self.length = self.session.wires, len(messages)

    def _append(self, messages: Sequence[Any]) -> None:
        for message in messages[self.length :]:
            self.rules.note(message)
            self.session.append(message)

    def _budget_for(self, request: Request) -> int | str | None:
        """Return the budget of the messages; a number is one of the whole request."""
        budget = None if request.job.is_lossless else request.settings.budget
        return max(1, budget - self._count_beside(request)) if isinstance(budget, int) else budget

    def _count_beside(self, request: Request) -> int:
        """Return the tokens of a request beside its messages: system prompt and tools."""
        beside = [request.body.get(name) for name in request.api.beside]
        if beside != self.beside[0]:
            count = counter_for(self.session.options.model)
            self.beside = beside, count(spell(beside))
        return self.beside[1]

    def _wants_tool(
        self, request: Request, forms: Sequence[tuple[Wire, Wire]], is_refolded: bool
    ) -> bool:
        """Return whether to offer the retrieval tool from now on.

        It costs tokens with every request, and adding it invalidates the whole cache. So it is
        offered once something is left out, not for lossless forms. Where thinking is bound to the
        tools, it is there from the start, or never.
        """
        if request.settings.retrieve != "inline":
            return False
        if request.body.get("thinking") and is_bound(self.session.options.model):
            return not request.answered
        return is_refolded or any(_is_cut(*form) for form in forms)


def _is_cut(original: Wire, form: Wire) -> bool:
    """Return whether the *form* of a message leaves something out; if not, nothing is lost."""
    known = {text.text for text in find_texts([original])}
    changed = [text.text for text in find_texts([form]) if text.text not in known]
    return not all(map(is_lossless_mark, changed))
