"""A growing conversation whose folded beginning stays byte for byte the same between folds.

Providers cache the beginning of a prompt only while it does not change. So a session leaves what it
has shown alone, lets new messages pile up as they are, and folds only when a trigger fires: once,
with room to spare, and as late in the list as will do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, replace
from itertools import repeat
from typing import Any, Final, Self, Unpack

from refold.agent.append_only import plan_arrivals, unsent_from
from refold.agent.session_report import FoldThresholds, SessionReport
from refold.agent.session_state import HOOKS, State, check_given, read_state, reading, write_state
from refold.agent.view_state import Given, Item, Standing, count_anew, number_through, unshare
from refold.api import NamedChoices
from refold.checks import check_whole
from refold.codecs import Codec
from refold.detectors import Detector
from refold.engine import Engine, combine, scoped
from refold.errors import BudgetError, MessageError
from refold.events import Listener
from refold.llm.ask import Tally
from refold.messages.formats import Loader
from refold.messages.formats.objects import Objects
from refold.messages.message import Message
from refold.messages.provenance import Chain, looks_folded
from refold.messages.wire import clone
from refold.options import Choices, Options, Pin
from refold.plan.budget_report import report_budget
from refold.plan.fold import Fold, Plan, kept_fold
from refold.plan.rules import RunContext
from refold.plan.rules.protect import is_pinned
from refold.plan.text_cache import TextCache
from refold.plan.thinking import is_bound
from refold.plan.untouchable import find_untouchable
from refold.result import BudgetReport
from refold.scan.tokens.choose import factor_of
from refold.stores.base import Store
from refold.stores.memory import MemoryStore

_MIN_TAIL_TOKENS: Final = 1_000
"""Without a budget nothing is folded for less. A guess: a fold costs the provider's cache of all
that follows it, and of so few tokens it can only save hundreds."""
_FACTOR_SLACK: Final = 0.01
"""By what share a counter may learn to count otherwise before everything is counted anew."""
_GIVEN_AGAIN: Final = ("summarizer", "classifier", "detectors", "codecs")
"""What a saved session cannot have with it: whoever takes it up must give it again."""
_HELPERS: Final = (*_GIVEN_AGAIN, "on_event", "pass_seconds", "conversation")


def _take_helpers(choices: dict[str, Any]) -> dict[str, Any]:
    """Take out of *choices* what is no option but helps with asking models."""
    return {name: choices.pop(name) for name in _HELPERS if name in choices}


def _revive(
    class_: type[Session],
    key: str,
    saved: Store,
    given: Mapping[str, Any],
    own: tuple[dict[str, Any], Store | None],
) -> Session:
    """Take up a session that was pickled or copied; nothing is written to its *own* store."""
    session = class_.resume(key, saved, **given)
    session.verbatim, store = own
    session._store = store
    session._engine = Engine(session.options, store=store, **session._helpers)
    return session


def _stable(options: Options) -> Options:
    """Let later copies refer to the first: what was shown must not change for a later copy.

    The other profiles never refer to what comes later.
    """
    if options.profile != "classic":
        return options
    return replace(options, keep_duplicate="first")


def _scoped(store: Store, conversation: str | None) -> Store:
    """Return the place in *store* where a session of this conversation is kept."""
    place = scoped(store, conversation)
    assert place is not None, "there is a store"
    return place


class Session:
    """A conversation that grows: `append` what happens, send what `view` returns.

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
        conversation: str | None = None,
        summarizer: object = None,
        classifier: object = None,
        on_event: Listener | None = None,
        pass_seconds: float | None = None,
        detectors: Sequence[Detector] | None = None,
        codecs: Sequence[Codec] | None = None,
        **choices: Unpack[Choices],
    ) -> None:
        """Take what `Compressor` takes; a summarizer is asked when the session folds."""
        self._store = store
        helpers: dict[str, Any] = {
            "conversation": conversation,
            "summarizer": summarizer,
            "classifier": classifier,
            "on_event": on_event,
            "pass_seconds": pass_seconds,
            "detectors": detectors,
            "codecs": codecs,
        }
        self._helpers = helpers
        self._models = [name for name in _GIVEN_AGAIN if helpers[name] is not None]
        self._engine = Engine(_stable(combine(options, choices)), store=store, **helpers)
        self.options = self._engine.options
        self.thresholds = thresholds or FoldThresholds()
        self.verbatim: dict[str, Any] = {}
        """Originals of everything folded so far; the store has them too, if there is one."""
        self.report = SessionReport()
        self._objects = Objects()
        self._loader = Loader(self.options.format, strict_roles=self.options.strict_roles)
        self._text_cache: TextCache = self._engine.new_text_cache()
        self._tally = Tally()
        self._given = Given()
        self._thought: tuple[list[Item], int, bool] = ([], 0, False)
        """Items that were looked at, how many of them, and whether there is thinking in one."""
        self._chains = ((0, self._engine.new_chain()),) * 2
        """Of what was appended, so many messages: before the last append, and after it."""
        self._standing = Standing(factor=factor_of(self.options.counter))
        self._sent: tuple[Standing, int] = (self._standing, 0)
        """What the last view showed: so many items."""
        self._written: tuple[int, Any, Chain | None] = (0, None, None)
        """How many items were written out last, what the last of them shows, and their chain."""
        self._has_new_pins = False
        """Whether messages may have been pinned that are out of view."""

    def __repr__(self) -> str:
        now = self._standing
        said = f"messages={now.length}, tokens={now.tokens}, folds={now.folds}"
        return f"{type(self).__name__}({said})"

    def __len__(self) -> int:
        """Return how many messages the conversation has."""
        return self._standing.length

    def append(self, message: Any) -> None:
        """Add one message, a mapping or an object; the session keeps its own copy of a mapping."""
        index = self._standing.length
        self._loader.rewind(index)
        message = self._objects.read_one(message, index)
        loaded = self._loader.load(message, index)
        own = loaded.changed(wire=clone(dict(message)))
        before = next(chain for length, chain in self._chains if length == index)
        chain = before.copy() if looks_folded(own.wire) else before
        loaded = self._engine.recognize((own,), chain)[0]
        self._chains = ((index, before), (index + 1, chain))
        self._given.put(index, loaded.digest, loaded.wire)
        self._standing.append(loaded, self._text_cache.tokens.message(loaded))

    def extend(self, messages: Iterable[Any]) -> None:
        """Add messages in order."""
        for message in messages:
            self.append(message)

    def pop(self) -> Any:
        """Take back the last message, and return it as it was given."""
        length = self._standing.length
        if not length:
            raise MessageError("there is none to take back", "messages")
        last = clone(self._given.wires(length)[-1])
        self.truncate(length - 1)
        return last

    def truncate(self, length: int) -> None:
        """Keep only the first *length* messages, as if those after them had never come.

        Up to the last fold the view stays as it was. A fold depends on what came last when it was
        made, so if one of the messages that it has seen goes, the session begins anew with the
        others. What was folded can still be restored.
        """
        check_whole("length", length)
        now = self._standing
        if length >= now.length:
            return
        chain = self._engine.new_chain()
        for wire in self._given.wires(length):
            chain.key_of(wire)
        self._chains = ((length, chain), self._chains[1])
        cut = len(now.items) - (now.length - length)
        if cut >= now.folded:
            self._standing = replace(now, items=now.items[:cut])
            return
        fresh = Standing(factor=now.factor)
        for message in self._read_given(length):
            fresh.append(message, self._text_cache.tokens.message(message))
        self.report = SessionReport()
        self._standing = fresh

    def fork(self) -> Self:
        """Return another session that stands where this one stands and goes its own way.

        Both keep what they fold in the same store.
        """
        return copy(self)

    def pin(self, *pins: Pin) -> None:
        """Keep messages as they are from now on: by id, as `role:NAME`, or by a function.

        What is out of view comes back into the next one, which changes it from there on.
        """
        self.options = replace(self.options, pins=(*self.options.pins, *pins))
        self._engine.options = self.options
        self._has_new_pins = True

    @property
    def messages(self) -> list[Any]:
        """The whole conversation as it was given, copied."""
        given = [clone(wire) for wire in self._given.wires(self._standing.length)]
        return self._objects.write(given)

    def note_sent(self) -> None:
        """Take what was appended since the last view as sent, just as it was given.

        For who could not have a view, say because a store failed, and went on without.
        """
        self._sent = (self._standing, len(self._standing.items))

    @property
    def wires(self) -> list[dict[str, Any]]:
        """The messages of the last view as plain data; what `retrieve_tool` wants to see."""
        standing, count = self._sent
        return [item.wire for item in standing.items[:count]]

    @property
    def unchanged(self) -> list[int | None]:
        """For each message of the last view, the index of the one that it shows word for word."""
        standing, count = self._sent
        return [item.first if item.is_as_given else None for item in standing.items[:count]]

    @property
    def places(self) -> list[range]:
        """For each message of the last view, the indices of those that it stands for."""
        standing, count = self._sent
        return [range(item.first, item.end) for item in standing.items[:count]]

    @property
    def folded_length(self) -> int:
        """How many messages the last fold has seen: `truncate` to fewer begins anew."""
        now = self._standing
        return now.items[now.folded - 1].end if now.folded else 0

    def view(self, token_budget: int | None = None) -> list[Any]:
        """Return what to send now; folds first if a trigger fires."""
        if token_budget is not None:
            replace(self.options, token_budget=token_budget)  # refuses what is no budget
        self._standing = self._next(
            self.options.token_budget if token_budget is None else token_budget
        )
        self._has_new_pins = False
        now = self._standing
        first_changed = self._first_changed()
        self._tally.keep_latest()
        self.report = SessionReport(
            messages=len(now.items),
            tokens=now.tokens,
            tokens_unfolded=now.unfolded_tokens,
            first_changed=first_changed,
            cached_share=now.tokens_before(first_changed) / now.tokens if now.tokens else 0.0,
            counter_failures=self._text_cache.tokens.failures,
            folds=now.folds,
            thinking="stripped" if now.is_stripped else "kept",
            budget=now.budget,
            model=self._tally.report() if self._engine.asker.is_enabled else None,
        )
        self._sent = (now, len(now.items))
        return self._objects.write([item.wire for item in now.items])

    async def aview(self, token_budget: int | None = None) -> list[Any]:
        """Return the same as `view` without blocking the event loop."""
        return await asyncio.to_thread(self.view, token_budget)

    def _first_changed(self) -> int:
        """Return the place of the first message that the last view did not show there."""
        before, count = self._sent
        if before is self._standing:
            return count
        same = 0
        for old, new in zip(before.items[:count], self._standing.items, strict=False):
            if old.wire is not new.wire:
                break
            same += 1
        return same

    def _next(self, budget: int | None) -> Standing:
        """Decide whether to fold now, and how; return what to show."""
        now = self._counted()
        way = self.options.thinking
        if not self.report.messages and way != "append":
            return self._fold_all(now, budget, target=self._first_target(now, budget))
        if self._has_new_pins and way != "append":
            given = self._read_given(now.length)
            pinned = {message.index for message in given if is_pinned(message, self.options.pins)}
            if any(item.hides(pinned) for item in now.items):
                items = unshare(now.items, given, pinned, self._text_cache.tokens)
                return self._fold_all(replace(now, items=items), budget)
        if way == "append" or (way == "auto" and self._is_bound(now)):
            arrived = self._arrive(now, budget)
            if way == "append" or not self._is_over(arrived, budget):
                return arrived
            now = replace(arrived, folds=now.folds)  # one view is one fold at most
        if budget is None:
            grown = now.tail_tokens >= max(_MIN_TAIL_TOKENS, self.thresholds.growth * now.tokens)
            now = replace(now, is_guarded=False) if now.is_guarded else now
            return self._adopt(now, self._fold_tail(now, {})) if grown else now
        aim = self._engine.aim(budget, self._text_cache.tokens)
        if not now.is_guarded:
            # Without a budget, what no budget may touch may have been folded.
            given = self._read_given(now.length)
            wanted = set(find_untouchable(given, self.options))
            if any(item.hides(wanted) for item in now.items):
                items = unshare(now.items, given, wanted, self._text_cache.tokens)
                return self._fold_all(replace(now, items=items), budget)
            now = replace(now, is_guarded=True)
        if now.tokens <= self.thresholds.high_water * aim or now.is_best_for(budget):
            return now
        low_water, gain = self._landing(now, aim), self.thresholds.min_gain * aim
        untouchable = find_untouchable(_sources(now), self.options)
        is_worth_it = now.tokens > aim or now.tail_tokens >= gain
        if is_worth_it and self._settled_or_kept(now, untouchable) > low_water:
            # However short the rest became, it would be too long: there is no need to try.
            return self._fold_all(now, budget, target=low_water)
        plan = self._fold_tail(now, untouchable)
        cost = sum(map(self._text_cache.tokens.fold, plan))
        if cost <= low_water:
            return self._adopt(now, plan)
        if now.tokens <= aim and now.tokens - cost < gain:
            return now
        return self._fold_all(now, budget, target=low_water)

    def _first_target(self, now: Standing, budget: int | None) -> int | None:
        """Return where the first view lands: where later ones do, if it has to be folded at all."""
        if budget is None:
            return None
        aim = self._engine.aim(budget, self._text_cache.tokens)
        return self._landing(now, aim) if now.tokens > aim else None

    def _landing(self, now: Standing, aim: int) -> int:
        """Return to how many tokens a view is folded: fewer than *aim*, so that it can grow again.

        Results that the model has not read yet stay whole where they fit: then it lands higher.
        """
        low_water = int(self.thresholds.low_water * aim)
        sources = _sources(now)
        if self.options.profile != "standard" or not (sources and sources[-1].is_tool_result):
            return low_water
        from refold.plan.layout import target_for_newest  # loaded where the profile needs it

        untouchable = find_untouchable(sources, self.options)
        needed = target_for_newest(sources, untouchable, self._text_cache.tokens)
        return max(low_water, needed) if needed <= aim else low_water

    def _is_bound(self, now: Standing) -> bool:
        """Tell whether something is in view that a change before it would make invalid."""
        if not is_bound(self.options.model):
            return False
        known = self._thought  # a fold makes another list; until then it only grows
        looked, found = known[1:] if known[0] is now.items else (0, False)
        found = found or any(item.shows_thinking for item in now.items[looked:])
        self._thought = now.items, len(now.items), found
        return found

    def _is_over(self, now: Standing, budget: int | None) -> bool:
        """Tell whether the view has grown so much that it has to be folded."""
        if budget is None:
            return False
        return now.tokens > self.thresholds.high_water * self._engine.aim(
            budget, self._text_cache.tokens
        )

    def _arrive(self, now: Standing, budget: int | None) -> Standing:
        """Shorten the tool results that were never sent; all else stays for good."""
        sources = _sources(now)
        start = self._first_changed() if self.report.messages else unsent_from(sources)
        sent = now.items[:start]
        is_last_resort = self.options.thinking == "append"  # nothing else can give way
        rest = self._arrivals(
            sources, start, budget, used=now.tokens_before(start) if is_last_resort else None
        )
        plan = (*(item.fold for item in sent), *rest)
        if any(not fold.is_kept for fold in rest):
            # What came later has no part in it, so the last fold is still the one before.
            before = now
            now = self._adopt(now, plan, is_new=True)
            now = replace(now, settled=before.settled, folded=before.folded)
        if is_last_resort and budget is not None:
            now = replace(now, budget=self._report_append(now, budget))
        return now

    def _arrivals(
        self, sources: Sequence[Message], start: int, budget: int | None, used: int | None = None
    ) -> list[Fold]:
        """Decide how messages are sent for the first time; *used* of the budget is gone already."""
        shown = self._standing.items[:start]
        aim = None if budget is None else self._engine.aim(budget, self._text_cache.tokens)
        return self._engine.settle(
            lambda: plan_arrivals(
                self._engine,
                sources,
                self._text_cache,
                start=start,
                hidden=frozenset(n for n, item in enumerate(shown) if not item.is_as_given),
                room=None if aim is None or used is None else aim - used,
                aim=aim,
            ),
            self._text_cache,
            self._tally,
        )

    def _report_append(self, now: Standing, budget: int) -> BudgetReport:
        """Report on a budget for which nothing may change that was sent."""
        options = replace(self.options, token_budget=budget)
        sent = dict.fromkeys(range(len(now.items)), "already_sent")
        plan = tuple(item.fold for item in now.items)
        report = report_budget(plan, options, self._text_cache.tokens, ["append"], sent)
        report = _with_indices(report, now.items)
        if options.strict and not report.fits:
            raise BudgetError(report.explain())
        return report

    def _read_given(self, length: int) -> tuple[Message, ...]:
        """Read the conversation once more."""
        loader = Loader(self.options.format)
        given = enumerate(self._given.wires(length))
        return self._engine.recognize(tuple(loader.load(wire, index) for index, wire in given))

    def _counted(self) -> Standing:
        """Count everything anew once the counter has learned that it was off by more than a bit."""
        now, factor = self._standing, factor_of(self.options.counter)
        growth = factor / now.factor
        if abs(growth - 1) <= _FACTOR_SLACK:
            return now
        self._text_cache.forget_counts()
        items = count_anew(now.items, self._text_cache.tokens, growth)
        return replace(now, items=items, factor=factor)

    def _fold_all(self, now: Standing, budget: int | None, target: int | None = None) -> Standing:
        """Fold everything that is in view, from the originals where there is one."""
        options = replace(self.options, token_budget=budget)
        sources = _sources(now)
        plan, report = self._engine.settle(
            lambda: self._engine.plan(sources, self._text_cache, options, target),
            self._text_cache,
            self._tally,
        )
        _, report = self._engine.sealed((plan, report), self._text_cache.tokens)
        report = report and _with_indices(report, now.items)
        if options.strict and report is not None and not report.fits:
            raise BudgetError(report.explain())
        folded = self._adopt(
            replace(now, is_guarded=budget is not None, budget=report or now.budget),
            plan,
            is_resumed=not self.report.messages and self._is_past_unknown(now, plan, budget),
        )
        if report is None or report.token_count == folded.tokens:
            return folded
        return replace(folded, budget=replace(report, token_count=folded.tokens))

    def _is_past_unknown(self, now: Standing, plan: Plan, budget: int | None) -> bool:
        """Tell whether another session may have sent the beginning in another form than given."""
        if not any(item.source.thinking for item in now.items):
            return False
        if not all(fold.is_kept for fold in plan):
            return True
        sources = _sources(now)
        rest = self._arrivals(sources[: unsent_from(sources)], 0, budget)
        return not all(fold.is_kept for fold in rest)

    def _fold_tail(self, now: Standing, pinned: Mapping[int, str]) -> Plan:
        """Leave what is settled as it is, and fold what came after it, except for *pinned*."""
        settled = now.items[: now.settled]
        sources = _sources(now)
        rest = self._engine.settle(
            lambda: self._engine.plan_rest(
                sources,
                self._text_cache,
                start=now.settled,
                hidden=frozenset(n for n, item in enumerate(settled) if not item.is_as_given),
                pinned=pinned,
            ),
            self._text_cache,
            self._tally,
        )
        return (*(item.fold for item in settled), *rest)

    def _settled_or_kept(self, now: Standing, pinned: Container[int]) -> int:
        """Return what `_fold_tail` leaves as it is, in tokens."""
        rest = range(now.settled, len(now.items))
        recent = self._recent_from(now)
        kept = (now.items[n].source for n in rest if n >= recent or n in pinned)
        return now.tokens_before(now.settled) + sum(map(self._text_cache.tokens.message, kept))

    def _recent_from(self, now: Standing) -> int:
        """Return the place in the view of the first message that the rules leave alone."""
        window = self.options.recency_window
        return RunContext.of(_sources(now), self.options, self._text_cache, window).recent_from

    def _adopt(
        self, now: Standing, plan: Plan, *, is_new: bool = False, is_resumed: bool = False
    ) -> Standing:
        """Write *plan* out, and return how the conversation stands then.

        If all that it changes *is_new*, no thinking is bound to that. A conversation that
        *is_resumed* may have been sent otherwise before.
        """
        self._tally.settle(self._text_cache.written_in(plan))
        tokens = self._text_cache.tokens
        sealed = self._engine.seal(plan, tokens=None if now.is_guarded else tokens)
        if not is_new:
            shown = [item.fold for item in self._standing.items]
            sealed = self._engine.unbind(sealed, shown, is_resumed=is_resumed)
        first, chain = self._go_on_from(now, plan, sealed) if is_new else (0, None)
        plan, rendering = self._engine.write(sealed, first=first, chain=chain)
        self.verbatim.update(rendering.verbatim)
        written = rendering.messages, rendering.links
        made = map(self._item, plan[first:], *written, repeat(now.items))
        items = number_through((*now.items[:first], *made), tokens)
        before = self._standing.items  # *now* may have been unshared since
        is_same = len(items) == len(before)
        for place, (old, new) in enumerate(zip(before, items, strict=False)):
            if old.wire is not new.wire and old.wire != new.wire:
                is_same = False
                break
            items[place] = replace(new, wire=old.wire)
        self._written = len(items), items[-1].wire if items else None, rendering.chain
        border = self._recent_from(now)
        self._text_cache.keep_only(frozenset(text for item in items for text in item.texts()))
        return replace(
            now,
            items=items,
            settled=sum(fold.sources[0].index < border for fold in plan),
            folded=len(items),
            is_stripped=any(item.fold.is_stripped for item in items),
            folds=now.folds + (not is_same),
        )

    def _go_on_from(self, now: Standing, plan: Plan, sealed: Plan) -> tuple[int, Chain | None]:
        """Return how many items stay as they were written last, and the chain to go on from."""
        count, wire, chain = self._written
        is_there = 0 < count < len(plan) and now.items[count - 1].wire is wire
        if is_there and all(sealed[n] is now.items[n].fold for n in range(count)):
            return count, chain
        return 0, None

    def _item(self, fold: Fold, wire: dict[str, Any], link: str, before: Sequence[Item]) -> Item:
        """Make the item for what a *fold* of the items *before* has become."""
        behind = before[fold.sources[0].index : fold.sources[-1].index + 1]
        first = behind[0].first
        source = fold.sources[0]
        is_paired = fold.is_rolled and bool(source.calls or source.is_tool_result)
        is_apart = len(behind) == 1 and (is_paired or behind[0].is_apart)
        if len(behind) > 1 or (is_apart and not fold.is_kept):
            fold = kept_fold(self._engine.read_back(fold, wire, first, link), "already_compressed")
        return Item(
            fold=fold,
            wire=wire,
            first=first,
            end=behind[-1].end,
            unfolded=sum(item.unfolded for item in behind),
            is_apart=is_apart,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy what `save` would write, with the functions and models that it has."""
        saved = MemoryStore()
        key = self.save(saved)
        hooks = {name: getattr(self.options, name) for name in HOOKS}
        given = {name: hook for name, hook in hooks.items() if hook is not None} | self._helpers
        given["pins"] = self.options.pins
        own = dict(self.verbatim), self._store
        return _revive, (type(self), key, saved, given, own)

    def save(self, store: Store) -> str:
        """Write everything to *store* and return the key with which to `resume`."""
        now = self._standing
        names = self._given.names(now.length)
        return write_state(
            _scoped(store, self._engine.conversation),
            conversation=self._engine.conversation,
            options=self.options,
            given=dict(zip(names, self._given.wires(now.length), strict=True)),
            names=names,
            items=now.items,
            verbatim=self.verbatim,
            facts={
                "thresholds": asdict(self.thresholds),
                "settled": now.settled,
                "folded": now.folded,
                "sent": self._first_changed(),
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
        """Take up a saved session; it goes on byte for byte as if it had never stopped.

        Functions and models cannot be saved: a counter, scorer, summarizer or classifier that was
        given must be given again. Other choices replace those that were saved. `StoreError` if
        anything that was saved is missing or not as it was.
        """
        others: dict[str, Any] = {**choices}
        helpers = _take_helpers(others)
        with reading(key):
            state = read_state(_scoped(store, helpers.get("conversation")), key, others)
            check_given(state.facts["models"], helpers)
            thresholds = thresholds or FoldThresholds(**state.facts["thresholds"])
            session = cls(state.options, store=store, thresholds=thresholds, **helpers)
            session.extend(session._objects.revive(state.messages))
            session._go_on(state)
        return session

    def _go_on(self, state: State) -> None:
        """Stand where a saved session stood, all of whose messages were appended."""
        folds = list(state.rebuild(_sources(self._standing)))
        _, rendering = self._engine.write(tuple(fold for fold, _ in folds))
        self.verbatim = {**state.verbatim, **rendering.verbatim}
        items = [
            Item(
                fold=fold,
                wire=wire,
                first=saved["first"],
                end=saved["end"],
                unfolded=saved["unfolded"],
                is_apart="shared" in saved and saved["end"] - saved["first"] == 1,
            )
            for (fold, saved), wire in zip(folds, rendering.messages, strict=True)
        ]
        facts = state.facts
        self.report = SessionReport.from_dict(facts["report"])
        self._tally = Tally.of(self.report.model)
        self._standing = replace(
            self._standing,
            items=number_through(items, self._text_cache.tokens),
            settled=facts["settled"],
            folded=facts["folded"],
            is_guarded=facts["is_guarded"],
            is_stripped=any(item.fold.is_stripped for item in items),
            folds=self.report.folds,
            budget=self.report.budget,
        )
        self._sent = (self._standing, facts["sent"])
        self._has_new_pins = bool(self.options.pins)


def _sources(standing: Standing) -> list[Message]:
    """Return what the next fold starts from."""
    return [item.source for item in standing.items]


def _with_indices(report: BudgetReport, items: Sequence[Item]) -> BudgetReport:
    """Let *report* speak of messages of the conversation instead of places in the view."""
    obstacles = [replace(o, message_index=items[o.message_index].first) for o in report.obstacles]
    return replace(report, obstacles=tuple(obstacles))
