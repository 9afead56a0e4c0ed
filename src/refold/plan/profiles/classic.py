"""The profile `classic`: shorten by rules; under a budget, climb a ladder of shorter forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from refold.classic.budget import Ladder
from refold.classic.compress import plan_by_rules
from refold.messages.folds import Plan
from refold.messages.message import Message
from refold.notation.spelling import CLASSIC
from refold.options import Options
from refold.plan.profiles import NO_PINS, BudgetTask, Fitter, Preset
from refold.plan.text_cache import TextCache


def _shorten(
    messages: Sequence[Message],
    options: Options,
    text_cache: TextCache,
    *,
    start: int = 0,
    hidden: frozenset[int] = frozenset(),
    pinned: Mapping[int, str] = NO_PINS,
) -> Plan:
    return plan_by_rules(
        messages,
        options,
        text_cache.reader,
        rules=text_cache.tables.rules,
        writer=text_cache,
        start=start,
        hidden=hidden,
        pinned=pinned,
    )


def _ladder(task: BudgetTask, target: int) -> Ladder:
    return Ladder(
        task.messages,
        task.options,
        task.text_cache.reader,
        task.untouchable,
        target=target,
        rules=task.text_cache.tables.rules,
        writer=task.text_cache,
    )


def _climb(task: BudgetTask) -> Fitter:
    return lambda target, _: _ladder(task, target).climb()


def _roll_up_oldest(task: BudgetTask) -> Fitter:
    return lambda target, _: _ladder(task, target).climb(summarizes=False)


PRESET: Final = Preset(shorten=_shorten, fit=_climb, spelling=CLASSIC, refers_ahead=True)
ROLL_UP: Final = replace(PRESET, fit=_roll_up_oldest)
"""Shortens no message by itself: the oldest stretch becomes one summary."""
