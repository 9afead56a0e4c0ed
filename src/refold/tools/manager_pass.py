"""One walk of the compression manager over one conversation, and what it remembers of texts."""

from __future__ import annotations

import asyncio
import logging
import math
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from refold.events import Event, EventKind
from refold.scan.tokens.counter import TokenCounter
from refold.tools.candidates import Candidate
from refold.tools.policy import ManagerOptions
from refold.tools.report import By, ItemReport, ManagerReport
from refold.tools.shapes import (
    ToolResultRef,
    read_short_form,
    write_short_form,
)
from refold.tools.shortening import Outcome, Shortener

_log: Final = logging.getLogger("refold.tools")
_MOST: Final = 4_096
"""How many texts are cached; the oldest are evicted first."""


@dataclass(frozen=True, slots=True)
class CachedForm:
    """A short form that was found before."""

    short: str
    by: By


class ResultCache:
    """Short forms and failures by the key of their text, bounded, for any number of threads.

    Because short forms are known by content they survive copies of a conversation, and the same
    text is always shown in the same words.
    """

    def __init__(self, clock: Callable[[], float], most: int = _MOST) -> None:
        self._clock = clock
        self._most = most
        self._lock = threading.Lock()
        self._known: OrderedDict[str, CachedForm] = OrderedDict()
        self._backing_off: OrderedDict[str, float] = OrderedDict()

    def find(self, key: str) -> CachedForm | None:
        """Return what is known."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def known(self) -> dict[str, CachedForm]:
        """Return all short forms, the oldest first."""
        with self._lock:
            return dict(self._known)

    def short_of(self, key: str) -> str | None:
        """Return the short form that is known."""
        known = self.find(key)
        return None if known is None else known.short

    def learn(self, key: str, known: CachedForm) -> CachedForm:
        """Keep a short form, and return the one to use: the first that was found stays."""
        with self._lock:
            kept = self._known.setdefault(key, known)
            self._backing_off.pop(key, None)
            _trim(self._known, self._most)
            return kept

    def replace(self, key: str, known: CachedForm) -> None:
        """Keep a short form in the place of the one before."""
        with self._lock:
            self._known[key] = known
            self._known.move_to_end(key)
            _trim(self._known, self._most)

    def back_off(self, key: str, seconds: float = math.inf) -> None:
        """Leave a text alone for a while, or for good."""
        with self._lock:
            self._backing_off[key] = self._clock() + seconds
            self._backing_off.move_to_end(key)
            _trim(self._backing_off, self._most)

    def is_backing_off(self, key: str) -> bool:
        """Tell whether a text is to be left alone."""
        with self._lock:
            return self._clock() < self._backing_off.get(key, -math.inf)


def _trim(entries: OrderedDict[str, CachedForm] | OrderedDict[str, float], most: int) -> None:
    while len(entries) > most:
        entries.popitem(last=False)


@dataclass(slots=True, kw_only=True)
class Pass:
    """Shortens the texts that may be shortened, and records the outcome of each."""

    messages: Sequence[Any]
    survey: Callable[[], list[Candidate]]
    shortener: Shortener
    cache: ResultCache
    options: ManagerOptions
    count: TokenCounter
    in_place: bool
    lock: threading.Lock
    """Held while a message is changed: others may be at work on the same one."""
    _items: list[ItemReport] = field(default_factory=list)
    _deadline: float | None = None
    _done: int = 0
    _total: int = 0

    @property
    def report(self) -> ManagerReport:
        """The report so far; complete once the walk has ended, even by an exception."""
        price = self.options.price_per_million
        return ManagerReport(items=tuple(self._items), price_per_million=price)

    async def walk(self, *, at_once: bool) -> None:
        """Shorten all texts; what is finished stays finished if this is cancelled."""
        judged = await asyncio.to_thread(self.survey)
        ready = [place for place, candidate in enumerate(judged) if not candidate.skip]
        unreached = Outcome(status="deferred", reason="cancelled")
        self._items += (
            _note(one, Outcome(status="skipped", reason=one.skip) if one.skip else unreached)
            for one in judged
        )
        for item in self._items:
            if item.status == "skipped":
                self._log(item)
        self._total = len(ready)
        if self.options.pass_seconds is not None:
            self._deadline = asyncio.get_running_loop().time() + self.options.pass_seconds
        self._tell("start")
        works = [self._work(place, judged[place]) for place in ready]
        if at_once:
            await _all_at_once(works)
        else:
            await _one_by_one(works)
        self._tell("done")

    async def _work(self, place: int, candidate: Candidate) -> None:
        """Shorten one text, and store the result beside it at once."""
        started = self.options.clock()
        item = await self._settle(candidate)
        item = replace(item, seconds=self.options.clock() - started)
        self._items[place] = item
        self._done += 1
        self._log(item)
        if item.status == "failed":
            self._tell("failed", f"{item.place}: {item.reason}")
        else:
            self._tell("item")

    async def _settle(self, candidate: Candidate) -> ItemReport:
        known = self.cache.find(candidate.key)
        if known is not None:
            return self._use(candidate, Outcome(status="compressed", by=known.by), known, True)
        outcome = await self.shortener.shorten(candidate, self._deadline)
        if outcome.short is not None:
            known = self.cache.learn(candidate.key, CachedForm(outcome.short, outcome.by))
            is_cached = outcome.by == "model" and not outcome.usage.calls
            return self._use(candidate, outcome, known, is_cached)
        if outcome.status != "deferred":
            self._rest(candidate, is_final=outcome.is_final)
        return _note(candidate, outcome)

    def _rest(self, candidate: Candidate, *, is_final: bool) -> None:
        """Back off from the text for a while; for good if a retry cannot help."""
        if is_final:
            self.cache.back_off(candidate.key)
        else:
            self.cache.back_off(candidate.key, self.options.cool_down_seconds)

    def _use(
        self, candidate: Candidate, outcome: Outcome, known: CachedForm, from_cache: bool
    ) -> ItemReport:
        """Put a short form beside its text, unless a pass at the same time has done so."""
        if candidate.target is not None:
            self.cache.replace(candidate.text_key, known)
        if not self._put(candidate, known.short):
            return _note(candidate, replace(outcome, status="skipped", reason="done meanwhile"))
        return replace(
            _note(candidate, outcome),
            from_cache=from_cache,
            chars_after=len(known.short),
            tokens_after=self.count(known.short),
        )

    def _put(self, candidate: Candidate, short: str) -> bool:
        """Show *short* from now on; tell whether that is a change."""
        if not self.in_place:
            return candidate.short != short
        message = self.messages[candidate.found.index]
        with self.lock:
            so_far = read_short_form(message, candidate.found)
            if so_far is not None and (candidate.target is None or so_far == short):
                return False
            write_short_form(message, candidate.found, short)
            return True

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

    def _tell(self, kind: EventKind, detail: str = "") -> None:
        if self.options.on_event is not None:
            event = Event(kind=kind, done=self._done, total=self._total, detail=detail)
            self.options.on_event(event)


def _note(candidate: Candidate, outcome: Outcome) -> ItemReport:
    found = candidate.found
    return ItemReport(
        index=found.index,
        place=found.place,
        tool=found.tool if isinstance(found, ToolResultRef) else "",
        status=outcome.status,
        by=outcome.by if outcome.status == "compressed" else "",
        reason=outcome.reason,
        chars_before=len(found.text),
        chars_after=len(found.text),
        tokens_before=candidate.shown_tokens,
        tokens_after=candidate.shown_tokens,
        attempts=outcome.attempts,
        usage=outcome.usage,
    )


async def _all_at_once(works: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Run all; if one raises or this is cancelled, the others are cancelled and awaited."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def _one_by_one(works: Sequence[Coroutine[Any, Any, None]]) -> None:
    try:
        for work in works:
            await work
    finally:
        for work in works:
            work.close()
