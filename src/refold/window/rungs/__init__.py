"""The lower rungs of the ladder: old messages written shorter, in order, until it is enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from refold.budget.blocks import find_blocks
from refold.model.handles import handle_of
from refold.model.message import Message
from refold.model.plan import kept_fold
from refold.stages import Setting
from refold.window.rewriting import stand_in
from refold.window.rungs import arguments, lossless, media, results
from refold.window.rungs.base import Rung
from refold.window.task import Fitting, Task

RUNGS: Final[tuple[Rung, ...]] = (lossless.RUNG, media.RUNG, results.RUNG, arguments.RUNG)
"""Every rung below the summaries, the gentlest first."""


@dataclass(slots=True)
class _State:
    messages: list[Message]
    total: int
    originals: dict[int, Message] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)


def rewrite_old(
    task: Task, rungs: Sequence[Rung] = RUNGS, *, to_end: bool = False
) -> tuple[Task, Fitting]:
    """Take rung after rung, the oldest messages first, until the task's target is reached.

    With *to_end* the latest messages count as old, too. Return the task with its messages as they
    are then, and the fitting if that is all. What must stay is told by the messages as they were:
    a picture that became a line is nobody's question.
    """
    tokens = task.analyses.tokens
    stays = task.stays
    state = _State(list(task.messages), sum(map(tokens.message, task.messages)))
    border = len(task.messages) if to_end else _border(task)
    old = [m.index for m in task.messages[:border] if m.index not in stays]
    for rung in rungs:
        if rung is not results.RUNG or task.keep_results is not None:
            _climb(rung, task, state, old)
    plan = tuple(kept_fold(m, stays.get(m.index, "within_budget")) for m in state.messages)
    fitting = Fitting(plan=plan, rewritten=state.originals, steps=tuple(state.steps))
    return replace(task, messages=state.messages, pinned=stays), fitting


def _climb(rung: Rung, task: Task, state: _State, old: Sequence[int]) -> None:
    """Rewrite one message after the other, as long as there is too much."""
    tokens = task.analyses.tokens
    for index in old:
        if state.total <= task.target - task.anchor_room:
            return
        shown = state.messages[index]
        original = state.originals.get(index, shown)
        wire = rung.rewrite(shown, handle_of((original,)))
        short = None if wire is None else _stand_in(original, wire, task)
        saved = 0 if short is None else tokens.message(shown) - tokens.message(short)
        if short is None or saved <= 0:
            continue
        state.messages[index] = short
        state.originals[index] = original
        state.total -= saved
        if rung.name not in state.steps:
            state.steps.append(rung.name)


def _stand_in(original: Message, wire: dict[str, Any], task: Task) -> Message | None:
    return stand_in(original, wire, task.options.source_version, task.conversation)


def _border(task: Task) -> int:
    """Return where what is not old begins: the recent messages, and the newest results.

    Results count with their calls, so that what the model has not seen yet is never old.
    """
    messages = task.messages
    window = task.options.recency_window
    border = Setting.of(messages, task.options, task.analyses, window).recent_from
    left = max(1, task.keep_results or 0)
    for block in reversed(find_blocks(messages)):
        count = sum(messages[index].is_tool_result for index in block)
        if count and left > 0:
            border = min(border, block[0])
            left -= count
    return border


__all__ = ["RUNGS", "Rung", "rewrite_old"]
