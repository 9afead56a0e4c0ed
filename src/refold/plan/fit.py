"""The way to every plan: with or without a budget, by any profile, as a provider accepts it."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Final

from refold.messages.folds import Fold, Plan, kept_fold
from refold.messages.handles import Handles
from refold.messages.message import Message
from refold.messages.provider import alternate, end_alike, is_checked, spread, strip_thinking
from refold.messages.token_count import CountedTexts, count_plan
from refold.messages.untouchable import find_untouchable
from refold.options import Options
from refold.plan.profiles import NO_PINS, BudgetTask, Preset, preset_of
from refold.plan.sealing import anchor_tokens, seal_plan
from refold.plan.text_cache import TextCache
from refold.result import BudgetReport, Obstacle
from refold.scan.tokens.choose import is_estimate
from refold.scan.tokens.counter import TokenCounter
from refold.scan.tokens.estimate import SAFETY_FACTOR, estimate_tokens

Planned = tuple[Plan, BudgetReport | None]

_MAX_REPLANS: Final = 3
"""How often a plan is made for less room because the order that a provider wants costs more."""


def fit_budget(
    messages: Sequence[Message],
    options: Options,
    text_cache: TextCache,
    target: int,
    *,
    pinned: Mapping[int, str] = NO_PINS,
    preset: Preset | None = None,
) -> tuple[Plan, BudgetReport]:
    """Make a plan of at most `token_budget` tokens, if possible; aim at *target*.

    The messages in *pinned* (index to reason) stay word for word, whatever they cost. The profile
    of the options decides how, unless another *preset* is given.
    """
    fit = begin_fit(messages, options, text_cache, pinned, preset or preset_of(options.profile))
    return fit(target, options.token_budget or 0)


def begin_fit(
    messages: Sequence[Message],
    options: Options,
    text_cache: TextCache,
    pinned: Mapping[int, str],
    preset: Preset,
) -> Callable[[int, int], tuple[Plan, BudgetReport]]:
    """Return a function that fits *messages* to a target and a budget; see `fit_budget`."""
    untouchable = {**find_untouchable(messages, options, preset.yielding), **pinned}
    fit = preset.fit(
        BudgetTask(
            messages=messages, options=options, text_cache=text_cache, untouchable=untouchable
        )
    )

    def fit_one(target: int, token_budget: int) -> tuple[Plan, BudgetReport]:
        plan, rungs = fit(target, token_budget)
        is_same = token_budget == options.token_budget
        choices = options if is_same else replace(options, token_budget=token_budget)
        return plan, report_budget(plan, choices, text_cache.tokens, rungs, untouchable)

    return fit_one


class Planner:
    """Plans conversations by one set of options; knows no store and no model, and is stateless."""

    def __init__(self, options: Options, counter: TokenCounter, conversation: str | None) -> None:
        self.options = options
        self.conversation = conversation
        self.preset = preset_of(options.profile)
        self._counter = counter

    def plan(
        self,
        messages: Sequence[Message],
        text_cache: TextCache,
        options: Options,
        target: int | None = None,
        *,
        pinned: Mapping[int, str] = NO_PINS,
    ) -> Planned:
        """Decide what happens to *messages*; under a budget, aim at *target*, if given.

        Under a budget, the messages in *pinned* (index to reason) stay word for word.
        """
        budget, threshold = options.token_budget, options.compression_threshold
        tokens = text_cache.tokens
        is_counted = budget is not None or threshold is not None
        total = sum(map(tokens.message, messages)) if is_counted else 0
        if threshold is not None and total < threshold:
            return _keep_all(messages), _left_alone(messages, total, options)
        if budget is None:
            return self._arrange(self.preset.shorten(messages, options, text_cache)), None
        aim = self.aim(budget, tokens) if target is None else target
        reserved = self.anchor_room(messages) if total > aim else 0
        fit = begin_fit(messages, options, text_cache, pinned, self.preset)
        # What a long handle adds is known once the stand-ins are: seldom anything.
        room = aim if self.preset.fits_sealed else max(0, aim - reserved)
        planned = self._fit_as_wanted(fit, tokens, budget, room, reserved)
        if self._is_longer(planned[0], tokens, total, reserved):
            plan = tuple(kept_fold(message, "anchor_reverted") for message in messages)
            untouchable = {**find_untouchable(messages, options, self.preset.yielding), **pinned}
            return plan, report_budget(plan, options, tokens, (), untouchable)
        return planned

    def plan_rest(
        self,
        messages: Sequence[Message],
        text_cache: TextCache,
        *,
        start: int,
        hidden: frozenset[int],
        pinned: Mapping[int, str],
        options: Options | None = None,
    ) -> Plan:
        """Decide what happens to the messages from *start* on, without a budget: see `Shorten`."""
        return self.preset.shorten(
            messages, options or self.options, text_cache, start=start, hidden=hidden, pinned=pinned
        )

    def _arrange(self, plan: Plan) -> Plan:
        """Return *plan* in an order that its provider accepts, ending as its conversation does."""
        return spread(plan) if self.options.same_count else end_alike(alternate(plan))

    def _fit_as_wanted(
        self,
        fit: Callable[[int, int], tuple[Plan, BudgetReport]],
        tokens: CountedTexts,
        budget: int,
        aim: int,
        reserved: int,
    ) -> Planned:
        """Fit a conversation into *aim* tokens, including what its provider wants.

        What that costs on top is taken off the room, a few times. Sealing adds about *reserved*
        tokens more; a plan that only sealing makes too long is made shorter once.
        """
        first = plan, report = fit(aim, budget)
        arranged, room = self._arrange(plan), aim
        for _ in range(_MAX_REPLANS):
            if arranged is plan or not room:
                break
            over = count_plan(arranged, tokens) - aim
            if over <= 0:
                break
            room = max(0, min(room, count_plan(plan, tokens)) - over)
            plan, report = fit(room, budget)
            arranged = self._arrange(plan)
        if not self.options.same_count and count_plan(arranged, tokens) > aim:
            bare = alternate(first[0])  # fitting matters more than how it ends
            if count_plan(bare, tokens) <= aim:
                arranged, report, room = bare, first[1], aim
        if not self.preset.fits_sealed or not report.fits:
            return arranged, report
        over = self._overshoot(arranged, tokens, budget, reserved)
        if over <= 0:
            return arranged, report
        for _ in range(_MAX_REPLANS):
            most = max(0, count_plan(plan, tokens) - over)
            plan, tight = fit(most, most)
            shorter = self._arrange(plan)
            over = self._overshoot(shorter, tokens, budget, reserved)
            if over <= 0:
                return shorter, replace(tight, token_budget=budget, obstacles=(), stopped_by="")
        if self.options.same_count:
            return arranged, report
        plan, least = fit(0, 0)  # what cannot fit keeps the task and the question
        return self._arrange(plan), replace(least, token_budget=budget)

    def _is_longer(self, plan: Plan, tokens: CountedTexts, total: int, reserved: int) -> bool:
        """Tell whether *plan*, as it is sent, costs more than the *total* of its messages.

        Short messages may cost less than what is added to a plan: an anchor (about *reserved*
        tokens), lines that keep the order a provider wants, notes of removed thinking.
        """
        if count_plan(self.unbind(plan), tokens) + reserved <= total:
            return False
        return count_plan(self.unbind(self.seal(plan)), tokens) > total

    def _overshoot(self, plan: Plan, tokens: CountedTexts, budget: int, reserved: int) -> int:
        """Return by how many tokens *plan* is over its *budget* once it is sealed.

        An anchor adds about *reserved* tokens.
        """
        if count_plan(plan, tokens) + reserved <= budget:
            return 0
        return count_plan(self.seal(plan), tokens) - budget

    def aim(self, budget: int, tokens: CountedTexts) -> int:
        """Return the tokens to aim at: fewer than *budget* where tokens are only estimated."""
        is_guess = is_estimate(self._counter) or tokens.failures > 0
        return int(budget / SAFETY_FACTOR) if is_guess else budget

    def anchor_room(self, messages: Sequence[Message]) -> int:
        """Return how many tokens the anchor in the first stand-in may add to a plan."""
        shows = self.preset.spelling.shows_handles or not all(m.has_envelope for m in messages)
        if self.conversation is not None or not shows:
            return 0
        return anchor_tokens(CountedTexts(self._counter, estimate_tokens))

    def seal(
        self,
        plan: Sequence[Fold],
        *,
        tokens: CountedTexts | None = None,
        handles: Handles | None = None,
    ) -> Plan:
        """Give the stand-ins of a plan unguessable and unique handles; see `seal_plan`."""
        is_named = self.conversation is not None
        plan = spread(tuple(plan)) if self.options.same_count else alternate(tuple(plan))
        is_final = self.preset.fits_sealed and self.options.token_budget is not None
        return seal_plan(
            plan, handles or Handles(), is_named=is_named, is_final=is_final, tokens=tokens
        )

    def unbind(
        self,
        plan: Plan,
        shown: Sequence[Fold] = (),
        rewritten: Container[int] = (),
        *,
        is_resumed: bool = False,
    ) -> Plan:
        """Return a plan without thinking that its provider would reject; see `strip_thinking`."""
        way, model = self.options.thinking, self.options.model
        if not is_checked(way, model):
            return plan
        is_named = self.conversation is not None
        return strip_thinking(plan, shown, rewritten, is_named=is_named, is_resumed=is_resumed)

    def report_sealed(self, plan: Plan, budget: BudgetReport, tokens: CountedTexts) -> Planned:
        """Return a sealed plan and its report, with what it costs now that it is sealed."""
        report = replace(budget, token_count=count_plan(plan, tokens))
        if report.fits or report.obstacles or report.stopped_by:
            return plan, report
        # Only the anchor was too much: everything left is an obstacle.
        sources = [source for fold in plan for source in fold.sources]
        must_stay = find_untouchable(sources, self.options)
        obstacles = find_obstacles(plan, tokens, must_stay, report.token_budget)
        return plan, replace(report, obstacles=obstacles)


def _keep_all(messages: Sequence[Message]) -> Plan:
    return tuple(kept_fold(message, "below_threshold") for message in messages)


def _left_alone(messages: Sequence[Message], total: int, options: Options) -> BudgetReport | None:
    """Report on the budget of a conversation that is below the threshold for folding."""
    if options.token_budget is None:
        return None
    limit = f"compression_threshold={options.compression_threshold}"
    return BudgetReport(
        token_budget=options.token_budget,
        token_count=total,
        recency_window=len(messages),
        stopped_by=limit if total > options.token_budget else "",
    )


def report_budget(
    plan: Plan,
    options: Options,
    tokens: CountedTexts,
    rungs: Sequence[str],
    untouchable: Mapping[int, str],
) -> BudgetReport:
    """Measure the finished *plan*; *untouchable* maps messages that must stay to the reason."""
    budget = options.token_budget or 0
    count = sum(map(tokens.fold, plan))
    is_over = count > budget
    stopped_by = _find_limit(options) if is_over else ""
    # What only an option keeps from being folded is reported as a whole, not message by message.
    limit = None if stopped_by else budget
    return BudgetReport(
        token_budget=budget,
        token_count=count,
        rungs=tuple(rungs),
        recency_window=_untouched_tail(plan),
        obstacles=find_obstacles(plan, tokens, untouchable, limit) if is_over else (),
        stopped_by=stopped_by,
    )


def find_obstacles(
    plan: Plan, tokens: CountedTexts, untouchable: Mapping[int, str], limit: int | None
) -> tuple[Obstacle, ...]:
    """Return what keeps a plan from fitting, the largest first: messages that must stay.

    If these alone are within *limit*, also what is left of the others.
    """
    whole: list[Obstacle] = []
    rest: list[Obstacle] = []
    for fold in plan:
        first, cost = fold.sources[0], tokens.fold(fold)
        if not cost:
            continue
        must_stay = fold.is_kept and first.index in untouchable
        reason = untouchable[first.index] if must_stay else _reason_of(fold)
        (whole if must_stay else rest).append(
            Obstacle(message_id=first.id, message_index=first.index, tokens=cost, reason=reason)
        )
    if limit is not None and sum(obstacle.tokens for obstacle in whole) <= limit:
        whole += rest
    return tuple(sorted(whole, key=lambda obstacle: -obstacle.tokens))


def _reason_of(fold: Fold) -> str:
    return next((outcome.reason for row in fold.outcomes for outcome in row), "")


def _find_limit(options: Options) -> str:
    """Return the option that keeps messages from being shortened further, if one does."""
    if preset_of(options.profile).loses_nothing:
        return f"profile={options.profile!r}"
    return "" if options.force_converge else "force_converge=False"


def _untouched_tail(plan: Plan) -> int:
    """Count the messages at the end that are unchanged."""
    count = 0
    for fold in reversed(plan):
        if not fold.is_kept:
            break
        count += len(fold.sources)
    return count
