"""The profile `standard`: say the same shorter, then show what later turns will need.

Without a budget, every tool result is re-encoded without loss, and what is said at length goes by
the rules. If a budget asks for more, all texts are cut into pieces, and the pieces compete by what
would be lost without them: words and values that are shown nowhere else, each worth how likely it
is to be needed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from refold.codecs.shown import Shown
from refold.messages.message import Message
from refold.notation.recognize import body_of
from refold.options import Options
from refold.plan.conversation import read_conversation, worth_items
from refold.plan.fold import SUMMARIZED, Outcome, Plan
from refold.plan.layout import YIELDING
from refold.plan.minimal import plan_minimal
from refold.plan.profiles import NO_PINS, BudgetTask, Preset
from refold.plan.profiles.lossless import (
    find_whole,
    fit_lossless,
    keep_whole,
    since,
)
from refold.plan.prose import find_pastes, fold_prose, rules_of
from refold.plan.recode import (
    cost_lossless,
    may_save,
    open_texts,
    plan_lossless,
    recode,
    recode_newest,
)
from refold.plan.relevance import Weights, learned_weights
from refold.plan.rules import RunContext
from refold.plan.selection import Selection
from refold.plan.text_cache import TextCache
from refold.plan.writing import Line, write_digest


def say_shorter(
    messages: Sequence[Message],
    options: Options,
    text_cache: TextCache,
    *,
    start: int = 0,
    hidden: frozenset[int] = frozenset(),
    pinned: Mapping[int, str] = NO_PINS,
) -> Plan:
    """Re-encode results and pastes so that nothing is lost; what is said at length goes by rules.

    No summary reaches over *start*.
    """
    context = RunContext.of(messages, rules_of(options), text_cache, options.recency_window)
    context = replace(context, hidden=hidden, shortens_beside_calls=True)
    whole, tokens = find_whole(messages, options, context.recent_from, pinned), text_cache.tokens
    said = fold_prose(messages, whole, context, start=start)
    pastes = find_pastes(messages, whole)
    recoded = recode(messages, whole, tokens, table=text_cache.codecs, pastes=pastes)
    plan = plan_lossless(
        messages, whole, recoded, tokens, hidden, shown=Shown(), said=said, pastes=pastes
    )
    return since(start, plan)


def fit_standard(task: BudgetTask, weights: Weights | None = None) -> tuple[Plan, Sequence[str]]:
    """Say everything shorter if that is enough, and else show what later turns will need.

    *weights* are those that ship with the package unless others are given.
    """
    if task.fits:
        return keep_whole(task), ()
    if not task.options.force_converge:
        return fit_lossless(task)
    plan, rungs = _select(task, weights or learned_weights())
    return add_model_summary(plan, task.text_cache), rungs


def _select(task: BudgetTask, weights: Weights) -> tuple[Plan, list[str]]:
    """Show what is selected, unless all of it can be said shorter.

    What is selected is not what was shown, so no text refers to another one, and texts are said
    shorter only in ways that leave their parts readable, unless all of it can be shown. Where
    neither is enough, not even without the task and the question, both are kept, and little else.
    """
    messages, untouchable, target = task.messages, task.untouchable, task.target
    tokens, codecs = task.tokens, task.text_cache.codecs
    recoded = shorter = recode(messages, untouchable, tokens, codecs.in_parts, table=codecs)
    cost = cost_lossless(messages, untouchable, shorter, tokens)
    if cost > target and may_save(cost - target, messages, untouchable, tokens, codecs.as_a_whole):
        shorter = recode(messages, untouchable, tokens, table=codecs)
        cost = cost_lossless(messages, untouchable, shorter, tokens)
    if cost <= target:
        return plan_lossless(messages, untouchable, shorter, tokens), ["lossless"]
    limit = max(target, task.options.token_budget or 0)
    recoded = recoded | open_texts(messages, untouchable, tokens, codecs)
    shown = {key: made.text for key, made in recoded.items()}
    conversation = read_conversation(messages, tokens, task.options.preserve, shown)
    worths = worth_items(conversation, weights, target)
    newest = recode_newest(messages, untouchable, shorter, tokens)

    def select(stays: Mapping[int, str]) -> tuple[Plan, int]:
        selected = Selection(
            conversation,
            tokens,
            target=target,
            limit=limit,
            untouchable=stays,
            worths=worths,
            newest=newest,
            explains=task.options.trace,
        ).make()
        return selected, sum(map(tokens.fold, selected))

    plan, chosen = select(untouchable)
    if chosen > limit:
        bare, rest = select({i: why for i, why in untouchable.items() if why not in YIELDING})
        if rest <= target:
            return bare, ["lossless", "select"]
        least = plan_minimal(messages, untouchable, tokens)
        if sum(map(tokens.fold, least)) < cost:
            return least, ["lossless", "select", "least"]
    if chosen < cost:
        return plan, ["lossless", "select"]
    return plan_lossless(messages, untouchable, shorter, tokens), ["lossless"]


def add_model_summary(plan: Plan, text_cache: TextCache) -> Plan:
    """Let what a model wrote for the oldest digest of *plan* be its text, if that fits its room.

    It was checked line by line: nothing in it is invented or turned round, and it keeps more of the
    stretch per token than the digest does. Without a model, or while it has not been asked, the
    plan is as it was.
    """
    place = next((n for n, fold in enumerate(plan) if fold.is_rolled), None)
    if place is None:
        return plan
    digest = plan[place]
    told = "\n\n".join(_tell(digest.sources))
    summary = text_cache.written_for_stretch(told, body_of(digest.texts[0]))
    if summary is None:
        return plan
    summarized = write_digest(digest.sources, list(_lines(digest.sources, summary)))
    if text_cache.tokens.fold(summarized) > text_cache.tokens.fold(digest):
        return plan
    text_cache.note_use(summarized.texts[0], told)
    return (*plan[:place], summarized, *plan[place + 1 :])


def _tell(stretch: Sequence[Message]) -> Iterator[str]:
    """Yield what a stretch says and does, in order, with who says it."""
    for message in stretch:
        if message.is_turn:
            said = [part.text for part in message.parts if part.text.strip()]
            calls = [call.text for call in message.calls]
            # No "user: ": an answer with such labels would read like turns, and pass for a quote.
            yield from (f"({message.role})\n{text}" for text in (*said, *calls))


def _lines(stretch: Sequence[Message], summary: str) -> Iterator[Line]:
    """Yield what the digest shows: the *summary*, which speaks for all messages alike."""
    share = len(summary) // len(stretch)
    for message in stretch:
        shown, summary = summary, ""
        outcome = Outcome("digested", SUMMARIZED, message.chars, share)
        yield Line([("", shown)], len(shown), 0, outcome)


PRESET: Final = Preset(shorten=say_shorter, fit=fit_standard, yielding=YIELDING, fits_sealed=True)
