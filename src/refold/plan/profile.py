"""Plan a conversation for an agent: say the same shorter, then show what later turns will need.

Without a budget, every tool result is re-encoded without loss, and in the profile `standard` what
is said at length goes by the rules. If a budget asks for more, all texts are cut into pieces, and
the pieces compete by what would be lost without them: words and values that are shown nowhere else,
each worth how likely it is to be needed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from refold.codecs import CodecTable
from refold.codecs.shown import Shown
from refold.messages.message import Message
from refold.notation.recognize import body_of
from refold.options import Options
from refold.plan.budget_report import report_budget
from refold.plan.conversation import read_conversation, worth_items
from refold.plan.fold import SUMMARIZED, Outcome, Plan
from refold.plan.layout import YIELDING, Key
from refold.plan.minimal import plan_minimal
from refold.plan.prose import find_pastes, fold_prose, rules_of
from refold.plan.recode import (
    NO_FOLDS,
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
from refold.plan.token_count import CountedTexts
from refold.plan.untouchable import find_untouchable
from refold.plan.writing import Line, write_digest
from refold.result import BudgetReport


def plan_profile(
    messages: Sequence[Message],
    options: Options,
    text_cache: TextCache,
    target: int | None = None,
    *,
    pinned: Mapping[int, str] = MappingProxyType({}),
    weights: Weights | None = None,
) -> tuple[Plan, BudgetReport | None]:
    """Plan for the profiles `lossless` and `standard`; with a budget, aim at *target* tokens.

    The messages in *pinned* (index to reason) stay word for word, whatever they cost.
    *weights* are those that ship with the package unless others are given.
    """
    if target is None:
        return plan_shorter(messages, options, text_cache), None
    tokens = text_cache.tokens
    untouchable = {**_find_untouchable(messages, options), **pinned}
    rungs: list[str] = []
    if sum(map(tokens.message, messages)) <= target:
        whole = dict.fromkeys(range(len(messages)), "within_budget") | untouchable
        plan = plan_lossless(messages, whole, {}, tokens)
    elif options.profile == "standard" and options.force_converge:
        plan, rungs = _plan_standard(
            messages,
            options,
            tokens,
            target,
            untouchable=untouchable,
            weights=weights,
            codecs=text_cache.codecs,
        )
        plan = add_model_summary(plan, text_cache)
    else:
        recoded = recode(messages, untouchable, tokens, table=text_cache.codecs)
        plan = plan_lossless(messages, untouchable, recoded, tokens, shown=Shown())
        rungs = ["lossless"]
    return plan, report_budget(plan, options, tokens, rungs, untouchable)


def _plan_standard(
    messages: Sequence[Message],
    options: Options,
    tokens: CountedTexts,
    target: int,
    *,
    untouchable: Mapping[int, str],
    weights: Weights | None,
    codecs: CodecTable,
) -> tuple[Plan, list[str]]:
    """Say everything shorter if that is enough, and else show what later turns will need.

    What is selected is not what was shown, so no text refers to another one, and texts are said
    shorter only in ways that leave their parts readable, unless all of it can be shown. Where
    neither is enough, not even without the task and the question, both are kept, and little else.
    """
    recoded = shorter = recode(messages, untouchable, tokens, codecs.in_parts, table=codecs)
    cost = cost_lossless(messages, untouchable, shorter, tokens)
    if cost > target and may_save(cost - target, messages, untouchable, tokens, codecs.as_a_whole):
        shorter = recode(messages, untouchable, tokens, table=codecs)
        cost = cost_lossless(messages, untouchable, shorter, tokens)
    if cost <= target:
        return plan_lossless(messages, untouchable, shorter, tokens), ["lossless"]
    limit = max(target, options.token_budget or 0)
    recoded = recoded | open_texts(messages, untouchable, tokens, codecs)
    shown = {key: made.text for key, made in recoded.items()}
    conversation = read_conversation(messages, tokens, options.preserve, shown)
    worths = worth_items(conversation, weights or learned_weights(), target)
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
            explains=options.trace,
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


def _find_untouchable(messages: Sequence[Message], options: Options) -> dict[int, str]:
    """Map what must survive to the reason; one that never yields comes before one that may."""
    found = find_untouchable(messages, options)
    if options.min_recency_window:
        turns = [message.index for message in messages if message.is_turn]
        for index in turns[-options.min_recency_window :]:
            if found[index] in YIELDING:
                found[index] = "min_recency_window"
    return found


def plan_shorter(
    messages: Sequence[Message],
    options: Options,
    text_cache: TextCache,
    *,
    start: int = 0,
    pinned: Mapping[int, str] = MappingProxyType({}),
    hidden: frozenset[int] = frozenset(),
) -> Plan:
    """Say everything shorter but the preserved roles, the latest messages and those in *pinned*.

    What tools returned is re-encoded so that nothing is lost. In the profile `standard`, so is what
    people pasted, and what is said at length goes by the rules; no summary reaches over *start*.
    Nothing refers to the messages in *hidden*.
    """
    context = RunContext.of(messages, rules_of(options), text_cache, options.recency_window)
    whole = {
        **dict.fromkeys(range(context.recent_from, len(messages)), "recency_window"),
        **find_untouchable(messages, options),
        **pinned,
    }
    tokens, said, pastes = text_cache.tokens, NO_FOLDS, frozenset[Key]()
    if options.profile == "standard":
        context = replace(context, hidden=hidden, shortens_beside_calls=True)
        said = fold_prose(messages, whole, context, start=start)
        pastes = find_pastes(messages, whole)
    recoded = recode(messages, whole, tokens, table=text_cache.codecs, pastes=pastes)
    return plan_lossless(
        messages, whole, recoded, tokens, hidden, shown=Shown(), said=said, pastes=pastes
    )


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
