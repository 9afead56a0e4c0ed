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
from typing import Any, ClassVar, Final, Unpack
from uuid import uuid4

from refold.conversation.report import SessionReport
from refold.conversation.session import Session
from refold.errors import RefoldError, describe
from refold.integrations.choices import CheckedChoices, Choices
from refold.integrations.past import (
    AS_GIVEN,
    FormStore,
    Sent,
    SentForms,
    asked_before_thinking,
    read_message,
    without_thinking,
)
from refold.integrations.telemetry import FoldRecord, Telemetry
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
    """What to send, and what became of it."""

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
    forms: FormStore
    conversation: str
    kind: _Kind
    beginnings: list[bytes] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    refused: int = 0
    """How many answers of a summarizer have been refused so far."""
    sent: Sent = field(default_factory=Sent)
    is_doubted: bool = False
    """Whether nobody knows what the thinking is bound to that came before the session's first view:
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
        """By beginning; of several, the session that was last there."""
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
        """Fold what is new with a session; `None` if that has gone on otherwise meanwhile."""
        _, model, _ = tracked.kind
        record = FoldRecord(tracked.conversation, model or None, self.choices.options.profile)
        with tracked.lock, self._telemetry.span(record):
            if not tracked.is_prefix_of(beginnings):
                return None
            shown = self._view(tracked, given, beginnings, budget)
            if beginnings and is_checked(self.choices.options.thinking, model or None):
                tracked.forms.note(beginnings[-1], tracked.sent.form)
            record.report = tracked.session.report
            refused = 0 if record.report.model is None else len(record.report.model.refused)
            record.refused, tracked.refused = refused - tracked.refused, refused
        with self._lock:
            if beginnings:
                self._forms.note(beginnings[-1], tracked.sent.form)
            self._known.update({(tracked.kind, beginning): tracked for beginning in beginnings})
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

    def warn_once(self, problem: str) -> None:
        """Log a problem that every request has; once is enough."""
        if problem not in self._warned:
            self._warned.add(problem)
            _log.warning("%s", problem)

    def _budget(self, model: str | None, beside: object) -> int | None:
        """Return what is left for the messages."""
        budget = self.choices.budget_for(model)
        if budget is None:
            name = model or ""
            self.warn_once(f"the window of model {name!r} is not known: give a token_budget")
            return None
        if beside is None:
            return budget
        count = self.choices.options.counter or counter_for(model)
        return max(0, budget - count(beside if isinstance(beside, str) else spell(beside)))

    def _find(self, given: list[Any], beginnings: list[bytes], kind: _Kind) -> _TrackedSession:
        """Return the session that goes on with these messages; another one where none does."""
        with self._lock:
            length, tracked = self._longest(beginnings, kind)
        if tracked is not None and self._is_foreign(tracked, given, beginnings[:length]):
            tracked = None
        with self._lock:
            is_known = tracked is not None and id(tracked) in self._tracked
            if tracked is not None and is_known and tracked.is_prefix_of(beginnings):
                self._tracked.move_to_end(id(tracked))
                return tracked
        fresh = self._branch(tracked, length) if tracked is not None else None
        if fresh is None:
            fresh = self._begin(given, beginnings, kind)
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
        asked = asked_before_thinking(given[length:], format_)
        if asked != [0] or not length:
            return bool(asked)
        form = tracked.sent.back_to(length).form
        return self._forms_of([known[length - 1]], tracked.forms) != {form}

    def _begin(self, given: list[Any], beginnings: list[bytes], kind: _Kind) -> _TrackedSession:
        """Return a session that knows nothing yet."""
        conversation, model, format_ = kind
        name = conversation or uuid4().hex
        options = replace(self.choices.options, model=model or None, format=format_)
        session = Session(
            options,
            store=self.choices.store,
            conversation=name,
            summarizer=self.choices.summarizer,
        )
        forms, is_doubted = FormStore(self.choices.store, conversation), False
        if is_checked(options.thinking, options.model):
            asked = asked_before_thinking(given, format_)
            names = [beginnings[length - 1] if length else b"" for length in asked]
            is_doubted = not self._forms_of(names, forms) <= {AS_GIVEN}
        if is_doubted:
            session.doubt_thinking()
        return _TrackedSession(session, forms, name, kind, is_doubted=is_doubted)

    def _forms_of(self, names: Sequence[bytes], forms: FormStore) -> set[str | None]:
        """Return in which forms conversations were sent that begin, and end, like these.

        What is noted in the store may be of another process; `None` is nowhere.
        """
        found: set[str | None] = set()
        for here, there in zip(map(self._forms.get, names), forms.read(names), strict=True):
            found |= {here, there} - {None} or {None}
        return found

    def _longest(self, beginnings: list[bytes], kind: _Kind) -> tuple[int, _TrackedSession | None]:
        """Return the longest beginning that was seen before, and the session that was there."""
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


class Integration:
    """A base class for integrations, beside that of the framework."""

    _own_choices: ClassVar[Mapping[str, Any]] = {}
    """What the integration itself has to choose."""

    def __init__(self, **choices: Unpack[Choices]) -> None:
        super().__init__()
        self.conversations = Conversations(CheckedChoices(choices, **self._own_choices))
        self.last: Folded | None = None
        """What was sent last, with its report."""

    def _fold(self, messages: Sequence[Any], **about: Any) -> list[Any]:
        """Return what to send of *messages*; the arguments are those of `Conversations.fold`."""
        self.last = self.conversations.fold(messages, **about)
        return self.last.messages

    async def _afold(self, messages: Sequence[Any], **about: Any) -> list[Any]:
        """Do what `_fold` does without blocking the event loop."""
        self.last = await self.conversations.afold(messages, **about)
        return self.last.messages


class SdkIntegration(Integration):
    """A base class for integrations of SDKs, where the caller runs the tools."""

    _style: Style = "openai"

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
    for wire in Objects().read(messages):
        running.update(digest(_what_it_says(wire)).encode())
        names.append(running.digest())
    return names


def _what_it_says(wire: Any) -> object:
    if not isinstance(wire, Mapping):
        return repr(type(wire))  # whoever reads it will say what is wrong
    _, read = read_message(wire) or (None, None)
    if read is None or not read.is_turn:
        return wire
    parts = [(part.text, part.call_id) for part in read.parts]
    calls = [(call.id, call.name, call.text) for call in read.calls]
    return [read.role, parts, calls, read.thinking, read.opaque, read.images]


def describe_retrieve(parameters: str = "parameters") -> dict[str, Any]:
    """Return the name, the description and the JSON schema of the retrieval tool.

    The schema goes under the name *parameters*: frameworks call it differently.
    """
    described: dict[str, Any] = retrieve_tool({}, name=RETRIEVE).schema["function"]
    return {
        "name": described["name"],
        "description": described["description"],
        parameters: described["parameters"],
    }
