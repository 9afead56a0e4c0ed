"""What no plan of the engine shortens: pictures, and the arguments of calls that must stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from refold.budget.blocks import find_blocks
from refold.model.handles import handle_of
from refold.model.message import Message
from refold.stages import RunContext
from refold.window.rewriting import stand_in
from refold.window.rungs import arguments, media
from refold.window.rungs.base import Rung
from refold.window.task import Task

RUNGS: Final[tuple[Rung, ...]] = (media.RUNG, arguments.RUNG)
"""Every rung, the gentlest first."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A task after some of its messages were written shorter, and how that is undone."""

    task: Task
    originals: dict[int, Message]
    """Index of every message that is not as it was → as it was."""
    steps: tuple[str, ...]


def rewrite_old(task: Task) -> Rewritten:
    """Replace the pictures of old messages until the task's target is reached.

    The arguments of old calls are left alone: the engine knows better what of them is needed.
    """
    return _rewrite(task, (media.RUNG,), task.messages[: _border(task)])


def rewrite_all(task: Task) -> Rewritten:
    """Take rung after rung, the oldest messages first, until the task's target is reached."""
    return _rewrite(task, RUNGS, task.messages)


def _rewrite(task: Task, rungs: Sequence[Rung], messages: Sequence[Message]) -> Rewritten:
    """Write some of *messages* shorter, in order, as long as there is too much.

    What must stay is told by the messages as they were: a replaced picture no longer counts as the
    last question of the user.
    """
    stays, tokens = task.stays, task.text_cache.tokens
    changing = [message.index for message in messages if message.index not in stays]
    shown, originals = list(task.messages), dict[int, Message]()
    steps: dict[str, None] = {}
    excess = sum(map(tokens.message, shown)) - (task.target - task.anchor_room)
    for rung, index in _each(rungs, changing):
        if excess <= 0:
            break
        original = originals.get(index, shown[index])
        short = _shorten(rung, shown[index], original, task)
        saved = 0 if short is None else tokens.message(shown[index]) - tokens.message(short)
        if short is not None and saved > 0:
            shown[index], originals[index] = short, original
            steps[rung.name] = None
            excess -= saved
    return Rewritten(replace(task, messages=shown, pinned=stays), originals, tuple(steps))


def _each(rungs: Iterable[Rung], indices: Sequence[int]) -> Iterable[tuple[Rung, int]]:
    return ((rung, index) for rung in rungs for index in indices)


def _shorten(rung: Rung, shown: Message, original: Message, task: Task) -> Message | None:
    wire = rung.rewrite(shown, handle_of((original,)))
    if wire is None:
        return None
    engine = task.engine
    return stand_in(original, wire, engine.options.source_version, engine.conversation)


def _border(task: Task) -> int:
    """Return where what is not old begins: the recent messages, and the newest results.

    Results count with their calls, so that what the model has not seen yet is never old.
    """
    messages, options = task.messages, task.engine.options
    border = RunContext.of(messages, options, task.text_cache, options.recency_window).recent_from
    left = max(1, task.keep_results or 0)
    for block in reversed(find_blocks(messages)):
        count = sum(messages[index].is_tool_result for index in block)
        if count and left > 0:
            border = min(border, block[0])
            left -= count
    return border


__all__ = ["RUNGS", "Rewritten", "Rung", "rewrite_all", "rewrite_old"]
