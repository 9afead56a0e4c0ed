"""Shorten tool results inside an agent loop, beside the originals and never in their place."""

from __future__ import annotations

import asyncio
import logging
import math
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple, Unpack
from weakref import WeakKeyDictionary

from refold.errors import ConfigError, describe
from refold.events import Event, EventKind
from refold.llm.ask import run_apart
from refold.llm.summarizers.calls import Generate
from refold.llm.summarizers.prompt import DEFAULT_COMPRESSION_PROMPT
from refold.llm.summarizers.stack import Limiter
from refold.messages.formats import turn_path
from refold.messages.manifest import Trail, read_wording
from refold.messages.render import render_short_forms
from refold.scan.tokens.counter import ForgivingCounter, RememberingCounter
from refold.scan.tokens.estimate import estimate_tokens
from refold.stores.base import Store
from refold.stores.scope import scoped
from refold.tools.policy import ManagerChoices, ManagerOptions
from refold.tools.report import By, ItemReport, ManagerReport, ManagerStats
from refold.tools.shapes import (
    apply_short_form,
    drop_short_form,
    read_short_form,
    with_value,
    write_short_form,
)
from refold.tools.shortening import (
    Candidate,
    Shortener,
    build_summarizer,
    find_trigger,
    survey,
)
from refold.tools.text_store import TextStore

__all__ = ["DEFAULT_COMPRESSION_PROMPT", "CompressionManager", "Limiter", "ManagerOptions"]

_MOST_TEXTS: Final = 4_096
"""How many texts are remembered; the oldest are forgotten first."""
_MOST_KEYS: Final = 16_384
"""About how many keys are remembered as written; those forgotten are written again."""
_log: Final = logging.getLogger("refold.tools")


class CompressionManager:
    """Decides when tool results are worth shortening, and keeps the short form next to them.

        manager = CompressionManager(summarizer="openai:gpt-5-mini")
        manager.compress(messages)
        client.chat.completions.create(model="gpt-5", messages=manager.view(messages))

    `compress` and `acompress` put a `compressed_content` next to the unchanged `content` of a
    message; `view` returns what to send. A model writes and refold checks the short form if there
    is *generate* (from chat messages to text), *model* (a name such as `openai:gpt-5-mini`) or
    *summarizer*; otherwise refold selects from the text. Failed results, small ones and those that
    the model has not read yet stay as they are. Safe to share between threads and tasks.
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
            chosen,
            build_summarizer(generate, model, summarizer, chosen),
            None if store is None else TextStore(store, name),
        )
        self._store = None if store is None else scoped(store, name)
        self._recorded: set[str] = set()
        """Keys of the records of views that the store has."""
        self._memory = _Memory(chosen.clock)
        self._lock = threading.Lock()
        """Held while a message or the totals change: others may be at work on the same ones."""
        self._stats = ManagerStats(price_per_million=chosen.price_per_million)

    def __repr__(self) -> str:
        stats = self._stats
        totals = f"compressed={stats.compressed}, tokens_saved={stats.tokens_saved}"
        return f"{type(self).__name__}({totals})"

    @property
    def compression_count(self) -> int:
        """How many texts it has shortened."""
        return self._stats.compressed

    @property
    def stats(self) -> ManagerStats:
        """Totals of all passes."""
        return self._stats

    @property
    def last_report(self) -> ManagerReport:
        """What the last pass in this task or thread did."""
        return _reports().get(self, ManagerReport())

    def should_compress(self, messages: Sequence[Any], *, in_place: bool = True) -> bool:
        """Return whether a limit is reached and something can be shortened."""
        return bool(self.explain(messages, in_place=in_place))

    async def ashould_compress(self, messages: Sequence[Any], *, in_place: bool = True) -> bool:
        """Tell the same without blocking the event loop."""
        return await asyncio.to_thread(self.should_compress, messages, in_place=in_place)

    def explain(self, messages: Sequence[Any], *, in_place: bool = True) -> str:
        """Return why `should_compress` is true, or an empty string if it is not."""
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
        items: list[ItemReport] = []
        work = partial(self._walk, messages, items, again=again, in_place=in_place, most=1)
        try:
            run_apart(work)
        finally:
            report = self._close(items)
        return report

    async def acompress(
        self, messages: Sequence[Any], *, again: bool = False, in_place: bool = True
    ) -> ManagerReport:
        """Do what `compress` does, several texts at once; finished ones survive a cancel."""
        items: list[ItemReport] = []
        try:
            await self._walk(messages, items, again=again, in_place=in_place)
        finally:
            report = self._close(items)
        return report

    def view(self, messages: Sequence[Any]) -> list[Any]:
        """Return the list to send, with short forms in place of long ones."""
        judged = self._survey(messages)
        view = [apply_short_form(message) for message in messages]
        for candidate in judged:
            short = None if candidate.skip else self._memory.find(candidate.key).short
            if short is not None:
                index = candidate.ref.index
                path = (*turn_path(view[index]), *candidate.ref.path)
                view[index] = with_value(view[index], path, short)
        return view if self._store is None else self._record(messages, view, self._store)

    def _record(self, messages: Sequence[Any], view: list[Any], store: Store) -> list[Any]:
        """Return the *view* of *messages* to send, once the *store* knows what it stands for.

        Where the store fails, the view stays as it is: short forms show their handles anyway.
        """
        name = self.options.conversation
        try:
            originals = [drop_short_form(message) for message in messages]
            known = Trail.named(name)
            if all(isinstance(original, Mapping) for original in originals):
                for index, original in enumerate(originals):
                    known.add(read_wording(original, index=index))
                known.look(store.get)
            rendering = render_short_forms(originals, view, Trail.named(name), known)
            fresh = {k: v for k, v in rendering.entries.items() if k not in self._recorded}
            if fresh:
                store.put(fresh)
            if len(self._recorded) > _MOST_KEYS:
                self._recorded.clear()
            self._recorded.update(fresh)
        except Exception as error:  # noqa: BLE001 - stores may be foreign, and no view may fail
            _log.warning("the store did not take what a view stands for: %s", describe(error))
            return view
        return rendering.messages

    def _survey(
        self, messages: Sequence[Any], *, again: bool = False, in_place: bool = True
    ) -> list[Candidate]:
        # In place, only what stands beside a text counts.
        known = (lambda _: None) if in_place else lambda key: self._memory.find(key).short
        return survey(messages, self.options, self._memory.rests, known, again=again)

    async def _walk(
        self,
        messages: Sequence[Any],
        items: list[ItemReport],
        *,
        again: bool,
        in_place: bool,
        most: int = sys.maxsize,
    ) -> None:
        """Shorten all texts, at *most* so many at once, and note in *items* what became of each.

        What is finished stays finished if this is cancelled.
        """
        judged = await asyncio.to_thread(self._survey, messages, again=again, in_place=in_place)
        ready = [place for place, one in enumerate(judged) if not one.skip]
        for one in judged:
            items.append(one.report("skipped" if one.skip else "deferred", one.skip or "cancelled"))
            if one.skip:
                self._log(items[-1])
        deadline = self.options.pass_seconds
        if deadline is not None:
            deadline += asyncio.get_running_loop().time()
        done, turn = 0, asyncio.Semaphore(most)  # which is taken in order

        def tell(kind: EventKind, detail: str = "") -> None:
            if self.options.on_event is not None:
                event = Event(kind=kind, done=done, total=len(ready), detail=detail)
                self.options.on_event(event)

        async def work(place: int) -> None:
            nonlocal done
            async with turn:
                started, one = self.options.clock(), judged[place]
                message = messages[one.ref.index] if in_place else None
                item = await self._settle(one, message, deadline)
                items[place] = item = replace(item, seconds=self.options.clock() - started)
                done += 1
                self._log(item)
                if item.status == "failed":
                    tell("failed", f"{item.place}: {item.reason}")
                else:
                    tell("item")

        tell("start")
        try:
            async with asyncio.TaskGroup() as group:
                for place in ready:
                    group.create_task(work(place))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        tell("done")

    async def _settle(self, one: Candidate, message: Any, deadline: float | None) -> ItemReport:
        """Shorten one text, and put the short form into its *message*, if there is one, at once."""
        item, known, is_cached = one.report("skipped", ""), self._memory.find(one.key), True
        if known.short is None:
            short, item = await self._shortener.shorten(one, deadline)
            if short is None:
                if item.status != "deferred":
                    # Without a model the outcome would be the same for ever.
                    was_asked = item.attempts or item.status == "failed"
                    seconds = self.options.cool_down_seconds if was_asked else math.inf
                    self._memory.rest(one.key, seconds)
                return item
            known = self._memory.learn(one.key, _Known(short, item.by))
            is_cached = item.by == "model" and not item.usage.calls
        if one.target is not None:
            self._memory.learn(one.text_key, known, again=True)
        short = known.short or ""
        if message is None:
            is_new = one.short != short
        else:
            with self._lock:
                so_far = read_short_form(message, one.ref)
                is_new = so_far is None or (one.target is not None and so_far != short)
                if is_new:
                    write_short_form(message, one.ref, short)
        if not is_new:
            return replace(item, status="skipped", by="", reason="done meanwhile")
        return replace(
            item,
            status="compressed",
            by=known.by,
            from_cache=is_cached,
            chars_after=len(short),
            tokens_after=self.options.counter(short),
        )

    def _close(self, items: Sequence[ItemReport]) -> ManagerReport:
        """Report a pass, however it ended; apart from it, because it has its own context."""
        report = ManagerReport.of(items, self.options.price_per_million)
        with self._lock:
            self._stats = self._stats.plus(report)
        _last_reports.set(WeakKeyDictionary({**_reports(), self: report}))
        return report

    def _log(self, item: ItemReport) -> None:
        """Log the outcome of a text, without its content, if logging is on."""
        if not self.options.debug:
            return
        line = f"{item.place} {item.status}: {item.tokens_before} to {item.tokens_after} tokens"
        line = f"{line}; {item.reason}" if item.reason else line
        if _log.isEnabledFor(logging.DEBUG) and _log.hasHandlers():
            _log.debug("%s", line)
        else:  # logging is not configured, and debug output was asked for
            sys.stderr.write(f"{_log.name}: {line}\n")


_Reports = WeakKeyDictionary[CompressionManager, ManagerReport]
_last_reports: Final[ContextVar[_Reports | None]] = ContextVar("last_reports", default=None)
"""The last report of each manager in this task or thread; one variable, for none is ever freed.

Never changed but replaced: the tasks that were started from this one have their own.
"""


def _reports() -> Mapping[CompressionManager, ManagerReport]:
    return _last_reports.get() or {}


class _Known(NamedTuple):
    """A short form that was made before; none if the text is left alone until a time."""

    short: str | None = None
    by: By = ""
    until: float = -math.inf


class _Memory:
    """Short forms and failures by the key of their text, bounded, for any number of threads.

    Because short forms are known by content they survive copies of a conversation, and the same
    text is always shown in the same words.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, _Known] = {}
        """The one that was used last comes last."""

    def find(self, key: str) -> _Known:
        """Return what is known of a text."""
        with self._lock:
            if key not in self._known:
                return _Known()
            self._known[key] = known = self._known.pop(key)
            return known

    def rests(self, key: str) -> bool:
        """Tell whether a text is to be left alone."""
        known = self.find(key)
        return known.short is None and self._clock() < known.until

    def rest(self, key: str, seconds: float) -> None:
        """Leave a text alone for some time."""
        self.learn(key, _Known(until=self._clock() + seconds))

    def learn(self, key: str, known: _Known, *, again: bool = False) -> _Known:
        """Keep what is known, and return what to use: the first short form, unless made *again*."""
        with self._lock:
            first = self._known.pop(key, known)
            self._known[key] = known = known if again or first.short is None else first
            if len(self._known) > _MOST_TEXTS:
                del self._known[next(iter(self._known))]
            return known
