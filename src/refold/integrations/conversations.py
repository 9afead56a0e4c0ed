"""The conversations that one integration serves: finds each again, and folds what is sent of it.

A framework hands over the whole history before every call of the model. Which conversation that is
shows in how it begins: the longest beginning that was seen before says which session goes on, or
from where another one branches off. So nothing that was sent changes without need, whether or not
the framework has names for its conversations.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from typing import Any, Final, Unpack
from uuid import uuid4

from refold.conversation.report import SessionReport
from refold.conversation.session import Session
from refold.errors import MessageError, RefoldError, describe
from refold.integrations.choices import CheckedChoices, Choices
from refold.integrations.past import NotingStore, Sent, SentForms, thinks_in, without_thinking
from refold.integrations.telemetry import FoldRecord, Telemetry
from refold.messages.formats import recognize
from refold.messages.formats.objects import Objects
from refold.messages.wire import digest, spell
from refold.plan.thinking import is_checked
from refold.scan.tokens.choose import counter_for
from refold.tools.retrieve import RetrieveTool, Style, retrieve_tool

RETRIEVE: Final = "retrieve_original"
"""The name of the tool that every integration offers; its results are never folded."""
_MOST: Final = 64
"""How many sessions are kept in memory; of those used longest ago, a new one starts from the whole
history when it is next asked for."""
_log: Final = logging.getLogger("refold.integrations")
_current: Final[ContextVar[str]] = ContextVar("refold_conversation", default="")
"""The conversation that was last folded in this task or thread; one for all, for none is freed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """The messages to send, and figures about them."""

    messages: list[Any]
    """Messages of the types that were given; those that are sent as they are, the same objects."""
    conversation: str = ""
    """Its name: the framework's, or one of our own."""
    report: SessionReport = field(default_factory=SessionReport)
    """Figures, such as `first_changed` and whether thinking was left out."""


_Kind = tuple[str, str, str]
"""The framework's name of a conversation, the model and the format: other ones, other sessions."""


@dataclass(slots=True)
class _TrackedSession:
    """One session, and the beginnings by which it is found again; it only ever grows."""

    session: Session
    store: NotingStore
    conversation: str
    kind: _Kind
    beginnings: list[bytes] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    refused: int = 0
    """How many answers of a summarizer have been refused so far."""
    sent: Sent = field(default_factory=Sent)
    is_doubted: bool = False
    """Whether it is unknown what the thinking before the session's first view is bound to:
    these messages may have been sent in another form than the one given."""

    def is_prefix_of(self, beginnings: Sequence[bytes]) -> bool:
        """Return whether messages with these *beginnings* are those of the session, or follow."""
        length = len(self.beginnings)
        return length <= len(beginnings) and (
            not length or beginnings[length - 1] == self.beginnings[-1]
        )


class Conversations:
    """Folds what an integration sends; safe to share between threads, tasks and conversations."""

    def __init__(self, checked: CheckedChoices | None = None, **choices: Unpack[Choices]) -> None:
        self.choices = checked or CheckedChoices(choices)
        self._telemetry = Telemetry()
        self._lock = threading.Lock()
        self._tracked: OrderedDict[int, _TrackedSession] = OrderedDict()
        """By the identity of each: the one used longest ago comes first."""
        self._known: dict[tuple[_Kind, bytes], _TrackedSession] = {}
        """By beginning; the latest session if several share it."""
        self._forms = SentForms()
        self._warned: set[str] = set()

    def fold(
        self,
        messages: Sequence[Any],
        *,
        model: str | None = None,
        conversation: str | None = None,
        format: str = "auto",
        beside: object = None,
    ) -> Folded:
        """Return what to send of *messages*, the whole history; originals are in the store then.

        *model* is about to read them, together with what is *beside* them: system prompt and tools.
        A *conversation* that the framework has a name for keeps it. If refold cannot fold, that is
        logged, and what is new is sent as it is: no agent stops for it.
        """
        given = list(messages)
        model = self.choices.model or model
        try:
            beginnings = _beginnings(given)
            budget = self._budget(model, beside)
            kind = (conversation or "", model or "", format)
            folded = None
            while folded is None:  # another thread may have taken the session elsewhere
                tracked = self._find(given, beginnings, kind)
                folded = self._go_on(tracked, given, beginnings, budget)
        except RefoldError as error:  # such as a store that cannot be opened
            _log.error("sent as it is, because it cannot be folded: %s", describe(error))
            folded = Folded(messages=given, conversation=conversation or "")
        _current.set(folded.conversation)
        return folded

    async def afold(self, messages: Sequence[Any], **given: Any) -> Folded:
        """Do what `fold` does without blocking the event loop."""
        folded = await asyncio.to_thread(partial(self.fold, messages, **given))
        _current.set(folded.conversation)  # the thread has a context of its own
        return folded

    def tool(self, style: Style = "openai") -> RetrieveTool:
        """Return the retrieval tool, to be described to a model; `retrieve` answers its calls."""
        return retrieve_tool({}, name=RETRIEVE, style=style)

    def retrieve(
        self,
        arguments: Mapping[str, Any] | str,
        *,
        messages: Sequence[Any] = (),
        conversation: str | None = None,
    ) -> str:
        """Answer a call of the retrieval tool, for the conversation that it was made in.

        That is the one of which these *messages* are the history, or the one with this name, or
        else the one that was last folded in this task or thread. Nothing of another one is found.
        What goes wrong is said in the answer, never raised.
        """
        try:
            tracked = self._tracked_of(messages, conversation or _current.get())
        except RefoldError as error:
            return f"[{RETRIEVE}: {error}]"
        if tracked is None:
            return f"[{RETRIEVE}: nothing of this conversation has been shortened]"
        with tracked.lock:
            originals, view = dict(tracked.session.verbatim), tracked.session.wires
        name = tracked.conversation
        return retrieve_tool(originals, messages=view, conversation=name, name=RETRIEVE).call(
            arguments
        )

    async def aretrieve(self, arguments: Mapping[str, Any] | str, **given: Any) -> str:
        """Do what `retrieve` does without blocking the event loop."""
        return await asyncio.to_thread(partial(self.retrieve, arguments, **given))

    def _go_on(
        self,
        tracked: _TrackedSession,
        given: list[Any],
        beginnings: list[bytes],
        budget: int | None,
    ) -> Folded | None:
        """Fold the new messages with a session; `None` if that has diverged meanwhile."""
        _, model, _ = tracked.kind
        record = FoldRecord(tracked.conversation, model or None, self.choices.options.profile)
        with tracked.lock, self._telemetry.span(record):
            if not tracked.is_prefix_of(beginnings):
                return None
            shown = self._view(tracked, given, beginnings, budget)
            record.report = tracked.session.report
            refused = 0 if record.report.model is None else len(record.report.model.refused)
            record.refused, tracked.refused = refused - tracked.refused, refused
        with self._lock:
            if beginnings:
                self._forms.note(beginnings[-1], tracked.sent)
            self._known.update({(tracked.kind, beginning): tracked for beginning in beginnings})
        _log_fold(record)
        return Folded(messages=shown, conversation=tracked.conversation, report=record.report)

    def _view(
        self,
        tracked: _TrackedSession,
        given: list[Any],
        beginnings: list[bytes],
        budget: int | None,
    ) -> list[Any]:
        """Return what to send; what is new as it is, if it cannot be folded.

        What was sent before is sent again even then: thinking may be bound to it.
        """
        session, sent = tracked.session, tracked.sent
        new = given[sent.length :]
        try:
            with tracked.store.sending(beginnings[-1] if beginnings else b""):
                if len(session) < sent.length:  # it could not even be told of what was sent
                    session.extend(given[len(session) : sent.length])
                    session.note_sent()
                session.extend(given[len(session) :])
                view = session.view(budget)
        except RefoldError as error:
            _log.error("what is new is sent as it is, not folded: %s", describe(error))
            is_doubted = tracked.is_doubted and not sent.length
            shown = without_thinking(new, tracked.kind[2]) if is_doubted else new
            tracked.sent = sent.followed_by(shown, new)
            if tracked.sent.changed:
                tracked.store.note_late(beginnings[-1])
            session.note_sent()
            return list(tracked.sent.messages)
        finally:
            tracked.beginnings = beginnings[: max(len(session), tracked.sent.length)]
        shown = [
            message if place is None else given[place]
            for message, place in zip(view, session.unchanged, strict=True)
        ]
        places = enumerate(zip(session.wires, session.unchanged, strict=True))
        changed = tuple((n, digest(wire)) for n, (wire, place) in places if place is None)
        tracked.sent = Sent(shown, len(given), changed)
        return shown

    def _budget(self, model: str | None, beside: object) -> int | None:
        """Return the token budget of the messages."""
        budget = self.choices.budget_for(model)
        if budget is None:
            name = model or ""
            if name not in self._warned:
                self._warned.add(name)
                _log.warning("the window of model %r is not known: give a token_budget", name)
            return None
        if beside is None:
            return budget
        count = self.choices.options.counter or counter_for(model)
        return max(0, budget - count(beside if isinstance(beside, str) else spell(beside)))

    def _find(self, given: list[Any], beginnings: list[bytes], kind: _Kind) -> _TrackedSession:
        """Return the session that these messages continue, or a new one."""
        with self._lock:
            length, tracked = self._longest(beginnings, kind)
            if tracked is not None and self._is_foreign(tracked, given, beginnings[:length]):
                tracked = None
            if tracked is not None and tracked.is_prefix_of(beginnings):
                self._tracked.move_to_end(id(tracked))
                return tracked
        fresh = self._branch(tracked, length) if tracked is not None else None
        if fresh is None:
            fresh = self._begin(beginnings, kind)
        with self._lock:
            self._tracked[id(fresh)] = fresh
            while len(self._tracked) > _MOST:
                self._forget(self._tracked.popitem(last=False)[1])
        return fresh

    def _is_foreign(
        self, tracked: _TrackedSession, given: list[Any], known: Sequence[bytes]
    ) -> bool:
        """Tell whether a model may have thought of something else than what the session has sent.

        *known* are the beginnings that it has seen.
        """
        _, model, format_ = tracked.kind
        if not is_checked(self.choices.options.thinking, model or None):
            return False
        length = min(len(known), tracked.sent.length)
        where = thinks_in(given[length:], format_)
        if where != "answer" or not length:
            return where != ""
        return self._forms.may_differ(known[length - 1], tracked.sent.back_to(length))

    def _begin(self, beginnings: list[bytes], kind: _Kind) -> _TrackedSession:
        """Return a new session."""
        conversation, model, format_ = kind
        name = conversation or uuid4().hex
        options = replace(self.choices.options, model=model or None, format=format_)
        store = NotingStore(self.choices.store, conversation)
        session = Session(
            options, store=store, conversation=name, summarizer=self.choices.summarizer
        )
        is_doubted = is_checked(options.thinking, options.model) and (
            self._forms.was_changed(beginnings) or store.was_changed(beginnings)
        )
        if is_doubted:
            session.doubt_thinking()
        return _TrackedSession(session, store, name, kind, is_doubted=is_doubted)

    def _longest(self, beginnings: list[bytes], kind: _Kind) -> tuple[int, _TrackedSession | None]:
        """Return the longest known beginning, and its session."""
        for length in range(len(beginnings), 0, -1):
            tracked = self._known.get((kind, beginnings[length - 1]))
            if tracked is not None:
                return length, tracked
        return 0, None

    def _branch(self, tracked: _TrackedSession, length: int) -> _TrackedSession | None:
        """Return a session that leaves another one after so many messages, if that is worth it."""
        with tracked.lock:
            if tracked.session.folded_length > length or 2 * length < len(tracked.session):
                return None
            session, beginnings = tracked.session.fork(), tracked.beginnings[:length]
            sent = tracked.sent.back_to(length)
        session.truncate(length)
        return replace(
            tracked,
            session=session,
            beginnings=beginnings,
            lock=threading.Lock(),
            sent=sent,
        )

    def _forget(self, tracked: _TrackedSession) -> None:
        for beginning in tracked.beginnings:
            if self._known.get((tracked.kind, beginning)) is tracked:
                del self._known[tracked.kind, beginning]

    def _tracked_of(self, messages: Sequence[Any], conversation: str) -> _TrackedSession | None:
        """Return the session that last showed a conversation: by its history, or by its name."""
        beginnings = _beginnings(list(messages))
        with self._lock:
            all_tracked = list(reversed(self._tracked.values()))
        leading = [
            tracked
            for tracked in all_tracked
            if tracked.beginnings and tracked.is_prefix_of(beginnings)
        ]
        if leading:
            return max(leading, key=lambda tracked: len(tracked.beginnings))
        return next(
            (tracked for tracked in all_tracked if tracked.conversation == conversation), None
        )


class SdkIntegration:
    """A base class for integrations of SDKs, where the caller runs the tools."""

    _style: Style = "openai"

    def __init__(self, **choices: Unpack[Choices]) -> None:
        super().__init__()
        self.conversations = Conversations(**choices)
        self.last: Folded | None = None
        """The last result, with its report."""

    @property
    def tool(self) -> dict[str, Any]:
        """The tool that fetches originals, for the `tools` of a request; `retrieve` answers it."""
        described: dict[str, Any] = self.conversations.tool(self._style).schema
        return described

    def retrieve(self, arguments: Mapping[str, Any] | str, messages: Sequence[Any] = ()) -> str:
        """Answer a call of the tool: its arguments, and the messages of the caller so far."""
        return self.conversations.retrieve(arguments, messages=messages)


def _beginnings(messages: list[Any]) -> list[bytes]:
    """Return a name for each beginning of *messages*: equal beginnings, equal names.

    Only what a message says counts: frameworks write other fields when they save and load it.
    """
    running = blake2b(digest_size=16)
    names: list[bytes] = []
    for index, wire in enumerate(Objects().read(messages)):
        running.update(digest(_content_of(wire, index)).encode())
        names.append(running.digest())
    return names


def _content_of(wire: Any, index: int) -> object:
    if not isinstance(wire, Mapping):
        return repr(type(wire))  # reading reports what is wrong
    try:
        read = recognize([wire]).read(wire, f"messages[{index}]")
    except MessageError:  # reading reports it again
        return wire
    if not read.is_turn:
        return wire
    parts = [(part.text, part.call_id) for part in read.parts]
    calls = [(call.id, call.name, call.text) for call in read.calls]
    return [read.role, parts, calls, read.thinking, read.opaque, read.images]


def _log_fold(record: FoldRecord) -> None:
    """Log the figures of a fold, without content."""
    report = record.report
    _log.debug(
        "%s: %d of %d tokens sent, first changed %d of %d, thinking %s",
        record.conversation,
        report.tokens,
        report.tokens_unfolded,
        report.first_changed,
        report.messages,
        report.thinking,
    )
    if report.budget is not None and not report.budget.fits:
        _log.warning("the token budget is not kept: %s", report.budget.explain())
