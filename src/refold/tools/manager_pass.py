"""One walk of the compression manager over one conversation, and the reasons for it."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from refold.events import Event, EventKind
from refold.plan.token_count import count_beside
from refold.scan.tokens.counter import TokenCounter
from refold.tools.caches import CachedForm, ResultCache
from refold.tools.candidates import Candidate
from refold.tools.policy import ManagerOptions
from refold.tools.report import ItemReport, ManagerReport, Status
from refold.tools.shapes import (
    ToolResultRef,
    apply_short_form,
    read_short_form,
    read_turns,
    write_short_form,
)
from refold.tools.shortening import Outcome, Shortener

_log: Final = logging.getLogger("refold.tools")


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
        """The report so far; complete once the walk has ended, in whatever way."""
        price = self.options.price_per_million
        return ManagerReport(items=tuple(self._items), price_per_million=price)

    async def walk(self, *, at_once: bool) -> None:
        """Shorten all texts; what is finished stays finished if this is cancelled."""
        judged = await asyncio.to_thread(self.survey)
        ready = [place for place, candidate in enumerate(judged) if not candidate.skip]
        self._items += (_first_note(candidate) for candidate in judged)
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
        return _note(candidate, outcome.status, outcome)

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
            return _note(candidate, "skipped", replace(outcome, reason="done meanwhile"))
        return replace(
            _note(candidate, "compressed", outcome),
            from_cache=from_cache,
            chars_after=len(known.short),
            tokens_after=self.count(known.short),
        )

    def _put(self, candidate: Candidate, short: str) -> bool:
        """Show *short* instead of what was shown so far; tell whether that is something else."""
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


def _first_note(candidate: Candidate) -> ItemReport:
    """Record the default outcome, for a text that the walk does not reach."""
    if candidate.skip:
        return _note(candidate, "skipped", Outcome(status="skipped", reason=candidate.skip))
    return _note(candidate, "deferred", Outcome(status="deferred", reason="cancelled"))


def _note(candidate: Candidate, status: Status, outcome: Outcome) -> ItemReport:
    found = candidate.found
    return ItemReport(
        index=found.index,
        place=found.place,
        tool=found.tool if isinstance(found, ToolResultRef) else "",
        status=status,
        by=outcome.by if status == "compressed" else "",
        reason=outcome.reason,
        missing=outcome.missing,
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


def find_trigger(
    messages: Sequence[Any],
    judged: Sequence[Candidate],
    options: ManagerOptions,
    count: TokenCounter,
) -> str:
    """Return the limit that is reached; none if nothing could be done about it."""
    if all(candidate.skip for candidate in judged):
        return ""
    results, limit = _count_raw(judged), options.compress_tool_results_limit
    if options.compress_tool_results and results >= limit:
        return f"{results} tool results, the limit is {limit}"
    largest, limit = _count_largest(judged), options.compress_token_limit
    if 0 < limit < largest:
        return f"a message of {largest} tokens, the limit is {limit}"
    if options.compress_context_limit is not None:
        total, limit = _count_context(messages, count), options.compress_context_limit
        if total >= limit:
            return f"{total} tokens in all, the limit is {limit}"
    return ""


def _count_raw(judged: Sequence[Candidate]) -> int:
    """Return how many results have no short form yet and might get one."""
    raw = {
        (candidate.found.index, candidate.found.block)
        for candidate in judged
        if isinstance(candidate.found, ToolResultRef)
        and candidate.policy != "verbatim"
        and candidate.short is None
    }
    return len(raw)


def _count_largest(judged: Sequence[Candidate]) -> int:
    """Return the tokens of the longest message in which something can be shortened."""
    sizes = {candidate.found.index: 0 for candidate in judged if not candidate.skip}
    for candidate in judged:
        if candidate.found.index in sizes:
            sizes[candidate.found.index] += candidate.shown_tokens
    return max(sizes.values())


def _count_context(messages: Sequence[Any], count: TokenCounter) -> int:
    """Return the estimated tokens of *messages*: short forms, calls, pictures, framing."""
    turns = read_turns([apply_short_form(message) for message in messages])
    texts = sum(count(part.text) for turn in turns for part in turn.parts)
    return texts + sum(count_beside(turn, count) for turn in turns if turn.is_turn)
