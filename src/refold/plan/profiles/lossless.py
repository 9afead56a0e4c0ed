"""The profile `lossless`: re-encode data in fewer tokens, without losing a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from refold.classic.rules import recent_from
from refold.codecs.shown import Shown
from refold.fold.lay_out import YIELDING
from refold.messages.folds import Plan
from refold.messages.message import Message
from refold.messages.untouchable import find_untouchable
from refold.options import Options
from refold.plan.profiles import NO_PINS, BudgetTask, Preset
from refold.plan.recode import plan_lossless, recode
from refold.plan.text_cache import TextCache


def find_whole(
    messages: Sequence[Message], options: Options, recent_from: int, pinned: Mapping[int, str]
) -> dict[int, str]:
    """Map each message that stays whole without a budget to the reason; also the latest ones."""
    return {
        **dict.fromkeys(range(recent_from, len(messages)), "recency_window"),
        **find_untouchable(messages, options),
        **pinned,
    }


def recode_results(
    messages: Sequence[Message],
    options: Options,
    text_cache: TextCache,
    *,
    start: int = 0,
    hidden: frozenset[int] = frozenset(),
    pinned: Mapping[int, str] = NO_PINS,
) -> Plan:
    """Re-encode tool results without loss."""
    recent = recent_from(messages, options.recency_window)
    whole = find_whole(messages, options, recent, pinned)
    recoded = recode(messages, whole, text_cache.tokens, table=text_cache.codecs)
    plan = plan_lossless(messages, whole, recoded, text_cache.tokens, hidden, shown=Shown())
    return since(start, plan)


def since(start: int, plan: Plan) -> Plan:
    """Return the part of *plan* that begins with message *start*."""
    return tuple(fold for fold in plan if fold.sources[0].index >= start) if start else plan


class LosslessFitter:
    """Re-encodes all messages that may change, unless everything fits as it is."""

    def __init__(self, task: BudgetTask) -> None:
        self._task = task

    def __call__(self, target: int, token_budget: int, /) -> tuple[Plan, Sequence[str]]:  # noqa: ARG002
        """Make the plan, which is the same for all targets below the total."""
        task = self._task
        messages, untouchable, tokens = task.messages, task.untouchable, task.tokens
        if task.total <= target:
            whole = dict.fromkeys(range(len(messages)), "within_budget") | dict(untouchable)
            return plan_lossless(messages, whole, {}, tokens), ()
        recoded = recode(messages, untouchable, tokens, table=task.text_cache.codecs)
        return plan_lossless(messages, untouchable, recoded, tokens, shown=Shown()), ("lossless",)


PRESET: Final = Preset(
    shorten=recode_results, fit=LosslessFitter, yielding=YIELDING, loses_nothing=True
)
