"""The way to every plan: with or without a budget, by any profile, as a provider accepts it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from refold.classic.budget import Ladder
from refold.classic.compress import plan_by_rules
from refold.classic.rules import RULES, Rule, Run, recent_from
from refold.fold.fold import Folder
from refold.fold.lay_out import YIELDING
from refold.fold.rate import Weights
from refold.fold.whole import fold_prose, spell_all
from refold.fold.write import count_sources
from refold.messages.folds import SUMMARIZED, Fold, Outcome, Plan, kept_fold
from refold.messages.handles import Sizes, handle_of, seal_plan
from refold.messages.message import Message
from refold.messages.provider import alternate, end_alike, is_checked, spread, strip_thinking
from refold.messages.token_count import CountedTexts, count_plan
from refold.messages.untouchable import find_untouchable
from refold.notation import marks
from refold.notation.recognize import body_of
from refold.notation.spelling import CLASSIC, PLAIN, Spelling
from refold.options import Options
from refold.result import BudgetReport, Obstacle
from refold.scan.tokens.choose import is_estimate
from refold.scan.tokens.counter import TokenCounter
from refold.scan.tokens.estimate import SAFETY_FACTOR, estimate_tokens
from refold.text_cache import TextCache

Planned = tuple[Plan, BudgetReport | None]
Fit = Callable[[int, int], tuple[Plan, BudgetReport]]
"""Fits a conversation to a target and a budget."""
Fitter = Callable[[int, int], tuple[Plan, Sequence[str]]]
"""The same; returns the names of the steps that it took."""

NO_PINS: Final[Mapping[int, str]] = MappingProxyType({})
_MAX_REPLANS: Final = 3
"""How often a plan is made for less room because the order that a provider wants costs more."""
_ANCHOR_TOKENS: Final = 14
"""Tokens of 28 letters on top of a short handle: enough for 99.99 % of 20,000 random ones, by the
estimate and by the tokenizers of gpt-4 and gpt-4o."""
_ANCHORS: Final = ("vmzdzbrninvqjhihdnfirfrdalga", "ukqlxkpvqhxohhqvyuxyniqgijxe")
"""What is counted to see whether another tokenizer takes more."""
_LOSSLESS_SHARE: Final = 0.4
"""With less room than this, respelling is hardly enough, and is not tried."""


def fit_budget(
    messages: Sequence[Message],
    options: Options,
    text_cache: TextCache,
    target: int,
    *,
    pinned: Mapping[int, str] = NO_PINS,
    rolls_up: bool = False,
    weights: Weights | None = None,
) -> tuple[Plan, BudgetReport]:
    """Make a plan of at most `token_budget` tokens, if possible; aim at *target*.

    The messages in *pinned* (index to reason) stay word for word, whatever they cost. If it *rolls
    up*, no message is shortened by itself: the oldest stretch becomes one summary.
    """
    fit = begin_fit(messages, options, text_cache, pinned, rolls_up=rolls_up, weights=weights)
    return fit(target, options.token_budget or 0)


def begin_fit(
    messages: Sequence[Message],
    options: Options,
    text_cache: TextCache,
    pinned: Mapping[int, str],
    *,
    rolls_up: bool = False,
    weights: Weights | None = None,
) -> Fit:
    """Return a function that fits *messages* to a target and a budget; see `fit_budget`."""
    by_rules = rolls_up or options.profile == "classic"
    untouchable = {**find_untouchable(messages, options, () if by_rules else YIELDING), **pinned}
    fit: Fitter
    if by_rules:

        def fit(target: int, _budget: int) -> tuple[Plan, Sequence[str]]:
            window = options.min_recency_window
            more = {"pinned": untouchable, "is_tried": True}
            run = _run(messages, options, text_cache, window, **more)
            return Ladder(run, _rules(text_cache), target).climb(summarizes=not rolls_up)

    else:
        fit = _fitter(messages, options, text_cache, untouchable, weights)

    def fit_one(target: int, token_budget: int) -> tuple[Plan, BudgetReport]:
        plan, rungs = fit(target, token_budget)
        is_same = token_budget == options.token_budget
        choices = options if is_same else replace(options, token_budget=token_budget)
        return plan, report_budget(plan, choices, text_cache.tokens, rungs, untouchable)

    return fit_one


def _fitter(
    messages: Sequence[Message],
    options: Options,
    cache: TextCache,
    untouchable: Mapping[int, str],
    weights: Weights | None,
) -> Fitter:
    """Respell if that is enough or all that is allowed; else fold what is needed least."""
    tokens = cache.tokens
    total = sum(map(tokens.message, messages))
    folder = Folder(messages, untouchable, tokens, explains=options.trace, weights=weights)
    spelled: list[tuple[Plan, int]] = []

    def respell() -> tuple[Plan, int]:
        if not spelled:
            plan = spell_all(messages, untouchable, tokens, cache.codecs)
            spelled.append((plan, count_plan(plan, tokens)))
        return spelled[0]

    def fit(target: int, token_budget: int) -> tuple[Plan, Sequence[str]]:
        if total <= target:
            reasons = (untouchable.get(m.index, "within_budget") for m in messages)
            return tuple(map(kept_fold, messages, reasons)), ()
        if options.profile == "lossless" or not options.force_converge:
            return respell()[0], ("lossless",)
        if target >= _LOSSLESS_SHARE * total and respell()[1] <= target:
            return respell()[0], ("lossless",)
        plan = folder.fold(target, max(target, token_budget))
        return add_model_summary(plan, cache), ("lossless", "select")

    return fit


def add_model_summary(plan: Plan, text_cache: TextCache) -> Plan:
    """Replace the text of the oldest digest of *plan* by what a model wrote for it, if that fits.

    The gates have checked it line by line: it invents and distorts nothing, and keeps more of the
    stretch per token than the digest. Without a model, or before it was asked, *plan* is returned.
    """
    place = next((n for n, fold in enumerate(plan) if fold.is_rolled), None)
    if place is None or not text_cache.has_writer:
        return plan
    digest = plan[place]
    told = "\n\n".join(_transcribe(digest.sources))
    summary = text_cache.written_for_stretch(told, body_of(digest.texts[0]))
    if summary is None:
        return plan
    count = count_sources(digest.sources)
    body = marks.digest(summary, count, handle_of(digest.sources))
    share = len(summary) // len(digest.sources)
    outcomes = tuple(
        (Outcome("digested", SUMMARIZED, m.chars, share, "" if n else summary),)
        for n, m in enumerate(digest.sources)
    )
    summarized = digest.changed(texts={0: body}, outcomes=outcomes)
    if text_cache.tokens.fold(summarized) > text_cache.tokens.fold(digest):
        return plan
    return (*plan[:place], summarized, *plan[place + 1 :])


def _transcribe(stretch: Sequence[Message]) -> Iterator[str]:
    """Yield the texts and calls of a stretch in order, with their roles."""
    for message in stretch:
        if message.is_turn:
            said = [part.text for part in message.parts if part.text.strip()]
            calls = [call.text for call in message.calls]
            # Not "user: ": an answer with such labels would look like turns and pass for a quote.
            yield from (f"({message.role})\n{text}" for text in (*said, *calls))


class Planner:
    """Plans conversations by one set of options; knows no store and no model, and is stateless."""

    def __init__(self, options: Options, counter: TokenCounter, conversation: str | None) -> None:
        self.options = options
        self.conversation = conversation
        self.spelling: Spelling = CLASSIC if options.profile == "classic" else PLAIN
        self._is_standard = options.profile == "standard"
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
            return self._arrange(_shorten(messages, options, text_cache)), None
        aim = self.aim(budget, tokens) if target is None else target
        reserved = self.anchor_room(messages) if total > aim else 0
        fit = begin_fit(messages, options, text_cache, pinned)
        # What a long handle adds is known once the stand-ins are: seldom anything.
        room = aim if self._is_standard else max(0, aim - reserved)
        planned = self._fit_as_wanted(fit, tokens, budget, room, reserved)
        if self._is_longer(planned[0], tokens, total, reserved):
            plan = tuple(kept_fold(message, "anchor_reverted") for message in messages)
            yielding = () if options.profile == "classic" else YIELDING
            untouchable = {**find_untouchable(messages, options, yielding), **pinned}
            return plan, report_budget(plan, options, tokens, (), untouchable)
        return planned

    def _arrange(self, plan: Plan) -> Plan:
        """Return *plan* in an order that its provider accepts, ending as its conversation does."""
        return spread(plan) if self.options.same_count else end_alike(alternate(plan))

    def _fit_as_wanted(
        self,
        fit: Fit,
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
        if not self._is_standard or not report.fits:
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
        """Return how many tokens the anchor in the first stand-in may add to a plan.

        None where words are counted.
        """
        shows = self.spelling.shows_handles or not all(m.has_envelope for m in messages)
        if self.conversation is not None or not shows:
            return 0
        count = CountedTexts(self._counter, estimate_tokens)
        short = [marks.excerpt("", anchor[: marks.HANDLE_CHARS]) for anchor in _ANCHORS]
        long = [marks.excerpt("", anchor) for anchor in _ANCHORS]
        extra = max(count(long[n]) - count(short[n]) for n in range(len(_ANCHORS)))
        return max(_ANCHOR_TOKENS, extra) if extra > 0 else 0

    def seal(
        self,
        plan: Sequence[Fold],
        *,
        tokens: CountedTexts | None = None,
        sizes: Sizes | None = None,
    ) -> Plan:
        """Give the stand-ins of a plan unguessable and unique handles; see `seal_plan`."""
        is_named = self.conversation is not None
        plan = spread(tuple(plan)) if self.options.same_count else alternate(tuple(plan))
        is_final = self._is_standard and self.options.has_budget
        return seal_plan(plan, sizes, is_named=is_named, is_final=is_final, tokens=tokens)

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


def _shorten(messages: Sequence[Message], options: Options, cache: TextCache) -> Plan:
    """Make a plan without a budget."""
    if options.profile == "classic":
        return plan_by_rules(_run(messages, options, cache, options.recency_window), _rules(cache))
    recent = recent_from(messages, options.recency_window)
    whole = {
        **dict.fromkeys(range(recent, len(messages)), "recency_window"),
        **find_untouchable(messages, options),
    }
    if options.profile == "lossless":
        return spell_all(messages, whole, cache.tokens, cache.codecs)
    # Copies refer to an earlier text, so what was sent before stays.
    by_rules = replace(options, profile="classic", keep_duplicate="first")
    more = {"pinned": whole, "shortens_beside_calls": True}
    run = _run(messages, by_rules, cache, options.recency_window, **more)
    prose = fold_prose(run, _rules(cache))
    return spell_all(messages, whole, cache.tokens, cache.codecs, prose=prose, is_paste=True)


def _run(
    messages: Sequence[Message], options: Options, cache: TextCache, window: int, **more: Any
) -> Run:
    """Let the rules look at a conversation, with a model if there is one."""
    write = cache.written if cache.can_ask else None
    return Run(messages, options, cache.reader, window, write, **more)


def _rules(cache: TextCache) -> Sequence[Rule]:
    return RULES if cache.tables.rules is None else cache.tables.rules


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
    if options.profile == "lossless":
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
