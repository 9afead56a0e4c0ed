"""The pipeline of rules: messages in, plan out. Pure: what it wants to ask, it yields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, TypeVar

from refold.llm.question import Flow
from refold.messages.message import Message
from refold.options import Options
from refold.plan.draft import Draft
from refold.plan.fold import Fold, Plan
from refold.plan.replace import Folder
from refold.plan.rules import RunContext, apply_rules
from refold.plan.text_cache import TextCache

T = TypeVar("T")

_MAX_PASSES: Final = 4
"""Each pass may ask for what the answers before it have made possible; the bound ends a plan that
would ask for ever."""


def plan_by_rules(
    messages: Sequence[Message],
    options: Options,
    text_cache: TextCache,
    *,
    start: int = 0,
    hidden: frozenset[int] = frozenset(),
    pinned: Mapping[int, str] = MappingProxyType({}),
) -> Plan:
    """Let the rules decide what happens to the messages from *start* on.

    Those before are dealt with, and no summary reaches over that border. The messages in *hidden*
    cannot be read any more, so nothing may refer to them; those in *pinned* stay as they are, for
    the reason given.
    """
    context = replace(
        RunContext.of(messages, options, text_cache, options.recency_window), hidden=hidden
    )
    draft = Draft(messages)
    draft.pin(pinned)
    apply_rules(draft, context)
    folder = Folder(draft, context)
    plan: list[Fold] = []
    for run in folder.runs(border=start):
        if run[0].index >= start:
            plan += folder.fold_run(run, options.depth)
    return tuple(plan)


def ask_until_known(make: Callable[[], T], text_cache: TextCache) -> Flow[T]:
    """Make a plan; if it would have liked to know more, ask, and make it again.

    A plan is cheap, because everything it is made of is kept in *text_cache*. Answers may change
    what is worth asking, so this repeats, but only a few times.
    """
    plan = make()
    for _ in range(_MAX_PASSES):
        questions = text_cache.take_questions()
        if not questions:
            break
        text_cache.learn(questions, (yield questions))
        plan = make()
    return plan
