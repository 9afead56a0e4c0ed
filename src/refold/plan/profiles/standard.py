"""The profile `standard`: re-encode without loss, then show what later turns will need.

Without a budget, tool results are re-encoded, and the rules summarize long prose. If a budget asks
for more, all texts are cut into pieces that compete by what would be lost without them: words and
values that are shown nowhere else, each weighted by how likely it is to be needed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from refold.classic.rules import recent_from
from refold.codecs.shown import Shown
from refold.fold.fold import Folder
from refold.fold.lay_out import YIELDING
from refold.fold.rate import Weights
from refold.fold.write import count_sources
from refold.messages.folds import SUMMARIZED, Outcome, Plan
from refold.messages.handles import handle_of
from refold.messages.message import Message
from refold.messages.token_count import count_plan
from refold.notation import marks
from refold.notation.recognize import body_of
from refold.options import Options
from refold.plan.by_rules import find_pastes, fold_prose
from refold.plan.profiles import NO_PINS, BudgetTask, Preset
from refold.plan.profiles.lossless import LosslessFitter, find_whole, since
from refold.plan.recode import (
    plan_lossless,
    recode,
)
from refold.plan.text_cache import TextCache


def recode_and_summarize(
    messages: Sequence[Message],
    options: Options,
    text_cache: TextCache,
    *,
    start: int = 0,
    hidden: frozenset[int] = frozenset(),
    pinned: Mapping[int, str] = NO_PINS,
) -> Plan:
    """Re-encode results and pastes without loss; summarize long prose by the rules.

    No summary crosses *start*.
    """
    recent = recent_from(messages, options.recency_window)
    whole, tokens = find_whole(messages, options, recent, pinned), text_cache.tokens
    prose = fold_prose(messages, whole, options, text_cache, start=start, hidden=hidden)
    pastes = find_pastes(messages, whole)
    recoded = recode(messages, whole, tokens, table=text_cache.codecs, pastes=pastes)
    plan = plan_lossless(
        messages, whole, recoded, tokens, hidden, shown=Shown(), prose=prose, pastes=pastes
    )
    return since(start, plan)


class StandardFitter:
    """Re-encodes if that is enough, and otherwise folds what later turns will need least."""

    def __init__(self, task: BudgetTask, weights: Weights | None = None) -> None:
        self._task = task
        self._folder = Folder(
            *(task.messages, task.untouchable, task.tokens),
            explains=task.options.trace,
            weights=weights,
        )
        self._fit_lossless = LosslessFitter(task)

    def __call__(self, target: int, token_budget: int, /) -> tuple[Plan, Sequence[str]]:
        """Plan for *target* tokens; what must stay may take the whole budget."""
        task = self._task
        if task.total <= target or not task.options.force_converge:
            return self._fit_lossless(target, token_budget)
        if target >= _LOSSLESS_SHARE * task.total and self._lossless[1] <= target:
            return self._lossless[0], ("lossless",)
        plan = self._folder.fold(target, max(target, token_budget))
        return add_model_summary(plan, task.text_cache), ("lossless", "select")

    @cached_property
    def _lossless(self) -> tuple[Plan, int]:
        """The plan that only re-encodes, and its tokens."""
        plan, _ = self._fit_lossless(0, 0)
        return plan, count_plan(plan, self._task.tokens)


_LOSSLESS_SHARE: Final = 0.4
"""With less room than this, re-encoding is hardly enough, and is not tried."""


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
    text_cache.note_use(summarized.texts[0], told)
    return (*plan[:place], summarized, *plan[place + 1 :])


def _transcribe(stretch: Sequence[Message]) -> Iterator[str]:
    """Yield the texts and calls of a stretch in order, with their roles."""
    for message in stretch:
        if message.is_turn:
            said = [part.text for part in message.parts if part.text.strip()]
            calls = [call.text for call in message.calls]
            # Not "user: ": an answer with such labels would look like turns and pass for a quote.
            yield from (f"({message.role})\n{text}" for text in (*said, *calls))


PRESET: Final = Preset(
    shorten=recode_and_summarize,
    fit=StandardFitter,
    yielding=YIELDING,
    fits_sealed=True,
    keeps_unread=True,
)
