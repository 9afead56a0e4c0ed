"""The pipeline: messages in, plan out. Pure: what it wants to ask, it yields."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from refold.llm.question import Answers, Questions
from refold.messages.message import Message
from refold.options import Options
from refold.plan.draft import Draft
from refold.plan.fold import Fold, Plan, kept_fold
from refold.plan.replace import Folder, make_plan
from refold.plan.rules import STAGES, RunContext
from refold.plan.text_cache import TextCache

T = TypeVar("T")

Flow = Generator[Questions, Answers, T]
"""Pure logic that stops where it would like to ask something, and goes on with the answers."""

_MAX_PASSES: Final = 4
"""Each pass may ask for what the answers before it have made possible; the bound ends a plan that
would ask for ever."""


def plan_fold(messages: Sequence[Message], options: Options, text_cache: TextCache) -> Plan:
    """Decide what happens to every message."""
    context = RunContext.of(messages, options, text_cache, options.recency_window)
    draft = Draft(messages)
    for stage in STAGES:
        draft.decide(stage(draft, context))
    return make_plan(draft, context, options.depth)


def plan_rest(
    messages: Sequence[Message],
    options: Options,
    text_cache: TextCache,
    *,
    start: int,
    hidden: frozenset[int],
    pinned: Mapping[int, str],
) -> Plan:
    """Decide what happens to the messages from *start* on; those before are dealt with.

    The messages in *hidden* cannot be read any more, so nothing may refer to them; those in
    *pinned* stay as they are, for the reason given.
    """
    context = replace(
        RunContext.of(messages, options, text_cache, options.recency_window), hidden=hidden
    )
    draft = Draft(messages)
    draft.pin(pinned)
    for stage in STAGES:
        draft.decide(stage(draft, context))
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


def keep_all(messages: Sequence[Message], reason: str) -> Plan:
    """Leave every message as it is."""
    return tuple(kept_fold(message, reason) for message in messages)
