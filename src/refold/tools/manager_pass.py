"""One walk of the compression manager over one conversation, and what it remembers of texts."""

from __future__ import annotations

import asyncio
import logging
import math
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from refold.events import Event, EventKind
from refold.tools.candidates import Candidate
from refold.tools.policy import ManagerOptions
from refold.tools.report import By, ItemReport, ManagerReport
from refold.tools.shapes import ToolResultRef, read_short_form, write_short_form
from refold.tools.shortening import Shortener

_log: Final = logging.getLogger("refold.tools")
_MOST: Final = 4_096
"""How many texts are remembered; the oldest are forgotten first."""


class Known(NamedTuple):
    """A short form that was found before; none if the text is left alone until a time."""

    short: str | None
    by: By = ""
    until: float = 0.0


class Memory:
    """Short forms and failures by the key of their text, bounded, for any number of threads.

    Because short forms are known by content they survive copies of a conversation, and the same
    text is always shown in the same words.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Known] = OrderedDict()

    def find(self, key: str) -> Known | None:
        """Return the short form that is known."""
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
            return known if known is not None and known.short is not None else None

    def short_of(self, key: str) -> str | None:
        """Return the short form alone."""
        known = self.find(key)
        return None if known is None else known.short

    def rests(self, key: str) -> bool:
        """Tell whether a text is to be left alone."""
        with self._lock:
            known = self._known.get(key)
            return known is not None and known.short is None and self._clock() < known.until

    def rest(self, key: str, seconds: float) -> None:
        """Leave a text alone for a while, or for good."""
        self.learn(key, Known(None, until=self._clock() + seconds))

    def learn(self, key: str, known: Known, *, again: bool = False) -> Known:
        """Keep a short form, and return the one to use: the first stays unless made *again*."""
        with self._lock:
            first = self._known.get(key)
            if first is None or first.short is None or again:
                self._known[key] = first = known
            self._known.move_to_end(key)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
            return first


@dataclass(slots=True, kw_only=True)
class Pass:
    """Shortens the texts that may be shortened, and records the outcome of each."""

    messages: Sequence[Any]
    survey: Callable[[], list[Candidate]]
    shortener: Shortener
    memory: Memory
    options: ManagerOptions
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
        return ManagerReport.of(self._items, self.options.price_per_million)

    async def walk(self, *, at_once: bool) -> None:
        """Shorten all texts; what is finished stays finished if this is cancelled."""
        judged = await asyncio.to_thread(self.survey)
        self._items += map(_unchanged, judged)
        ready = [place for place, one in enumerate(judged) if not one.skip]
        self._total = len(ready)
        for item in self._items:
            if item.status == "skipped":
                self._log(item)
        if self.options.pass_seconds is not None:
            self._deadline = asyncio.get_running_loop().time() + self.options.pass_seconds
        self._tell("start")
        turn = nullcontext() if at_once else asyncio.Semaphore(1)  # which is taken in order
        try:
            async with asyncio.TaskGroup() as group:
                for place in ready:
                    group.create_task(self._work(place, judged[place], turn))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        self._tell("done")

    async def _work(
        self, place: int, one: Candidate, turn: AbstractAsyncContextManager[Any]
    ) -> None:
        """Shorten one text, and store the result beside it at once."""
        async with turn:
            started = self.options.clock()
            item = await self._settle(one, replace(self._items[place], status="skipped", reason=""))
            self._items[place] = item = replace(item, seconds=self.options.clock() - started)
            self._done += 1
            self._log(item)
            if item.status == "failed":
                self._tell("failed", f"{item.place}: {item.reason}")
            else:
                self._tell("item")

    async def _settle(self, one: Candidate, item: ItemReport) -> ItemReport:
        known = self.memory.find(one.key)
        if known is None:
            short, item = await self.shortener.shorten(one, item, self._deadline)
            if short is None:
                if item.status != "deferred":
                    # Without a model the outcome would be the same for ever.
                    was_asked = item.attempts or item.status == "failed"
                    cool_down = self.options.cool_down_seconds if was_asked else math.inf
                    self.memory.rest(one.key, cool_down)
                return item
            known = self.memory.learn(one.key, Known(short, item.by))
            is_cached = item.by == "model" and not item.usage.calls
        else:
            is_cached = True
        if one.target is not None:
            self.memory.learn(one.text_key, known, again=True)
        short = known.short or ""
        if not self._put(one, short):
            return replace(item, status="skipped", by="", reason="done meanwhile")
        return replace(
            item,
            status="compressed",
            by=known.by,
            from_cache=is_cached,
            chars_after=len(short),
            tokens_after=self.options.counter(short),
        )

    def _put(self, one: Candidate, short: str) -> bool:
        """Show *short* from now on; tell whether that is a change."""
        if not self.in_place:
            return one.short != short
        message = self.messages[one.ref.index]
        with self.lock:
            so_far = read_short_form(message, one.ref)
            if so_far is not None and (one.target is None or so_far == short):
                return False
            write_short_form(message, one.ref, short)
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


def _unchanged(one: Candidate) -> ItemReport:
    """Report a text that stays as it is, or was not reached."""
    ref = one.ref
    return ItemReport(
        index=ref.index,
        place=ref.place,
        tool=ref.tool if isinstance(ref, ToolResultRef) else "",
        status="skipped" if one.skip else "deferred",
        reason=one.skip or "cancelled",
        chars_before=len(ref.text),
        chars_after=len(ref.text),
        tokens_before=one.tokens_now,
        tokens_after=one.tokens_now,
    )
