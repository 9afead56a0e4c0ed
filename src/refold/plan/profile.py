"""Plan a conversation for an agent: say the same shorter, then show what later turns will need.

Without a budget, every tool result is re-encoded without loss, and in the profile `standard` what
is said at length goes by the rules. If a budget asks for more, all texts are cut into pieces, and
the pieces compete by what would be lost without them: words and values that are shown nowhere else,
each worth how likely it is to be needed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType

from refold.codecs import Codec
from refold.codecs.shown import Shown
from refold.lazy import Lazy
from refold.messages.message import Message
from refold.notation.recognize import body_of
from refold.options import Options
from refold.plan.budget_report import report_budget
from refold.plan.conversation import Conversation, worth_items
from refold.plan.fold import SUMMARIZED, Fold, Outcome, Plan
from refold.plan.layout import YIELDING, Key
from refold.plan.minimal import plan_minimal
from refold.plan.prose import find_pastes, fold_prose, rules_of
from refold.plan.recode import (
    NO_FOLDS,
    Recoded,
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
    planner = ProfilePlanner(messages, options, text_cache, pinned=pinned, weights=weights)
    return planner.plan(target)


class ProfilePlanner:
    """Plans one conversation, for one target or several: all that they share is made once."""

    def __init__(
        self,
        messages: Sequence[Message],
        options: Options,
        text_cache: TextCache,
        *,
        pinned: Mapping[int, str] = MappingProxyType({}),
        weights: Weights | None = None,
    ) -> None:
        self._messages = messages
        self._options = options
        self._text_cache = text_cache
        self._tokens = text_cache.tokens
        self._codecs = text_cache.codecs
        self._pinned = pinned
        self._weights = weights

    def plan(
        self, target: int | None, token_budget: int | None = None
    ) -> tuple[Plan, BudgetReport | None]:
        """Plan for *target* tokens, if given; see `plan_profile`.

        The *token_budget* is that of the options unless another one is given.
        """
        messages, options, tokens = self._messages, self._options, self._tokens
        if target is None:
            return plan_shorter(messages, options, self._text_cache), None
        if token_budget is not None:
            options = replace(options, token_budget=token_budget)
        rungs: list[str] = []
        if self._total <= target:
            whole = dict.fromkeys(range(len(messages)), "within_budget") | self._untouchable
            plan = plan_lossless(messages, whole, {}, tokens)
        elif options.profile == "standard" and options.force_converge:
            plan, rungs = self._plan_standard(target, max(target, options.token_budget or 0))
            plan = add_model_summary(plan, self._text_cache)
        else:
            shorter = recode(messages, self._untouchable, tokens, table=self._codecs)
            plan = plan_lossless(messages, self._untouchable, shorter, tokens, shown=Shown())
            rungs = ["lossless"]
        return plan, report_budget(plan, options, tokens, rungs, self._untouchable)

    @cached_property
    def _total(self) -> int:
        """The tokens of all messages as they are."""
        return sum(map(self._tokens.message, self._messages))

    @cached_property
    def _untouchable(self) -> dict[int, str]:
        return {**_find_untouchable(self._messages, self._options), **self._pinned}

    @cached_property
    def _in_parts(self) -> tuple[dict[Key, Recoded], int]:
        """The texts said shorter in ways that leave their parts readable, and what all costs so."""
        return self._recode(self._codecs.in_parts)

    @cached_property
    def _in_any_way(self) -> tuple[dict[Key, Recoded], int]:
        """The texts said shorter in whatever way, and what all costs so."""
        return self._recode(None)

    def _recode(self, codecs: Sequence[Codec] | None) -> tuple[dict[Key, Recoded], int]:
        messages, whole, tokens = self._messages, self._untouchable, self._tokens
        recoded = recode(messages, whole, tokens, codecs, table=self._codecs)
        return recoded, cost_lossless(messages, whole, recoded, tokens)

    @cached_property
    def _conversation(self) -> Conversation:
        """The conversation read for a selection."""
        messages, tokens = self._messages, self._tokens
        opened = open_texts(messages, self._untouchable, tokens, self._codecs)
        shown = {key: made.text for key, made in (self._in_parts[0] | opened).items()}
        return Conversation(messages, tokens, self._options.preserve, shown)

    def _plan_standard(self, target: int, limit: int) -> tuple[Plan, list[str]]:
        """Say everything shorter if that is enough, and else show what later turns will need.

        What is selected is not what was shown, so no text refers to another one, and texts are said
        shorter only in ways that leave their parts readable, unless all of it can be shown. Where
        neither is enough, not even without the task and the question, both are kept, and little
        else.
        """
        messages, tokens, untouchable = self._messages, self._tokens, self._untouchable
        shorter, cost = self._in_parts
        rest = self._codecs.as_a_whole
        if cost > target and may_save(cost - target, messages, untouchable, tokens, rest):
            shorter, cost = self._in_any_way
        if cost <= target:
            return plan_lossless(messages, untouchable, shorter, tokens), ["lossless"]
        newest = recode_newest(messages, untouchable, shorter, tokens)
        plan, chosen = self._select(target, limit, untouchable, newest)
        if chosen > limit:
            stays = {i: why for i, why in untouchable.items() if why not in YIELDING}
            bare, least_cost = self._select(target, limit, stays, newest)
            if least_cost <= target:
                return bare, ["lossless", "select"]
            least = plan_minimal(messages, untouchable, tokens)
            if sum(map(tokens.fold, least)) < cost:
                return least, ["lossless", "select", "least"]
        if chosen < cost:
            return plan, ["lossless", "select"]
        return plan_lossless(messages, untouchable, shorter, tokens), ["lossless"]

    def _select(
        self, target: int, limit: int, stays: Mapping[int, str], newest: Mapping[int, Fold]
    ) -> tuple[Plan, int]:
        """Show what later turns will need beside what *stays*; return what that costs, too."""
        weights = self._weights or learned_weights()
        selected = Selection(
            self._conversation,
            self._tokens,
            target=target,
            limit=limit,
            untouchable=stays,
            worths=Lazy(lambda: worth_items(self._conversation, weights, target)),
            newest=newest,
            explains=self._options.trace,
        ).make()
        return selected, sum(map(self._tokens.fold, selected))


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
    if place is None or not text_cache.has_writer:
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
