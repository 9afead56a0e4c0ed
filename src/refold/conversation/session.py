"""A growing conversation whose folded beginning stays byte for byte the same between folds.

Providers cache the beginning of a prompt only while it does not change. So a session leaves what it
has shown alone, lets new messages pile up as they are, and folds only when a trigger fires: once,
with room to spare, and as late in the list as will do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any, Final, Generic, Self, Unpack

from refold.api import NamedChoices
from refold.checks import check_whole
from refold.conversation.folding import Folding
from refold.conversation.limits import FoldThresholds
from refold.conversation.report import SessionReport
from refold.conversation.saved import HOOKS, check_given, read_state, reading, write_state
from refold.conversation.state import State
from refold.engine import Engine, combine, scoped, split_helpers
from refold.errors import MessageError
from refold.messages.formats.objects import Objects
from refold.messages.wire import clone
from refold.options import Options, Pin
from refold.plan.profiles import preset_of
from refold.result import M
from refold.stores.base import Store
from refold.stores.memory import MemoryStore

_GIVEN_AGAIN: Final = ("summarizer", "detectors", "codecs", "kinds", "rules")
"""What is not saved with a session and must be passed again to `resume`."""


def _stable(options: Options) -> Options:
    """Make later copies refer to the first, so that what was shown need not change."""
    if not preset_of(options.profile).refers_ahead:
        return options
    return replace(options, keep_duplicate="first")


class Session(Generic[M]):
    """A growing conversation: `append` each message, send what `view` returns.

        session = Session(token_budget=8_000, store=SqliteStore("originals.db"))
        session.append({"role": "user", "content": question})
        reply = client.chat.completions.create(model="gpt-5", messages=session.view())

    The messages of a view belong to the session: read them, send them, but do not change them.
    An exception at any point, such as `KeyboardInterrupt`, leaves the session as it was before the
    call, or as it is after it.
    """

    def __init__(
        self,
        options: Options | None = None,
        *,
        store: Store | None = None,
        thresholds: FoldThresholds | None = None,
        **choices: Unpack[NamedChoices],
    ) -> None:
        """Take what `Compressor` takes; a summarizer is asked when the session folds."""
        self._store = store
        self._helpers, fields_of_options = split_helpers(choices)
        self._models = [name for name in _GIVEN_AGAIN if self._helpers.get(name) is not None]
        combined = _stable(combine(options, fields_of_options))
        engine = Engine(combined, store=store, **self._helpers)
        self._state = State(engine)
        self._folding = Folding(self._state, thresholds or FoldThresholds())
        self._objects = Objects()

    def __repr__(self) -> str:
        now = self._state.view
        said = f"messages={now.length}, tokens={now.tokens}, folds={now.folds}"
        return f"{type(self).__name__}({said})"

    def __len__(self) -> int:
        """Return how many messages the conversation has."""
        return self._state.view.length

    @property
    def options(self) -> Options:
        """The options that it folds with."""
        return self._state.engine.options

    @property
    def thresholds(self) -> FoldThresholds:
        """High and low water: when it folds, and how far."""
        return self._folding.thresholds

    @property
    def verbatim(self) -> dict[str, Any]:
        """Originals of everything folded so far; the store has them too, if there is one."""
        return self._folding.verbatim

    @property
    def report(self) -> SessionReport:
        """Figures of the last view."""
        return self._folding.report

    def append(self, message: M) -> None:
        """Add one message, a mapping or an object; the session keeps its own copy of a mapping."""
        self._state.append(self._objects.read_one(message, len(self)))

    def extend(self, messages: Iterable[M]) -> None:
        """Add messages in order."""
        for message in messages:
            self.append(message)

    def pop(self) -> M:
        """Take back the last message, and return it as it was given."""
        if not len(self):
            raise MessageError("there is none to take back", "messages")
        last: list[M] = self._objects.write([clone(self._state.wires[-1])])
        self.truncate(len(self) - 1)
        return last[0]

    def truncate(self, length: int) -> None:
        """Keep only the first *length* messages, as if the later ones had never been appended.

        Up to the last fold the view stays as it was. A fold depends on what came last when it was
        made, so if one of the messages that it has seen goes, the session begins anew with the
        others. What was folded can still be restored.
        """
        check_whole("length", length)
        if length < len(self):
            self._folding.go_back(length)

    def fork(self) -> Self:
        """Return an independent session with the same state.

        Both keep what they fold in the same store.
        """
        saved = MemoryStore()
        key = self.save(saved)
        hooks = {name: getattr(self.options, name) for name in HOOKS}
        given = {name: hook for name, hook in hooks.items() if hook is not None} | self._helpers
        session = type(self).resume(key, saved, **given, pins=self.options.pins)
        session._folding.verbatim.update(self.verbatim)
        session._store = self._store
        session._state.engine = Engine(session.options, store=session._store, **session._helpers)
        return session

    def pin(self, *pins: Pin) -> None:
        """Keep messages unchanged from now on: by id, as `role:NAME`, or by a function.

        Messages that were folded before come back into the next view, which changes from there on.
        """
        options = replace(self.options, pins=(*self.options.pins, *pins))
        self._state.engine.options = options
        self._folding.has_new_pins = True

    @property
    def messages(self) -> list[M]:
        """The whole conversation as it was given, copied."""
        return self._objects.write([clone(wire) for wire in self._state.wires])

    def note_sent(self) -> None:
        """Treat what was appended since the last view as sent, word for word.

        Call it where there was no view to send, for example because a store failed, and the
        messages were sent without folding.
        """
        self._folding.note_sent()

    def doubt_thinking(self) -> None:
        """Leave all thinking so far out of the next view, if there was no view before.

        Call it where these messages may have been sent in another form than the one given. What a
        model thought then is bound to that form, and its provider rejects it behind any other.
        """
        self._folding.is_doubted = True

    @property
    def wires(self) -> list[dict[str, Any]]:
        """The messages of the last view as plain data; what `retrieve_tool` wants to see."""
        return [item.wire for item in self._folding.shown]

    @property
    def unchanged(self) -> list[int | None]:
        """For each message of the last view, the index of the one that it shows word for word."""
        return [item.first if item.is_as_given else None for item in self._folding.shown]

    @property
    def places(self) -> list[range]:
        """For each message of the last view, the indices of those that it stands for."""
        return [range(item.first, item.end) for item in self._folding.shown]

    @property
    def folded_length(self) -> int:
        """How many messages the last fold has seen: `truncate` to fewer begins anew."""
        return self._state.view.seen

    def view(self, token_budget: int | None = None) -> list[M]:
        """Return what to send now, after a fold if one is due.

        While results of parallel calls are still to come, nothing is folded: no provider takes the
        conversation without them.

        *token_budget* replaces that of the options for this view. `BudgetError` with `strict=True`
        if the budget cannot be kept, `StoreError` if the store fails.
        """
        if token_budget is not None:
            replace(self.options, token_budget=token_budget)  # refuses what is no budget
        budget = self.options.token_budget if token_budget is None else token_budget
        shown = self._folding.advance(budget)
        return self._objects.write([item.wire for item in shown.items])

    async def aview(self, token_budget: int | None = None) -> list[M]:
        """Return the same as `view` without blocking the event loop."""
        return await asyncio.to_thread(self.view, token_budget)

    def save(self, store: Store) -> str:
        """Write everything to *store* and return the key with which to `resume`."""
        engine, now = self._state.engine, self._state.view
        return write_state(
            scoped(store, engine.conversation),
            options=self.options,
            given=dict(zip(self._state.names, self._state.wires, strict=True)),
            names=self._state.names,
            items=now.items,
            verbatim=self.verbatim,
            facts={
                "thresholds": asdict(self.thresholds),
                "settled": now.settled,
                "folded": now.folded,
                "sent": self._folding.first_changed(),
                "is_doubted": self._folding.is_doubted,
                "is_guarded": now.is_guarded,
                "models": self._models,
                "report": replace(self.report, folds=now.folds, budget=now.budget).to_dict(),
            },
        )

    @classmethod
    def resume(
        cls,
        key: str,
        store: Store,
        *,
        thresholds: FoldThresholds | None = None,
        **choices: Unpack[NamedChoices],
    ) -> Self:
        """Resume a saved session; it continues byte for byte as if it had never stopped.

        Functions and models cannot be saved: a counter or a summarizer that was given
        must be given again. Other choices replace those that were saved. `StoreError` if
        anything that was saved is missing or not as it was.
        """
        helpers, others = split_helpers(choices)
        with reading(key):
            saved = read_state(scoped(store, helpers.get("conversation")), key, others)
            check_given(saved.facts["models"], helpers)
            thresholds = thresholds or FoldThresholds(**saved.facts["thresholds"])
            session = cls(saved.options, store=store, thresholds=thresholds, **helpers)
            session._folding.verbatim.update(saved.verbatim)
            session.extend(session._objects.revive(saved.messages))
            session._folding.go_on(saved)
        return session
