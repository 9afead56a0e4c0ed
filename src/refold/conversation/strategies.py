"""Ways to make a conversation fit: fold it, summarize or drop its beginning, keep its end.

Whatever the strategy, tool calls and results go together, and what must stay does.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Literal

from refold.classic.rules import recent_from
from refold.conversation.rungs import RUNGS, shorten
from refold.engine import Engine
from refold.messages.blocks import find_blocks
from refold.messages.folds import Plan
from refold.messages.message import Message
from refold.messages.untouchable import find_last_words, find_untouchable, has_words
from refold.planner import NO_PINS, Fitter
from refold.result import BudgetReport
from refold.text_cache import TextCache

StrategyName = Literal["fold", "summarize", "truncate", "sliding_window"]

_USER_SHARE: Final = 0.2
"""Share of the room within which the user's own words stay outside of summaries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A conversation that is to become shorter."""

    messages: Sequence[Message]
    """Their indices are their places."""
    engine: Engine
    text_cache: TextCache
    budget: int | None
    target: int | None
    """The tokens to aim at, fewer than the budget, so that the next turns fit too."""

    @property
    def room(self) -> int:
        """The budget; where there is one."""
        return self.budget or 0

    def plan(self, pinned: Mapping[int, str] = NO_PINS, target: int | None = None) -> Fitting:
        """Let the engine plan, as its profile says."""
        options = replace(self.engine.options, token_budget=self.budget)
        aim = self.target if target is None else target
        planned = self.engine.plan(self.messages, self.text_cache, options, aim, pinned=pinned)
        return Fitting(*planned)

    def stays(self) -> dict[int, str]:
        """Map the index of every message that must survive word for word to the reason.

        User turns without text, too: some providers want the user to speak first.
        """
        asked = [m for m in self.messages if m.role == "user" and not m.is_tool_result]
        wordless = (m.index for m in (*asked[:1], *asked[-1:]) if not has_words(m))
        untouchable = find_untouchable(self.messages, self.engine.options)
        return {**dict.fromkeys(wordless, "user_turn"), **untouchable}

    def cost(self, messages: Sequence[Message]) -> int:
        """Return the tokens of some messages."""
        return sum(map(self.text_cache.tokens.message, messages))


@dataclass(frozen=True, slots=True)
class Fitting:
    """A plan, and how it keeps the budget."""

    plan: Plan
    report: BudgetReport | None = None
    kept: Sequence[int] | None = None
    """Which places the plan is about, where others were dropped."""
    rewritten: Mapping[int, Message] = field(default_factory=dict[int, Message])
    """Index of every message that was written shorter before the plan was made → as it was."""

    def is_good(self, task: Task) -> bool:
        """Tell whether it fits, and leaves the model something to answer."""
        fits = self.report is None or self.report.fits
        return fits and not ends_in_summary(task.messages, self.plan)


Strategy = Callable[[Task], Fitting]


def ends_in_summary(messages: Sequence[Message], plan: Plan) -> bool:
    """Tell whether what the model is to answer has become a summary in the assistant's role.

    Some providers refuse a request that ends with the assistant, others let it speak on.
    """
    return bool(plan) and plan[-1].is_rolled and messages[-1].role != "assistant"


def fold(task: Task) -> Fitting:
    """Let the engine plan: what a `Session` does."""
    return task.plan()


def strategy_called(name: StrategyName, *, max_messages: int, keep_results: int | None) -> Strategy:
    """Return what a window does; the newest *keep_results* results stay whole if that fits."""
    match name:
        case "fold":
            return partial(_fold_or_drop, keep_results=keep_results)
        case "summarize":
            return _summarize
        case "truncate":
            return partial(_drop, must_go=frozenset())
        case "sliding_window":
            return partial(_keep_last, max_messages=max_messages)


def _fold_or_drop(task: Task, *, keep_results: int | None = None) -> Fitting:
    """Fold; where there is not even room for a line about each stretch, drop the oldest blocks."""
    if keep_results:
        kept = _plan_around(task, newest_results(task, keep_results))
        if kept.is_good(task):
            return kept
    fitting = _plan_around(task)
    if fitting.report is None or fitting.report.fits:
        return fitting
    dropped = _drop(task, must_go=frozenset())
    return dropped if dropped.report is not None and dropped.report.fits else fitting


def _summarize(task: Task) -> Fitting:
    """Put the oldest stretch into one summary; fold everything if that is not enough.

    What users said stays word for word, the latest first, as far as its share goes.
    """
    options = task.engine.options
    for pinned in (_user_words(task), {}):
        aim = max(0, (task.target or 0) - task.engine.anchor_room(task.messages))
        fitter = Fitter(task.messages, options, task.text_cache, pinned, rolls_up=True)
        fitting = Fitting(*fitter.fit(aim, task.budget or 0))
        if fitting.is_good(task):
            return fitting
    return _fold_or_drop(task)


def _user_words(task: Task) -> dict[int, str]:
    room = _USER_SHARE * task.room
    pins: dict[int, str] = {}
    for message in reversed(task.messages):
        if message.role == "user" and not message.is_tool_result and message.is_turn:
            room -= task.cost([message])
            if room < 0:
                break
            pins[message.index] = "user_words"
    return pins


def _plan_around(
    task: Task, pinned: Mapping[int, str] = NO_PINS, target: int | None = None
) -> Fitting:
    """Plan as the engine does; but unlike in its plans, what must stay does so at any cost.

    Old pictures go first; if that is not enough, newer ones and the arguments of calls. The
    arguments of old calls are left alone at first: the engine knows better what of them is needed.
    """
    recent = recent_from(task.messages, task.engine.options.recency_window)
    old = task.messages[: min((recent, *newest_results(task, 1)))]
    fitting = _plan_with(task, ["evict_media"], old, pinned, target)
    if fitting.is_good(task):
        return fitting
    return _plan_with(task, RUNGS, task.messages, pinned, task.room)


def _plan_with(
    task: Task,
    rungs: Iterable[str],
    messages: Sequence[Message],
    pinned: Mapping[int, str],
    target: int | None,
) -> Fitting:
    """Plan once some of *messages* are written shorter, in order, as long as there is too much.

    What must stay, the messages as they were say: so does a picture.
    """
    tokens, version = task.text_cache.tokens, task.engine.options.source_version
    stays = {**task.stays(), **pinned}
    changing = [message.index for message in messages if message.index not in stays]
    shorter, steps = list(task.messages), dict[str, None]()
    excess = task.cost(shorter) - (task.target or 0) + task.engine.anchor_room(shorter)
    for name, index in ((name, index) for name in rungs for index in changing):
        if excess <= 0:
            break
        short = shorten(RUNGS[name], shorter[index], task.messages[index], version)
        saved = 0 if short is None else tokens.message(shorter[index]) - tokens.message(short)
        if short is not None and saved > 0:
            shorter[index], steps[name] = short, None
            excess -= saved
    rewritten = replace(task, messages=shorter)
    fitting = rewritten.plan(dict.fromkeys(stays, "pinned"), target)
    cut = _cut_words(task, fitting.plan, stays)
    if cut is not None:
        stays[cut] = "last_user_message"
        fitting = rewritten.plan(dict.fromkeys(stays, "pinned"), target)
    report = fitting.report
    if report is not None:
        obstacles = [
            replace(o, reason=stays.get(o.message_index, o.reason)) for o in report.obstacles
        ]
        rungs_taken = (*steps, *report.rungs)
        report = replace(report, obstacles=tuple(obstacles), rungs=rungs_taken)
    changed = {o.index: o for o, s in zip(task.messages, shorter, strict=True) if o is not s}
    return Fitting(fitting.plan, report, rewritten=changed)


def _cut_words(task: Task, plan: Plan, stays: Container[int]) -> int | None:
    """Return the message in which *plan* cuts the user's last words beside tool results."""
    spoken = [(m.index, number) for m, number in find_last_words(task.messages)]
    if not spoken or spoken[0][0] in stays:
        return None
    index, numbers = spoken[0][0], {number for _, number in spoken}
    fold = next(f for f in plan if f.sources[0].index <= index <= f.sources[-1].index)
    return index if fold.is_rolled or not numbers.isdisjoint(fold.texts) else None


def newest_results(task: Task, count: int) -> dict[int, str]:
    """Return the newest *count* tool results, with the calls that they answer."""
    pins: dict[int, str] = {}
    for block in reversed(find_blocks(task.messages)):
        results = sum(task.messages[index].is_tool_result for index in block)
        if count <= 0:
            break
        if results:
            pins.update(dict.fromkeys(block, "newest_results"))
            count -= results
    return pins


def _keep_last(task: Task, *, max_messages: int) -> Fitting:
    """Keep the last messages, in whole blocks, and what must stay."""
    room = max_messages
    must_go: set[int] = set()
    for block in reversed(find_blocks(task.messages)):
        room -= sum(task.messages[index].is_turn for index in block)
        if room < 0:
            must_go.update(block)
    return _drop(task, must_go=frozenset(must_go))


def _drop(task: Task, *, must_go: frozenset[int]) -> Fitting:
    """Drop blocks, those in *must_go* and then the oldest, until the rest fits, and fold that."""
    gone = _chosen(task, must_go)
    if not gone:
        return _plan_around(task, target=task.room)
    kept = [message.index for message in task.messages if message.index not in gone]
    rest = [task.messages[index].changed(index=place) for place, index in enumerate(kept)]
    fitting = _plan_around(replace(task, messages=rest), target=task.room)
    report = fitting.report
    if report is not None:
        report = replace(report, rungs=("drop", *report.rungs))
    return Fitting(fitting.plan, report, kept, fitting.rewritten)


def _chosen(task: Task, must_go: frozenset[int]) -> set[int]:
    """Choose what to drop; the newest block goes only if it must, and never if it is the last."""
    stays, messages = task.stays(), task.messages
    total = task.cost(messages)
    blocks = find_blocks(messages)
    newest = next((b for b in reversed(blocks) if any(messages[i].is_turn for i in b)), None)
    turns_left = sum(message.is_turn for message in messages)
    spoken = {message.index for message, _ in find_last_words(messages)}
    gone: set[int] = set()
    for block in sorted(blocks, key=lambda b: b[0] not in must_go):
        is_wanted_out = block[0] in must_go
        if total <= (task.target or 0) and not is_wanted_out:
            break
        if any(index in stays or index in spoken for index in block):
            continue
        turns = sum(messages[index].is_turn for index in block)
        if turns == turns_left or (block == newest and not is_wanted_out):
            continue
        gone.update(block)
        turns_left -= turns
        total -= task.cost([messages[index] for index in block])
    return gone
