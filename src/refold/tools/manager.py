"""Shorten tool results inside an agent loop, beside the originals and never in their place."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, Final, Unpack
from weakref import WeakKeyDictionary

from refold.errors import ConfigError, describe
from refold.llm.ask import run_apart
from refold.llm.summarizers.calls import Generate
from refold.llm.summarizers.prompt import DEFAULT_COMPRESSION_PROMPT
from refold.llm.summarizers.stack import Limiter
from refold.messages.formats import turn_path
from refold.messages.manifest import Trail, read_said
from refold.messages.render import render_short_forms
from refold.scan.tokens.counter import ForgivingCounter, RememberingCounter
from refold.scan.tokens.estimate import estimate_tokens
from refold.stores.base import Store
from refold.stores.scope import scoped
from refold.tools.candidates import Candidate, find_trigger, survey
from refold.tools.manager_pass import Memory, Pass
from refold.tools.policy import ManagerChoices, ManagerOptions
from refold.tools.report import ManagerReport, ManagerStats
from refold.tools.shapes import apply_short_form, drop_short_form, with_value
from refold.tools.shortening import Shortener, build_summarizer
from refold.tools.text_store import TextStore

__all__ = ["DEFAULT_COMPRESSION_PROMPT", "CompressionManager", "Limiter", "ManagerOptions"]


class CompressionManager:
    """Decides when tool results are worth shortening, and keeps the short form beside them.

        manager = CompressionManager(summarizer="openai:gpt-5-mini")
        manager.compress(messages)
        client.chat.completions.create(model="gpt-5", messages=manager.view(messages))

    `compress` and `acompress` put a `compressed_content` beside the unchanged `content` of the
    messages given; `view` returns what to send. With *generate* (chat messages to text), *model*
    (a name such as `openai:gpt-5-mini`) or *summarizer* a model writes the short form and it is
    checked; without one the engine's own means are used. Results that the model has not seen yet,
    failed results and small ones stay as they are. Safe to share between threads and tasks.
    """

    def __init__(
        self,
        options: ManagerOptions | None = None,
        *,
        generate: Generate | None = None,
        model: object = None,
        summarizer: object = None,
        **choices: Unpack[ManagerChoices],
    ) -> None:
        """Take options as a set, or as keywords with the names that `ManagerOptions` has."""
        if options is not None and choices:
            raise ConfigError("give ManagerOptions or keywords, not both")
        chosen = ManagerOptions.of(choices) if options is None else options
        counter = RememberingCounter(ForgivingCounter(chosen.counter, estimate_tokens))
        self.options = chosen = replace(chosen, counter=counter)
        store, name = chosen.store, chosen.conversation
        self._shortener = Shortener(
            options=chosen,
            summarizer=build_summarizer(generate, model, summarizer, chosen),
            text_store=None if store is None else TextStore(store, name),
        )
        self._links = None if store is None else ViewLinks(store, name)
        self._memory = Memory(chosen.clock)
        self._lock = threading.Lock()
        self._stats = ManagerStats(price_per_million=chosen.price_per_million)

    def __repr__(self) -> str:
        stats = self._stats
        totals = f"compressed={stats.compressed}, tokens_saved={stats.tokens_saved}"
        return f"{type(self).__name__}({totals})"

    @property
    def compression_count(self) -> int:
        """How many texts were shortened since this manager was made."""
        return self._stats.compressed

    @property
    def stats(self) -> ManagerStats:
        """Totals since this manager was made."""
        return self._stats

    @property
    def last_report(self) -> ManagerReport:
        """What the last pass in this task or thread did."""
        return _reports().get(self, ManagerReport())

    def should_compress(self, messages: Sequence[Any], *, in_place: bool = True) -> bool:
        """Tell whether a limit is reached and something can be done about it.

        With *in_place* False, as for `compress`, what `view` shows short already counts as done.
        """
        return bool(self.explain(messages, in_place=in_place))

    async def ashould_compress(self, messages: Sequence[Any], *, in_place: bool = True) -> bool:
        """Tell the same without blocking the event loop."""
        return await asyncio.to_thread(self.should_compress, messages, in_place=in_place)

    def explain(self, messages: Sequence[Any], *, in_place: bool = True) -> str:
        """Say why `should_compress` is true; an empty string means that it is not."""
        judged = self._survey(messages, in_place=in_place)
        sent = messages if in_place else self.view(messages)
        return find_trigger(sent, judged, self.options)

    def compress(
        self, messages: Sequence[Any], *, again: bool = False, in_place: bool = True
    ) -> ManagerReport:
        """Shorten what may be shortened, one text after the other.

        With *again*, short forms that are still above the token limit are made anew, from the
        originals. With *in_place* False the messages stay as they are and only `view` knows.
        """
        walk = self._pass(messages, again=again, in_place=in_place)
        try:
            run_apart(partial(walk.walk, at_once=False))
        finally:
            self._close(walk)
        return walk.report

    async def acompress(
        self, messages: Sequence[Any], *, again: bool = False, in_place: bool = True
    ) -> ManagerReport:
        """Do what `compress` does, several texts at once; finished ones survive a cancel."""
        walk = self._pass(messages, again=again, in_place=in_place)
        try:
            await walk.walk(at_once=True)
        finally:
            self._close(walk)
        return walk.report

    def view(self, messages: Sequence[Any]) -> list[Any]:
        """Return the list to send: short forms in the place of the long ones, inputs untouched.

        With a store, `uncompress` puts the originals back, also after a `ContextWindowManager` with
        the same store has folded the view.
        """
        judged = self._survey(messages)
        view = [apply_short_form(message) for message in messages]
        for candidate in judged:
            known = None if candidate.skip else self._memory.find(candidate.key)
            if known is not None:
                index = candidate.ref.index
                path = (*turn_path(view[index]), *candidate.ref.path)
                view[index] = with_value(view[index], path, known.short)
        return view if self._links is None else self._links.note(messages, view)

    def _survey(
        self, messages: Sequence[Any], *, again: bool = False, in_place: bool = True
    ) -> list[Candidate]:
        # In place, only what stands beside a text counts.
        known = (lambda _: None) if in_place else self._memory.short_of
        return survey(messages, self.options, self._memory.rests, known, again=again)

    def _pass(self, messages: Sequence[Any], *, again: bool, in_place: bool) -> Pass:
        return Pass(
            messages=messages,
            survey=partial(self._survey, messages, again=again, in_place=in_place),
            shortener=self._shortener,
            memory=self._memory,
            options=self.options,
            in_place=in_place,
            lock=self._lock,
        )

    def _close(self, walk: Pass) -> None:
        """Add what a pass has done, however it ended; here, because it has its own context."""
        with self._lock:
            self._stats = self._stats.plus(walk.report)
        _last_reports.set(WeakKeyDictionary({**_reports(), self: walk.report}))


_Reports = WeakKeyDictionary[CompressionManager, ManagerReport]
_last_reports: Final[ContextVar[_Reports | None]] = ContextVar("last_reports", default=None)
"""The last report of each manager in this task or thread; one variable, for none is ever freed.

Never changed but replaced: the tasks that were started from this one have their own.
"""


def _reports() -> Mapping[CompressionManager, ManagerReport]:
    return _last_reports.get() or {}


_MOST: Final = 16_384
"""How many keys are remembered as written; those forgotten are written again."""
_log: Final = logging.getLogger("refold.tools")


class ViewLinks:
    """The records of the views of one manager; safe to share between threads."""

    def __init__(self, store: Store, conversation: str | None = None) -> None:
        self._store = scoped(store, conversation)
        self._conversation = conversation
        self._lock = threading.Lock()
        self._written: OrderedDict[str, None] = OrderedDict()

    def note(self, messages: Sequence[Any], view: list[Any]) -> list[Any]:
        """Return the *view* of *messages* to send, once the store knows what it stands for.

        Where the store fails, the view stays as it is: short forms show their handles anyway.
        """
        try:
            originals = [drop_short_form(message) for message in messages]
            known = Trail.named(self._conversation)
            if all(isinstance(original, Mapping) for original in originals):
                for index, original in enumerate(originals):
                    known.add(read_said(original, index=index))
                known.look(self._store.get)
            rendering = render_short_forms(originals, view, Trail.named(self._conversation), known)
            with self._lock:
                fresh = {k: v for k, v in rendering.entries.items() if k not in self._written}
            if fresh:
                self._store.put(fresh)
            with self._lock:
                self._written.update(dict.fromkeys(fresh))
                while len(self._written) > _MOST:
                    self._written.popitem(last=False)
        except Exception as error:  # noqa: BLE001 - stores may be foreign, and no view may fail
            _log.warning("the store did not take what a view stands for: %s", describe(error))
            return view
        return rendering.messages
