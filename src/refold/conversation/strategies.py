"""Ways to make a conversation fit: fold it, summarize or drop its beginning, keep its end.

Whatever the strategy, tool calls and results go together, and what is pinned stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from refold.classic.rules import recent_from
from refold.conversation.rungs import RUNGS, Rung, stand_in
from refold.engine import Engine
from refold.lazy import Lazy
from refold.messages.blocks import find_blocks
from refold.messages.folds import Fold, Plan, kept_fold
from refold.messages.handles import handle_of
from refold.messages.message import Message
from refold.messages.untouchable import find_last_words, find_untouchable
from refold.options import Options
from refold.plan.fit import fit_budget
from refold.plan.profiles.classic import ROLL_UP
from refold.plan.text_cache import TextCache

Strategy = Literal["fold", "summarize", "truncate", "sliding_window"]

USER_SHARE: Final = 0.2
"""Share of the window within which the user's own words stay outside of summaries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A conversation that does not fit, and what is to be done about it."""

    messages: Sequence[Message]
    engine: Engine
    text_cache: TextCache
    available: int
    """Tokens that it may have."""
    target: int
    """Tokens to aim at, so that the next turns fit too."""
    anchor_room: Lazy[int]
    """How many tokens more the first stand-in may cost than in a plan."""
    pinned: Mapping[int, str]
    """Index of every message that must stay → reason."""
    max_messages: int
    keep_results: int | None
    """How many of the newest tool results stay whole while that fits; `None` if the engine is to
    decide."""

    @property
    def stays(self) -> dict[int, str]:
        """Index of every message that must survive word for word → reason."""
        return {**find_untouchable(self.messages, self.engine.options), **self.pinned}

    def cost(self, plan: Plan) -> int:
        """Return the tokens of what *plan* becomes, with room for an anchor if it needs one."""
        has_stand_in = any(not f.is_kept or f.sources[0].stands_for is not None for f in plan)
        room = self.anchor_room.get() if has_stand_in else 0
        return room + sum(map(self.text_cache.tokens.fold, plan))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """A plan, what was dropped or rewritten for it, and the steps that led there."""

    plan: Plan
    dropped: tuple[Message, ...] = ()
    rewritten: Mapping[int, Message] = field(default_factory=dict[int, Message])
    """Index of every message that was written shorter before the plan was made → as it was."""
    steps: tuple[str, ...] = ()


def ends_in_summary(task: Task, fitting: Fitting) -> bool:
    """Tell whether what the model is to answer has become a summary in the assistant's role.

    Some providers refuse a request that ends with the assistant, others let it speak on.
    """
    return fitting.plan[-1].is_rolled and task.messages[-1].role != "assistant"


def fold(task: Task) -> Fitting:
    """Let the engine plan for the window, as its profile says.

    The newest `keep_results` results stay whole if that leaves room for the rest. Where there is
    not even room for a line about each stretch, the oldest blocks are dropped.
    """
    if task.keep_results:
        pinned = {**_newest_results(task, task.keep_results), **task.pinned}
        kept = _squeeze(replace(task, pinned=pinned))
        if _is_good(task, kept):
            return kept
    fitting = _squeeze(task)
    if task.cost(fitting.plan) <= task.available:
        return fitting
    dropped = truncate(task)
    return dropped if task.cost(dropped.plan) <= task.available else fitting


def summarize(task: Task) -> Fitting:
    """Put the oldest stretch into one summary; fold everything if that is not enough.

    What users said stays word for word, the latest first, as far as its own share goes.
    """
    for pinned in ({**_user_words(task), **task.pinned}, task.pinned):
        fitting = _roll_up(replace(task, pinned=pinned))
        if _is_good(task, fitting):
            return fitting
    return fold(task)


def truncate(task: Task) -> Fitting:
    """Drop the oldest blocks until the rest fits; shorten what is left if it still does not."""
    return _drop(task, must_go=frozenset())


def sliding_window(task: Task) -> Fitting:
    """Keep the last messages, in whole blocks, and what is pinned."""
    blocks = find_blocks(task.messages)
    room = task.max_messages
    must_go: set[int] = set()
    for block in reversed(blocks):
        room -= sum(task.messages[index].is_turn for index in block)
        if room < 0:
            must_go.update(block)
    return _drop(task, must_go=frozenset(must_go))


def _user_words(task: Task) -> dict[int, str]:
    room = USER_SHARE * task.available
    found: dict[int, str] = {}
    for message in reversed(task.messages):
        if message.role == "user" and not message.is_tool_result and message.is_turn:
            room -= task.text_cache.tokens.message(message)
            if room < 0:
                break
            found[message.index] = "user_words"
    return found


def _newest_results(task: Task, count: int) -> dict[int, str]:
    """Return the newest *count* tool results, with the calls that they answer."""
    found: dict[int, str] = {}
    for block in reversed(find_blocks(task.messages)):
        results = sum(task.messages[index].is_tool_result for index in block)
        if count <= 0:
            break
        if results:
            found.update(dict.fromkeys(block, "newest_results"))
            count -= results
    return found


def _is_good(task: Task, fitting: Fitting) -> bool:
    """Tell whether *fitting* fits, and leaves the model something to answer."""
    return task.cost(fitting.plan) <= task.available and not ends_in_summary(task, fitting)


def _budget(task: Task) -> Options:
    """Return the options under which a plan leaves room for an anchor."""
    room = max(0, task.available - task.anchor_room.get())
    return replace(task.engine.options, token_budget=room)


def _plan(task: Task) -> Fitting:
    """Let the engine plan; unlike under other budgets, what must stay does so at any cost."""
    plan, report = task.engine.plan(
        task.messages,
        task.text_cache,
        _budget(task),
        task.target,
        pinned=dict.fromkeys(task.stays, "pinned"),
    )
    cut = _cut_words(task, plan)
    if cut is not None:
        return _plan(replace(task, pinned={**task.pinned, cut: "last_user_message"}))
    return Fitting(plan=plan, steps=report.rungs if report else ())


def _cut_words(task: Task, plan: Plan) -> int | None:
    """Return the message in which *plan* cuts the user's last words, said beside tool results."""
    spoken = [(m.index, number) for m, number in find_last_words(task.messages)]
    if not spoken or spoken[0][0] in task.stays:
        return None
    index, numbers = spoken[0][0], {number for _, number in spoken}
    shown = next(f for f in plan if f.sources[0].index <= index <= f.sources[-1].index)
    return index if shown.is_rolled or not numbers.isdisjoint(shown.texts) else None


def _roll_up(task: Task) -> Fitting:
    """Put the oldest stretch into one summary, and change nothing else."""
    aim = max(0, task.target - task.anchor_room.get())
    plan, report = fit_budget(
        task.messages, _budget(task), task.text_cache, aim, pinned=task.pinned, preset=ROLL_UP
    )
    return Fitting(plan=plan, steps=report.rungs)


def _squeeze(task: Task) -> Fitting:
    """Plan without old pictures; if that is not enough, cut arguments and newer pictures too.

    The arguments of old calls are left alone at first: the engine knows better what of them is
    needed.
    """
    fitting = _plan_rewritten(task, ["evict_media"], task.messages[: _old_end(task)])
    if _is_good(task, fitting):
        return fitting
    return _plan_rewritten(replace(task, target=task.available), RUNGS, task.messages)


def _old_end(task: Task) -> int:
    """Return where the old messages end: before the recent ones, and before the newest results.

    Results count with their calls, so that what the model has not seen yet is never old.
    """
    options = task.engine.options
    recent = recent_from(task.messages, options.recency_window)
    return min((recent, *_newest_results(task, max(1, task.keep_results or 0))))


def _plan_rewritten(task: Task, rungs: Iterable[str], messages: Sequence[Message]) -> Fitting:
    """Write some of *messages* shorter, in order, as long as there is too much; plan with these.

    What must stay is told by the messages as they were: a replaced picture no longer counts as the
    last question of the user.
    """
    stays, tokens = task.stays, task.text_cache.tokens
    changing = [message.index for message in messages if message.index not in stays]
    shown, originals = list(task.messages), dict[int, Message]()
    steps: dict[str, None] = {}
    excess = sum(map(tokens.message, shown)) - (task.target - task.anchor_room.get())
    for name, index in ((name, index) for name in rungs for index in changing):
        if excess <= 0:
            break
        original = originals.get(index, shown[index])
        short = _shorten(RUNGS[name], shown[index], original, task)
        saved = 0 if short is None else tokens.message(shown[index]) - tokens.message(short)
        if short is not None and saved > 0:
            shown[index], originals[index] = short, original
            steps[name] = None
            excess -= saved
    planned = _plan(replace(task, messages=shown, pinned=stays))
    return replace(planned, rewritten=originals, steps=(*steps, *planned.steps))


def _shorten(rung: Rung, shown: Message, original: Message, task: Task) -> Message | None:
    wire = rung(shown, handle_of((original,)))
    if wire is None:
        return None
    engine = task.engine
    return stand_in(original, wire, engine.options.source_version)


def _drop(task: Task, *, must_go: frozenset[int]) -> Fitting:
    """Drop whole blocks, those in *must_go* and then the oldest, as long as it does not fit."""
    stays = task.stays
    gone = _chosen(task, must_go, stays)
    dropped = tuple(task.messages[index] for index in sorted(gone))
    kept = [message for message in task.messages if message.index not in gone]
    steps = ("drop",) if dropped else ()
    if sum(map(task.text_cache.tokens.message, kept)) <= task.available:
        plan = tuple(kept_fold(m, stays.get(m.index, "within_budget")) for m in kept)
        return Fitting(plan=plan, dropped=dropped, steps=steps)
    return _shorten_rest(task, kept, dropped, steps)


def _chosen(task: Task, must_go: frozenset[int], stays: Mapping[int, str]) -> set[int]:
    """Choose what to drop; the newest block goes only if it must, and never if it is the last."""
    tokens = task.text_cache.tokens
    total = sum(map(tokens.message, task.messages))
    blocks = find_blocks(task.messages)
    newest = next((b for b in reversed(blocks) if any(task.messages[i].is_turn for i in b)), None)
    turns_left = sum(message.is_turn for message in task.messages)
    spoken = {message.index for message, _ in find_last_words(task.messages)}
    gone: set[int] = set()
    for block in sorted(blocks, key=lambda b: b[0] not in must_go):
        is_wanted_out = block[0] in must_go
        if total <= task.target and not is_wanted_out:
            break
        if any(index in stays or index in spoken for index in block):
            continue
        turns = sum(task.messages[index].is_turn for index in block)
        if turns == turns_left or (block == newest and not is_wanted_out):
            continue
        gone.update(block)
        turns_left -= turns
        total -= sum(tokens.message(task.messages[index]) for index in block)
    return gone


def _shorten_rest(
    task: Task, kept: Sequence[Message], dropped: tuple[Message, ...], steps: tuple[str, ...]
) -> Fitting:
    """Fold what could not be dropped; renumbered, because places are indices."""
    places = {message.index: place for place, message in enumerate(kept)}
    rest = replace(
        task,
        messages=[message.changed(index=place) for place, message in enumerate(kept)],
        pinned={places[i]: reason for i, reason in task.pinned.items() if i in places},
    )
    fitting = _squeeze(rest)
    return Fitting(
        plan=tuple(_renumbered(fold_, kept) for fold_ in fitting.plan),
        dropped=dropped,
        rewritten={kept[i].index: kept[i] for i in fitting.rewritten},
        steps=(*steps, *fitting.steps),
    )


def _renumbered(fold_: Fold, kept: Sequence[Message]) -> Fold:
    return fold_.changed(sources=tuple(s.changed(index=kept[s.index].index) for s in fold_.sources))


STRATEGIES: Final[Mapping[Strategy, Callable[[Task], Fitting]]] = {
    "fold": fold,
    "summarize": summarize,
    "truncate": truncate,
    "sliding_window": sliding_window,
}
"""Every strategy by name; the first is the default."""
