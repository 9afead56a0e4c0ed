"""The way to every plan: with or without a budget, by any profile, as a provider accepts it.

    no budget:  shorten ─► arrange
    a budget:   fit ─► arrange (what its provider wants) ─► seal (what handles add) ─► fit again

What is added to a plan is known once there is one, so that a budget takes a few rounds.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Final

from refold.classic.budget import Ladder
from refold.classic.compress import plan_by_rules
from refold.classic.rules import Run, recent_from
from refold.figures import find_obstacles, report_budget
from refold.fold.fold import Folder
from refold.fold.lay_out import YIELDING
from refold.fold.rate import Weights
from refold.fold.whole import fold_prose, spell_all
from refold.fold.write import count_sources
from refold.messages.folds import SUMMARIZED, Fold, Outcome, Plan, kept_fold
from refold.messages.handles import Sizes, behind_of, handle_of, seal_plan, visible_handle
from refold.messages.message import Message
from refold.messages.provider import alternate, end_alike, is_checked, spread, strip_thinking
from refold.messages.token_count import CountedTexts, count_plan
from refold.messages.untouchable import find_untouchable
from refold.notation import marks
from refold.notation.recognize import body_of
from refold.notation.spelling import CLASSIC, PLAIN, Spelling
from refold.options import Options
from refold.result import BudgetReport
from refold.scan.tokens.choose import is_estimate
from refold.scan.tokens.counter import TokenCounter
from refold.scan.tokens.estimate import SAFETY_FACTOR, estimate_tokens
from refold.text_cache import TextCache

Planned = tuple[Plan, BudgetReport | None]
Fitted = tuple[Plan, BudgetReport]

NO_PINS: Final[Mapping[int, str]] = MappingProxyType({})
_MAX_REPLANS: Final = 3
"""How often a plan is made for less room because of what is added to it."""
_ANCHOR_TOKENS: Final = 14
"""Tokens of 28 letters on top of a short handle: enough for 99.99 % of 20,000 random ones, by the
estimate and by the tokenizers of gpt-4 and gpt-4o."""
_ANCHORS: Final = ("vmzdzbrninvqjhihdnfirfrdalga", "ukqlxkpvqhxohhqvyuxyniqgijxe")
"""What is counted to see whether another tokenizer takes more."""
_LOSSLESS_SHARE: Final = 0.4
"""With less room than this, respelling is hardly enough, and is not tried."""


class Planner:
    """Plans conversations by one set of options; knows no store and no model, and is stateless."""

    def __init__(
        self,
        options: Options,
        counter: TokenCounter,
        conversation: str | None,
        *,
        is_session: bool = False,
    ) -> None:
        self.options = options
        self.conversation = conversation
        self._needs_anchor = conversation is None and not is_session
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
            kept = tuple(kept_fold(message, "below_threshold") for message in messages)
            if budget is None:
                return kept, None
            limit = f"compression_threshold={threshold}" if total > budget else ""
            return kept, BudgetReport(
                token_budget=budget,
                token_count=total,
                recency_window=len(messages),
                stopped_by=limit,
            )
        if budget is None:
            return self._arrange(_shorten(messages, options, text_cache)), None
        aim = self.aim(budget, tokens) if target is None else target
        reserved = self.anchor_room(messages) if total > aim else 0
        fitter = Fitter(messages, options, text_cache, pinned)
        if self._is_standard:
            planned = self._fit_sealed(fitter, aim, budget, reserved)
        else:
            planned = self._fit_arranged(fitter, max(0, aim - reserved), budget)
        # Short messages may cost less than what is added to a plan: an anchor, lines that keep the
        # order a provider wants, notes of removed thinking.
        if self._over(planned[0], tokens, total, reserved) > 0:
            return fitter.keep("anchor_reverted", budget)
        return planned

    def _fit_sealed(self, fitter: Fitter, aim: int, budget: int, reserved: int) -> Fitted:
        """Fit a conversation so that it keeps its *budget* with its handles, as it is sent."""
        planned = plan, report = self._fit_arranged(fitter, aim, budget)
        if not report.fits:
            return planned
        over, rounds = self._over(plan, fitter.tokens, budget, reserved), 0
        while over > 0 and rounds < _MAX_REPLANS:
            most = max(0, report.token_count - over)
            bare, report = fitter.fit(most, most)
            plan = self._arrange(bare)
            over, rounds = self._over(plan, fitter.tokens, budget, reserved), rounds + 1
        if over <= 0:
            return plan, replace(report, token_budget=budget, obstacles=(), stopped_by="")
        if self.options.same_count:
            return planned
        bare, report = fitter.fit(0, 0)  # what cannot fit keeps the task and the question
        return self._arrange(bare), replace(report, token_budget=budget)

    def _fit_arranged(self, fitter: Fitter, aim: int, budget: int) -> Fitted:
        """Fit a conversation into *aim* tokens, including what its provider wants."""
        tokens, room = fitter.tokens, aim
        first = bare, report = fitter.fit(aim, budget)
        plan = self._arrange(bare)
        for _ in range(_MAX_REPLANS):
            over = count_plan(plan, tokens) - aim
            if plan is bare or not room or over <= 0:
                break
            room = max(0, min(room, report.token_count) - over)
            bare, report = fitter.fit(room, budget)
            plan = self._arrange(bare)
        if not self.options.same_count and count_plan(plan, tokens) > aim:
            shorter = alternate(first[0])  # fitting matters more than how it ends
            if count_plan(shorter, tokens) <= aim:
                return shorter, first[1]
        return plan, report

    def _arrange(self, plan: Plan) -> Plan:
        """Return *plan* in an order that its provider accepts, ending as its conversation does."""
        return spread(plan) if self.options.same_count else end_alike(alternate(plan))

    def _over(self, plan: Plan, tokens: CountedTexts, most: int, reserved: int) -> int:
        """Return by how many tokens *plan*, as it is sent, is over *most*.

        Sealing adds about *reserved* tokens; a plan with so much room to spare is not sealed.
        """
        if count_plan(self.unbind(plan), tokens) + reserved <= most:
            return 0
        return count_plan(self.unbind(self.seal(plan)), tokens) - most

    def aim(self, budget: int, tokens: CountedTexts) -> int:
        """Return the tokens to aim at: fewer than *budget* where tokens are only estimated."""
        is_guess = is_estimate(self._counter) or tokens.failures > 0
        return int(budget / SAFETY_FACTOR) if is_guess else budget

    def anchor_room(self, messages: Sequence[Message]) -> int:
        """Return how many tokens the anchor in the first stand-in may add to a plan.

        None where words are counted.
        """
        shows = self.spelling.shows_handles or not all(m.has_envelope for m in messages)
        if not (self._needs_anchor and shows):
            return 0
        count = CountedTexts(self._counter, estimate_tokens)
        extra = max(
            count(marks.excerpt("", anchor))
            - count(marks.excerpt("", anchor[: marks.HANDLE_CHARS]))
            for anchor in _ANCHORS
        )
        return max(_ANCHOR_TOKENS, extra) if extra > 0 else 0

    def seal(
        self,
        plan: Sequence[Fold],
        *,
        tokens: CountedTexts | None = None,
        sizes: Sizes | None = None,
    ) -> Plan:
        """Give the stand-ins of a plan unguessable and unique handles; see `seal_plan`."""
        plan = spread(tuple(plan)) if self.options.same_count else alternate(tuple(plan))
        lacking = marks.ANCHOR_CHARS if self._needs_anchor else 0
        if lacking and self._is_standard and self.options.has_budget:
            # It is not folded again with more: so the letters of all handles count together.
            folds = {behind_of(f.sources).fold for f in plan if f.is_marked and visible_handle(f)}
            lacking -= marks.HANDLE_CHARS * max(0, len(folds) - 1)
        return seal_plan(plan, sizes, lacking=lacking, tokens=tokens)

    def unbind(
        self,
        plan: Plan,
        previous: Sequence[Fold] = (),
        rewritten: Container[int] = (),
        *,
        is_resumed: bool = False,
    ) -> Plan:
        """Return a plan without thinking that its provider would reject; see `strip_thinking`."""
        if not is_checked(self.options.thinking, self.options.model):
            return plan
        is_named = self.conversation is not None
        return strip_thinking(plan, previous, rewritten, is_named=is_named, is_resumed=is_resumed)

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


class Fitter:
    """Fits one conversation to any number of budgets; what it read of it is shared by them.

    The messages in *pinned* (index to reason) stay word for word, whatever they cost. If it *rolls
    up*, no message is shortened by itself: the oldest stretch becomes one summary.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        options: Options,
        text_cache: TextCache,
        pinned: Mapping[int, str] = NO_PINS,
        *,
        rolls_up: bool = False,
        weights: Weights | None = None,
    ) -> None:
        self._messages, self._options, self._cache = messages, options, text_cache
        self._rolls_up, self._weights = rolls_up, weights
        self._is_by_rules = rolls_up or options.profile == "classic"
        yielding = () if self._is_by_rules else YIELDING
        self._untouchable = {**find_untouchable(messages, options, yielding), **pinned}
        self.tokens = text_cache.tokens

    def fit(self, target: int, budget: int) -> Fitted:
        """Make a plan of at most *budget* tokens, if possible; aim at *target*."""
        if self._is_by_rules:
            run = Run(
                self._messages,
                self._options,
                self._cache.reader,
                self._options.min_recency_window,
                self._cache.writer,
                pinned=self._untouchable,
                is_tried=True,
            )
            ladder = Ladder(run, self._cache.tables.rules, target)
            plan, rungs = ladder.climb(summarizes=not self._rolls_up)
        else:
            plan, rungs = self._fold(target, budget)
        return plan, self._report(plan, budget, rungs)

    def keep(self, reason: str, budget: int) -> Fitted:
        """Leave everything as it is, for one reason."""
        plan = tuple(kept_fold(message, reason) for message in self._messages)
        return plan, self._report(plan, budget, ())

    def _fold(self, target: int, budget: int) -> tuple[Plan, Sequence[str]]:
        """Respell if that is enough or all that is allowed; else fold what is needed least."""
        options, total = self._options, sum(map(self.tokens.message, self._messages))
        if total <= target:
            reasons = (self._untouchable.get(m.index, "within_budget") for m in self._messages)
            return tuple(map(kept_fold, self._messages, reasons)), ()
        if options.profile == "lossless" or not options.force_converge:
            return self._respelled[0], ("lossless",)
        if target >= _LOSSLESS_SHARE * total and self._respelled[1] <= target:
            return self._respelled[0], ("lossless",)
        plan = self._folder.fold(target, max(target, budget))
        return add_model_summary(plan, self._cache), ("lossless", "select")

    @cached_property
    def _respelled(self) -> tuple[Plan, int]:
        plan = spell_all(self._messages, self._untouchable, self.tokens, self._cache.codecs)
        return plan, count_plan(plan, self.tokens)

    @cached_property
    def _folder(self) -> Folder:
        return Folder(
            self._messages,
            self._untouchable,
            self.tokens,
            explains=self._options.trace,
            weights=self._weights,
        )

    def _report(self, plan: Plan, budget: int, rungs: Sequence[str]) -> BudgetReport:
        return report_budget(
            plan,
            budget,
            options=self._options,
            tokens=self.tokens,
            rungs=rungs,
            untouchable=self._untouchable,
        )


def _shorten(messages: Sequence[Message], options: Options, cache: TextCache) -> Plan:
    """Make a plan without a budget."""
    window, rules = options.recency_window, cache.tables.rules
    if options.profile == "classic":
        return plan_by_rules(Run(messages, options, cache.reader, window, cache.writer), rules)
    recent = range(recent_from(messages, window), len(messages))
    whole = {**dict.fromkeys(recent, "recency_window"), **find_untouchable(messages, options)}
    if options.profile == "lossless":
        return spell_all(messages, whole, cache.tokens, cache.codecs)
    # Copies refer to an earlier text, so what was sent before stays.
    by_rules = replace(options, profile="classic", keep_duplicate="first")
    run = Run(
        messages,
        by_rules,
        cache.reader,
        window,
        cache.writer,
        pinned=whole,
        shortens_beside_calls=True,
    )
    prose = fold_prose(run, rules)
    return spell_all(messages, whole, cache.tokens, cache.codecs, prose=prose, is_paste=True)


def add_model_summary(plan: Plan, text_cache: TextCache) -> Plan:
    """Replace the text of the oldest digest of *plan* by what a model wrote for it, if that fits.

    The checks have read it line by line: it invents and distorts nothing, and keeps more of the
    stretch per token than the digest. Without a model, or before it was asked, *plan* is returned.
    """
    place = next((n for n, fold in enumerate(plan) if fold.is_rolled), None)
    if place is None or not text_cache.can_ask:
        return plan
    digest = plan[place]
    stretch = "\n\n".join(_transcribe(digest.sources))
    summary = text_cache.written_for_stretch(stretch, body_of(digest.texts[0]))
    if summary is None:
        return plan
    body = marks.digest(summary, count_sources(digest.sources), handle_of(digest.sources))
    share = len(summary) // len(digest.sources)
    outcomes = tuple(
        (Outcome("digested", SUMMARIZED, m.chars, share, "" if n else summary),)
        for n, m in enumerate(digest.sources)
    )
    summarized = replace(digest, texts={0: body}, outcomes=outcomes)
    if text_cache.tokens.fold(summarized) > text_cache.tokens.fold(digest):
        return plan
    return (*plan[:place], summarized, *plan[place + 1 :])


def _transcribe(stretch: Sequence[Message]) -> Iterator[str]:
    """Yield the texts and calls of a stretch in order, with their roles."""
    for message in stretch:
        if message.is_turn:
            texts = [part.text for part in message.parts if part.text.strip()]
            calls = [call.text for call in message.calls]
            # Not "user: ": an answer with such labels would look like turns and pass for a quote.
            yield from (f"({message.role})\n{text}" for text in (*texts, *calls))
