"""Report what a pass did: ids, first change, and the obstacles if it does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from refold.conversation.history import History
from refold.conversation.passes import Pass
from refold.conversation.report import FitResult
from refold.conversation.task import Task
from refold.conversation.view import Item, View
from refold.messages.wire import clone
from refold.plan.blocks import pair_warnings
from refold.plan.fold import Fold, Plan
from refold.plan.untouchable import find_last_words, is_shared
from refold.result import Obstacle

REUSED: Final = "reuse"
"""The step that says that an earlier result was used again."""
_MAX_OBSTACLES: Final = 10
"""So many of the largest obstacles are named: mostly there are one or two."""


def ids_of(folds: Iterable[Fold]) -> tuple[str, ...]:
    """Return the ids of all messages behind *folds*."""
    return tuple(message.id for fold in folds for message in fold.sources)


def continued(before: FitResult, now: FitResult, plan: Plan) -> FitResult:
    """Complete the result of a pass over the view of the pass *before* and the new messages.

    What was dropped or summarized before still is; our own summaries do not count as messages that
    were given.
    """
    ours = {m.id for fold in plan for m in fold.sources if is_shared(m)}
    kept = [fold.sources[0] for fold in plan if fold.is_kept]
    return replace(
        now,
        dropped_ids=(*before.dropped_ids, *(id_ for id_ in now.dropped_ids if id_ not in ours)),
        summarized_ids=(
            *before.summarized_ids,
            *(id_ for id_ in now.summarized_ids if id_ not in ours),
        ),
        compressed_ids=(
            *(m.id for m in kept if m.provenance is not None and m.id not in ours),
            *(id_ for id_ in now.compressed_ids if id_ not in ours),
        ),
        verbatim={**before.verbatim, **now.verbatim},
    )


def first_difference(before: Iterable[object], after: Sequence[object]) -> int:
    """Return the index of the first message that is not the one that stood there before."""
    place = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        place += 1
    return place


def find_obstacles(task: Task, items: Sequence[Item]) -> tuple[Obstacle, ...]:
    """Return the messages that must stay, or of which the user's words must, largest first.

    *items* say where each stands in the list that was given.
    """
    spoken = {message.index: "last_user_message" for message, _ in find_last_words(task.messages)}
    found = [
        Obstacle(
            message_id=task.messages[index].id,
            message_index=items[index].first,
            tokens=tokens,
            reason=reason,
        )
        for index, reason in {**spoken, **task.stays}.items()
        if (tokens := task.text_cache.tokens.message(task.messages[index]))  # a note costs nothing
    ]
    return tuple(sorted(found, key=lambda obstacle: -obstacle.tokens)[:_MAX_OBSTACLES])


def explain(after: int, available: int, obstacles: Sequence[Obstacle]) -> str:
    """Say on one line why it does not fit."""
    worst = "; ".join(
        f"messages[{o.message_index}] {o.tokens} tokens ({o.reason})" for o in obstacles[:3]
    )
    return f"{after} tokens do not fit into {available}; in the way: {worst or 'nothing known'}"


def unchanged(history: History, available: int, own: Pass | None = None) -> FitResult:
    """Return the conversation as it is: because it fits, or because it is a result of ours."""
    total, messages = history.total, history.state.view.sources
    return FitResult(
        messages=[clone(dict(message.wire)) for message in messages],
        fits=total <= available,
        tokens_before=total,
        tokens_after=total,
        tokens_available=available,
        first_changed=len(messages),
        warnings=pair_warnings(messages) if total <= available or not own else own.result.warnings,
        obstacles=() if total <= available or not own else own.result.obstacles,
        verbatim=dict(history.short),
    )


def extended(result: FitResult, view: View, *, total: int, available: int) -> FitResult:
    """Return an earlier result with what came since, which is in *view*.

    Its messages are copies; the originals, which may be many, are shared.
    """
    return replace(
        result,
        messages=[clone(item.wire) for item in view.items],
        fits=view.tokens <= available,
        tokens_before=total,
        tokens_after=view.tokens,
        tokens_available=available,
        steps=(REUSED, *(step for step in result.steps if step != REUSED)),
        model=None,
    )
