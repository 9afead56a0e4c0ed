"""The conversations of one integration: each is a session, found by how its history begins.

A framework hands over the whole history before every call of the model. The longest beginning seen
before says which session continues, or where another one branches off from it, whether or not the
framework has names for its conversations.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Final, Unpack
from uuid import uuid4

from refold.conversation.finder import Finder, name_beginnings
from refold.conversation.report import SessionReport
from refold.errors import RefoldError, describe
from refold.integrations.choices import CheckedChoices, Choices
from refold.integrations.mirror import FORMAT, Mirror, note_originals
from refold.integrations.telemetry import Telemetry
from refold.integrations.tracked import TrackedSession
from refold.messages.wire import spell
from refold.scan.tokens.choose import counter_for
from refold.tools.retrieve import RetrieveTool, Style, retrieve_tool

RETRIEVE: Final = "retrieve_original"
"""The name of the tool that every integration offers; its results are never folded."""
_MOST: Final = 64
"""How many sessions are kept in memory, the most recently used; one that was dropped starts over
from the whole history."""
_RESULT_SHARE: Final = 0.1
"""Of a budget in tokens: what one result may take where nothing is ever folded later."""
_log: Final = logging.getLogger("refold.integrations")
_current: Final[ContextVar[str]] = ContextVar("refold_conversation", default="")
"""The conversation last folded in this task or thread. One variable for all: none is ever freed."""
_Owner = tuple[str, str, str]
"""What distinguishes sessions whose messages begin alike: the framework's name for the
conversation, the model, and the format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """The messages to send, and figures about them."""

    messages: list[Any]
    """Messages of the types that were given; unchanged ones are the same objects."""
    places: list[range] = field(default_factory=list)
    """For each of them, the indices of the given messages that it stands for."""
    conversation: str = ""
    """Its name: the framework's, or a generated one."""
    report: SessionReport = field(default_factory=SessionReport)
    """Figures, such as `first_changed` and whether thinking was left out."""


class Conversations:
    """Folds what an integration sends; safe to share between threads, tasks and conversations."""

    def __init__(self, *, only_on_arrival: bool = False, **choices: Unpack[Choices]) -> None:
        """Take the options of every integration.

        *only_on_arrival* is for frameworks that send every message as it was first sent.
        """
        self.choices = CheckedChoices(choices)
        self._only_on_arrival = only_on_arrival
        self._telemetry = Telemetry()
        self._finder = Finder[TrackedSession](_MOST)

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
        history = list(messages)
        owner = (conversation or "", self.choices.model or model or "", format)
        try:
            folded = self._fold(history, owner, beside)
        except RefoldError as error:  # such as a store that cannot be opened
            _log.error("sent as it is, because it cannot be folded: %s", describe(error))
            places = [range(place, place + 1) for place in range(len(history))]
            folded = Folded(messages=history, places=places, conversation=conversation or "")
        _current.set(folded.conversation)
        return folded

    async def afold(self, messages: Sequence[Any], **about: Any) -> Folded:
        """Do what `fold` does without blocking the event loop."""
        folded = await asyncio.to_thread(partial(self.fold, messages, **about))
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
            session = self._session_of(messages, conversation or _current.get())
        except RefoldError as error:
            return f"[{RETRIEVE}: {error}]"
        if session is None:
            return f"[{RETRIEVE}: nothing of this conversation has been shortened]"
        with session.lock:
            originals, view = dict(session.verbatim), session.wires
        tool = retrieve_tool(
            originals, messages=view, conversation=session.conversation, name=RETRIEVE
        )
        return tool.call(arguments)

    async def aretrieve(self, arguments: Mapping[str, Any] | str, **about: Any) -> str:
        """Do what `retrieve` does without blocking the event loop."""
        return await asyncio.to_thread(partial(self.retrieve, arguments, **about))

    def _fold(self, history: list[Any], owner: _Owner, beside: object) -> Folded:
        """Let the session that goes on with these messages fold them, or a new one."""
        names, tracked = name_beginnings(history), None
        budget = self.choices.token_budget
        if beside is not None and isinstance(budget, int):
            count = self.choices.options.counter or counter_for(owner[1] or None)
            spelled = beside if isinstance(beside, str) else spell(beside)
            budget = max(0, budget - count(spelled))
        length, known = self._finder.find(names, owner)
        if known is not None:
            with known.lock:
                tracked = known.going_on(history, names, length)
                if tracked is known:
                    return self._send(known, history, names, owner, budget)
        if tracked is None:
            name, model, format_ = owner
            tracked = TrackedSession(
                replace(self.choices.options, model=model or None, format=format_),
                store=self.choices.store,
                conversation=name or uuid4().hex,
                summarizer=self.choices.summarizer,
            )
        return self._send(tracked, history, names, owner, budget)

    def _send(
        self,
        session: TrackedSession,
        history: list[Any],
        names: list[bytes],
        owner: _Owner,
        budget: int | str | None,
    ) -> Folded:
        """Return what a session shows of a history; it is nobody else's in the meantime."""
        started, most = time.time_ns(), None
        if self._only_on_arrival:
            most = int(_RESULT_SHARE * budget) if isinstance(budget, int) else None
            budget = None
        refused = _refused(session.report)
        sent, places = session.send(history, names, budget, most)
        if session.names:  # otherwise it has sent nothing that it knows
            self._finder.keep(session, dict.fromkeys(names, session), owner)
        self._telemetry.note(session, started, _refused(session.report) - refused)
        return Folded(
            messages=sent,
            places=places,
            conversation=session.conversation or "",
            report=session.report,
        )

    def _session_of(self, messages: Sequence[Any], conversation: str) -> TrackedSession | None:
        """Return the session of a conversation, by its history or else by its name."""
        names, kept = name_beginnings(list(messages)), self._finder.values()
        leading = [one for one in kept if one.names and one.names == names[: len(one.names)]]
        if leading:
            return max(leading, key=lambda one: len(one.names))
        return next((one for one in kept if one.conversation == conversation), None)


def _refused(report: SessionReport) -> int:
    return 0 if report.model is None else len(report.model.refused)


class Integration:
    """A base class for integrations, beside that of the framework."""

    _mirror: ClassVar[Mirror | None] = None
    """How messages are read and written that refold has no format for."""
    _keeps_what_was_sent: ClassVar[bool] = False
    """Whether the framework comes back with what was sent, instead of the whole history."""
    _only_on_arrival: ClassVar[bool] = False
    """Whether results can only be shortened before they are first sent."""

    def __init__(self, **choices: Unpack[Choices]) -> None:
        super().__init__()
        self.conversations = Conversations(only_on_arrival=self._only_on_arrival, **choices)
        self.last: Folded | None = None
        """What was sent last, with its report."""
        self._warned: set[str] = set()

    def _fold(self, messages: Sequence[Any], **about: Any) -> list[Any]:
        """Return what to send of *messages*; the arguments are those of `Conversations.fold`."""
        wires = self._read(messages, about)
        self.last = folded = self.conversations.fold(wires, **about)
        return self._write(messages, wires, folded)

    async def _afold(self, messages: Sequence[Any], **about: Any) -> list[Any]:
        """Do what `_fold` does without blocking the event loop."""
        wires = self._read(messages, about)
        self.last = folded = await self.conversations.afold(wires, **about)
        return self._write(messages, wires, folded)

    def _read(self, messages: Sequence[Any], about: dict[str, Any]) -> Sequence[Any]:
        if self._mirror is None:
            return messages
        about["format"] = FORMAT
        return self._mirror.mirror(messages)

    def _write(self, messages: Sequence[Any], wires: Sequence[Any], folded: Folded) -> list[Any]:
        if self._mirror is None:
            return folded.messages
        written: list[Any] = self._mirror.back(messages, wires, folded.messages)
        if self._keeps_what_was_sent:
            note_originals(written, messages, folded.places)
        return written

    def _warn_once(self, problem: str) -> None:
        """Log a problem that every request has, unless it was logged before."""
        if problem not in self._warned:
            self._warned.add(problem)
            _log.warning("%s", problem)

    def look_up(self, query: str = "", handle: str = "", lines: str = "") -> str:
        """Answer a call of the retrieval tool in the conversation of this task or thread."""
        return self.conversations.retrieve({"query": query, "handle": handle, "lines": lines})

    async def alook_up(self, query: str = "", handle: str = "", lines: str = "") -> str:
        """Do what `look_up` does without blocking the event loop."""
        asked = {"query": query, "handle": handle, "lines": lines}
        return await self.conversations.aretrieve(asked)


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
