"""Ways to make a conversation fit: fold it, summarize or drop its beginning, keep its end.

Whatever the strategy, tool calls and results go together, and what is pinned stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from refold.budget import fit_budget
from refold.budget.blocks import find_blocks
from refold.budget.guard import find_last_words
from refold.model.message import Message
from refold.model.plan import Fold, kept_fold
from refold.window.handover import as_handover
from refold.window.rungs import RUNGS, rewrite_old
from refold.window.task import Fitting, Task, ends_in_summary

Strategy = Literal["fold", "summarize", "truncate", "sliding_window"]

USER_SHARE: Final = 0.2
"""Share of the window within which the user's own words stay outside of summaries."""


def fold(task: Task) -> Fitting:
    """Climb the ladder: write old messages shorter, then summarize, truncate, roll up.

    What was cleared is not summarized: the upper rungs work from the results themselves. Where
    there is not even room for a line about each stretch, the oldest blocks are dropped.
    """
    _, rewritten = rewrite_old(task)
    if task.cost(rewritten.plan) <= task.target:
        return rewritten
    fitting = _squeeze(task)
    if task.cost(fitting.plan) <= task.available:
        return fitting
    dropped = truncate(task)
    return dropped if task.cost(dropped.plan) <= task.available else fitting


def summarize(task: Task) -> Fitting:
    """Put the oldest stretch into one summary; climb the whole ladder if that is not enough.

    What users said stays word for word, the latest first, as far as its own share goes.
    """
    for pinned in ({**_user_words(task), **task.pinned}, task.pinned):
        fitting = _climb(replace(task, pinned=pinned), only_rolls=True)
        if task.cost(fitting.plan) <= task.available and not ends_in_summary(task, fitting):
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
            room -= task.analyses.tokens.message(message)
            if room < 0:
                break
            found[message.index] = "user_words"
    return found


def _climb(task: Task, *, only_rolls: bool) -> Fitting:
    plan, report = fit_budget(
        task.messages,
        replace(task.options, token_budget=max(0, task.available - task.anchor_room)),
        task.analyses,
        max(0, task.target - task.anchor_room),
        pinned=task.pinned,
        only_rolls=only_rolls,
    )
    if task.is_handover:
        plan = tuple(as_handover(fold_, task.analyses) for fold_ in plan)
    return Fitting(plan=plan, steps=report.rungs)


def _squeeze(task: Task) -> Fitting:
    """Climb with what is old; if that is not enough, with calls and pictures of the end too."""
    fitting = _climb_shortened(task, to_end=False)
    if task.cost(fitting.plan) <= task.available and not ends_in_summary(task, fitting):
        return fitting
    return _climb_shortened(replace(task, target=task.available), to_end=True)


def _climb_shortened(task: Task, *, to_end: bool) -> Fitting:
    """Climb after everything was written shorter that the upper rungs cannot shorten."""
    rungs = [rung for rung in RUNGS if not rung.is_of_results]
    shorter, begun = rewrite_old(task, rungs, to_end=to_end)
    climbed = _climb(shorter, only_rolls=False)
    return replace(climbed, rewritten=begun.rewritten, steps=(*begun.steps, *climbed.steps))


def _drop(task: Task, *, must_go: frozenset[int]) -> Fitting:
    """Drop whole blocks, those in *must_go* and then the oldest, as long as it does not fit."""
    stays = task.stays
    gone = _chosen(task, must_go, stays)
    dropped = tuple(task.messages[index] for index in sorted(gone))
    kept = [message for message in task.messages if message.index not in gone]
    steps = ("drop",) if dropped else ()
    if sum(map(task.analyses.tokens.message, kept)) <= task.available:
        plan = tuple(kept_fold(m, stays.get(m.index, "within_budget")) for m in kept)
        return Fitting(plan=plan, dropped=dropped, steps=steps)
    return _shorten_rest(task, kept, dropped, steps)


def _chosen(task: Task, must_go: frozenset[int], stays: Mapping[int, str]) -> set[int]:
    """Choose what to drop; the newest block goes only if it must, and never if it is the last."""
    tokens = task.analyses.tokens
    total = sum(map(tokens.message, task.messages))
    blocks = find_blocks(task.messages)
    newest = _newest_turn(task.messages, blocks)
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


def _newest_turn(messages: Sequence[Message], blocks: Sequence[range]) -> range | None:
    return next((b for b in reversed(blocks) if any(messages[i].is_turn for i in b)), None)


def _shorten_rest(
    task: Task, kept: Sequence[Message], dropped: tuple[Message, ...], steps: tuple[str, ...]
) -> Fitting:
    """Climb the ladder with what could not be dropped; renumbered, because places are indices."""
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
    return Fold(
        sources=tuple(s.changed(index=kept[s.index].index) for s in fold_.sources),
        texts=fold_.texts,
        outcomes=fold_.outcomes,
        is_rolled=fold_.is_rolled,
    )


STRATEGIES: Final[Mapping[Strategy, Callable[[Task], Fitting]]] = {
    "fold": fold,
    "summarize": summarize,
    "truncate": truncate,
    "sliding_window": sliding_window,
}
"""Every strategy by name; the first is the default."""
