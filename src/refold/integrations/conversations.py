"""The conversations of one integration: recognizes each, and folds what is sent of it.

A framework hands over the whole history before every call of the model. Its beginning tells which
conversation it is: the longest beginning seen before says which session continues, or where a new
one branches off. So nothing that was sent changes without need, whether or not the framework has
names for its conversations.
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
from typing import Any, ClassVar, Final, Unpack
from uuid import uuid4

from refold.conversation.report import SessionReport
from refold.conversation.session import Session
from refold.errors import RefoldError, describe
from refold.integrations.choices import CheckedChoices, Choices
from refold.integrations.telemetry import FoldRecord, Telemetry, WarnOnce
from refold.integrations.tracked import (
    AS_GIVEN,
    FormStore,
    Kind,
    SentForms,
    TrackedSession,
    asked_before_thinking,
    name_beginnings,
)
from refold.messages.provider import is_checked
from refold.messages.wire import spell
from refold.scan.tokens.choose import counter_for
from refold.tools.retrieve import RetrieveTool, Style, retrieve_tool

RETRIEVE: Final = "retrieve_original"
"""The name of the tool that every integration offers; its results are never folded."""
_MOST: Final = 64
"""How many sessions are kept in memory, the most recently used; one that was dropped starts over
from the whole history."""
_log: Final = logging.getLogger("refold.integrations")
_current: Final[ContextVar[str]] = ContextVar("refold_conversation", default="")
"""The conversation last folded in this task or thread. One variable for all: none is ever freed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """What to send, and figures about it."""

    messages: list[Any]
    """Messages of the types that were given; unchanged ones are the same objects."""
    conversation: str = ""
    """Its name: the framework's, or a generated one."""
    report: SessionReport = field(default_factory=SessionReport)
    """Figures, such as `first_changed` and whether thinking was left out."""


class Conversations:
    """Folds what an integration sends; safe to share between threads, tasks and conversations."""

    def __init__(self, checked: CheckedChoices | None = None, **choices: Unpack[Choices]) -> None:
        self.choices = checked or CheckedChoices(choices)
        self._telemetry = Telemetry()
        self._lock = threading.Lock()
        self._tracked: OrderedDict[int, TrackedSession] = OrderedDict()
        """By identity, the least recently used first."""
        self._known: dict[tuple[Kind, bytes], TrackedSession] = {}
        """By beginning: the session that last had it."""
        self._forms = SentForms()

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

        If refold cannot fold, that is logged and what is new is sent as it is: no agent stops for
        it.

        Args:
            messages: the whole history so far, in the types of the framework.
            model: the model that will read them.
            conversation: the framework's name for the conversation, if it has one.
            format: their shape, by default the one that is recognized.
            beside: what else counts against the budget: system prompt and tools.
        """
        given = list(messages)
        model = self.choices.model or model
        try:
            beginnings = name_beginnings(given)
            budget = self._budget(model, beside)
            kind = Kind(conversation or "", model or "", format)
            folded = None
            while folded is None:
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
        """Return the retrieval tool to offer to a model; `retrieve` answers its calls."""
        return retrieve_tool({}, name=RETRIEVE, style=style)

    def retrieve(
        self,
        arguments: Mapping[str, Any] | str,
        *,
        messages: Sequence[Any] = (),
        conversation: str | None = None,
    ) -> str:
        """Answer a call of the retrieval tool, for the conversation in which it was made.

        That is the one with these *messages* as its history, or the one with this name, or else the
        one last folded in this task or thread. Nothing of any other is found. Errors are part of
        the answer, never raised.
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
        tracked: TrackedSession,
        given: list[Any],
        beginnings: list[bytes],
        budget: int | str | None,
    ) -> Folded | None:
        """Fold what is new with a session; `None` if another thread has taken that elsewhere."""
        model, profile = tracked.kind.model or None, self.choices.options.profile
        record = FoldRecord(tracked.conversation, model, profile)
        with tracked.lock:
            if not tracked.is_prefix_of(beginnings):
                return None
            with self._telemetry.span(record):
                shown = tracked.fold(given, beginnings, budget)
                record.report = tracked.session.report
                refused = 0 if record.report.model is None else len(record.report.model.refused)
                record.refused, tracked.refused = refused - tracked.refused, refused
        with self._lock:
            if beginnings:
                self._forms.note(beginnings[-1], tracked.sent.form)
            self._known.update({(tracked.kind, beginning): tracked for beginning in beginnings})
        return Folded(messages=shown, conversation=tracked.conversation, report=record.report)

    def _budget(self, model: str | None, beside: object) -> int | str | None:
        """Return the budget; of a number, what is left after what is *beside* the messages."""
        budget = self.choices.token_budget
        if beside is None or not isinstance(budget, int):
            return budget
        count = self.choices.options.counter or counter_for(model)
        return max(0, budget - count(beside if isinstance(beside, str) else spell(beside)))

    def _find(self, given: list[Any], beginnings: list[bytes], kind: Kind) -> TrackedSession:
        """Return the session that these messages continue, or a new one."""
        with self._lock:
            length, tracked = self._longest(beginnings, kind)
        if tracked is not None and tracked.is_foreign(given, beginnings[:length]):
            tracked = None
        with self._lock:
            is_known = tracked is not None and id(tracked) in self._tracked
            if tracked is not None and is_known and tracked.is_prefix_of(beginnings):
                self._tracked.move_to_end(id(tracked))
                return tracked
        branch = None if tracked is None else tracked.branch(length)
        fresh = branch or self._begin(given, beginnings, kind)
        with self._lock:
            self._tracked[id(fresh)] = fresh
            while len(self._tracked) > _MOST:
                self._forget(self._tracked.popitem(last=False)[1])
        return fresh

    def _begin(self, given: list[Any], beginnings: list[bytes], kind: Kind) -> TrackedSession:
        """Return a session without messages."""
        store, name = self.choices.store, kind.conversation or uuid4().hex
        options = replace(self.choices.options, model=kind.model or None, format=kind.format)
        summarizer = self.choices.summarizer
        session = Session(options, store=store, conversation=name, summarizer=summarizer)
        forms, is_doubted = FormStore(store, kind.conversation, self._forms), False
        is_thinking_checked = is_checked(options.thinking, options.model)
        if is_thinking_checked:
            asked = asked_before_thinking(given, kind.format)
            names = [beginnings[length - 1] if length else b"" for length in asked]
            is_doubted = not forms.find(names) <= {AS_GIVEN}
        if is_doubted:
            session.doubt_thinking()
        tracked = TrackedSession(session, forms, name, kind, is_thinking_checked, is_doubted)
        tracked.only_on_arrival = self.choices.only_on_arrival
        return tracked

    def _longest(self, beginnings: list[bytes], kind: Kind) -> tuple[int, TrackedSession | None]:
        """Return the length of the longest beginning seen before, and the session that had it."""
        for length in range(len(beginnings), 0, -1):
            tracked = self._known.get((kind, beginnings[length - 1]))
            if tracked is not None:
                return length, tracked
        return 0, None

    def _forget(self, tracked: TrackedSession) -> None:
        for beginning in tracked.beginnings:
            if self._known.get((tracked.kind, beginning)) is tracked:
                del self._known[tracked.kind, beginning]

    def _tracked_of(self, messages: Sequence[Any], conversation: str) -> TrackedSession | None:
        """Return the session of a conversation, by its history or else by its name."""
        beginnings = name_beginnings(list(messages))
        with self._lock:
            all_tracked = list(reversed(self._tracked.values()))
        leading = [one for one in all_tracked if one.beginnings and one.is_prefix_of(beginnings)]
        if leading:
            return max(leading, key=lambda one: len(one.beginnings))
        return next((one for one in all_tracked if one.conversation == conversation), None)


class Integration:
    """A base class for integrations, beside that of the framework."""

    _own_choices: ClassVar[Mapping[str, Any]] = {}
    """Options that the integration sets itself."""
    _only_on_arrival: ClassVar[bool] = False
    """Whether results can only be shortened before they are first sent."""

    def __init__(self, **choices: Unpack[Choices]) -> None:
        super().__init__()
        self.conversations = Conversations(
            CheckedChoices(choices, only_on_arrival=self._only_on_arrival, **self._own_choices)
        )
        self.last: Folded | None = None
        """What was sent last, with its report."""
        self._warn_once = WarnOnce()

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
