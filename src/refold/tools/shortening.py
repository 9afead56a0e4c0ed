"""Shorten one text: without loss if that is enough, by a model if there is one, by the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from refold.errors import describe as describe_error
from refold.llm.ask import Asker, Tally
from refold.llm.question import Questions
from refold.llm.summarizers.base import Summarizer, Usage
from refold.notation.notes import shortened_from, summarized_from
from refold.plan.one_text import is_structured, say_shorter, shorten_text
from refold.scan.tokens.counter import TokenCounter
from refold.tools.candidates import Candidate, describe
from refold.tools.report import By, Status
from refold.tools.summarizer_stack import Capped, count_attempts
from refold.tools.text_store import TextStore, show_short

_ENOUGH: Final = 0.5
"""A lossless form of at most this share of the tokens is good enough: no model is asked."""
_EXCERPT_SHARE: Final = 0.4
"""The share of a text's tokens that its excerpt may take."""
_ANSWER_SHARE: Final = 0.4
"""How much of a text its summary is expected to take. Like the two below a guess that only decides
whether asking pays: too high asks too seldom, too low pays for what is not used often enough."""
_PROMPT_TOKENS: Final = 200
"""Tokens of the prompt around a text."""
_OUTPUT_PRICE: Final = 4
"""The price of an output token, relative to an input token."""
_USELESS: Final = frozenset({"not_empty", "no_refusal", "shorter"})
"""The gates that say: this is no summary at all. Then the model is left alone for a while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of shortening one text."""

    status: Status
    short: str | None = None
    by: By = ""
    reason: str = ""
    missing: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    attempts: int = 0
    """The calls of the model, failed ones included."""
    is_final: bool = False
    """Whether a retry can never help, since no model was involved."""


class Shortener:
    """Shortens texts by the means that the options allow; stateless."""

    def __init__(
        self,
        *,
        summarizer: Summarizer | None,
        text_store: TextStore | None,
        count: TokenCounter,
        min_saving: float,
        expected_uses: float,
        price_factor: float,
        hide: Callable[[str], str],
    ) -> None:
        self._summarizer = summarizer
        self._text_store = text_store
        self._count = count
        self._min_saving = min_saving
        self._expected_uses = expected_uses
        self._price_factor = price_factor
        self._hide = hide

    async def shorten(self, candidate: Candidate, deadline: float | None) -> Outcome:
        """Return the short form of a text, or why there is none; errors are outcomes too."""
        text, text_store = candidate.found.text, self._text_store
        try:
            if text_store is not None:
                await asyncio.to_thread(
                    text_store.handle_of, text
                )  # asks the store, if anything does
            packed = await asyncio.to_thread(self._pack, candidate)
            if packed is not None and self._is_enough(candidate, packed):
                outcome = Outcome(status="compressed", short=packed, by="engine")
            elif is_structured(text):  # what of it matters, its structure says: no model is needed
                outcome = Outcome(status="skipped")
            else:
                outcome = await self._ask(candidate, deadline)
            if outcome.short is None and outcome.status not in ("failed", "rejected"):
                outcome = await self._fall_back(candidate, packed, outcome)
            if outcome.short is not None and text_store is not None:
                await asyncio.to_thread(text_store.keep, text)
        except Exception as error:  # noqa: BLE001 - stores and secret finders may be foreign
            return Outcome(status="failed", reason=describe_error(error))
        return outcome

    def _is_enough(self, candidate: Candidate, packed: str) -> bool:
        most = candidate.tokens * _ENOUGH
        if candidate.policy == "lossless":
            most = candidate.tokens
        return self._count(packed) <= min(most, candidate.target or most)

    def _pack(self, candidate: Candidate) -> str | None:
        """Say the same in fewer tokens, if that saves enough; nothing is lost."""
        text = candidate.found.text
        packed = say_shorter(text, self._count)
        if packed is None:
            return None
        packed = show_short(packed, text, "", self._text_store)
        return packed if self._saves(candidate, packed) else None

    def _saves(self, candidate: Candidate, short: str) -> bool:
        now = candidate.shown_tokens
        is_shorter = len(short) < len(candidate.found.text)
        return is_shorter and self._count(short) <= int(now * (1 - self._min_saving))

    async def _ask(self, candidate: Candidate, deadline: float | None) -> Outcome:
        """Ask the model, if there is one that may be asked and if that pays."""
        summarizer = self._summarizer
        may_ask = candidate.policy == "model" and candidate.may_send
        if summarizer is None or not may_ask or not self._pays(candidate.tokens):
            return Outcome(status="skipped", is_final=True)
        if candidate.target is not None:
            summarizer = Capped(summarizer, candidate.target)
        text, tally = candidate.found.text, Tally()
        context = await asyncio.to_thread(describe, candidate, self._hide)
        questions = Questions(write=(text,), contexts={text: context})
        asker = Asker(summarizer=summarizer, count_tokens=self._count)
        with count_attempts() as attempts:
            try:
                async with asyncio.timeout_at(deadline):
                    answers = await asker.answer(questions, tally)
            except TimeoutError:
                outcome = Outcome(status="deferred", reason="the pass was over", usage=tally.usage)
            else:
                outcome = self._read(candidate, answers.written.get(text), tally)
        return replace(outcome, attempts=attempts.made)

    def _read(self, candidate: Candidate, answer: str | None, tally: Tally) -> Outcome:
        """Judge an answer, together with everything that is added to it."""
        gates = {refusal.gate for refusal in tally.refused}
        whys = dict.fromkeys(f"{r.gate}: {r.why}" for r in tally.refused)
        outcome = Outcome(
            status="skipped",
            reason="; ".join((*tally.failures, *whys)),
            missing=tuple(dict.fromkeys(m for r in tally.refused for m in r.missing)),
            usage=tally.usage,
        )
        if answer is None:
            if tally.failures:
                return replace(outcome, status="failed")
            return replace(outcome, status="rejected") if gates & _USELESS else outcome
        said = summarized_from(candidate.tokens, "tokens")
        short = show_short(answer, candidate.found.text, said, self._text_store)
        if not self._saves(candidate, short):
            return replace(outcome, reason=f"{outcome.reason}; it saves too little".lstrip("; "))
        return replace(outcome, status="compressed", short=short, by="model")

    def _pays(self, tokens: int) -> bool:
        """Tell whether the savings over the expected uses exceed the cost of asking."""
        written = _ANSWER_SHARE * tokens
        cost = self._price_factor * (_PROMPT_TOKENS + tokens + _OUTPUT_PRICE * written)
        return cost < (tokens - written) * self._expected_uses

    async def _fall_back(self, candidate: Candidate, packed: str | None, asked: Outcome) -> Outcome:
        """Use what needs no model, unless the policy forbids to lose anything."""
        if candidate.policy != "lossless":
            short = await asyncio.to_thread(self._fold, candidate)
            if short is not None and self._saves(candidate, short):
                return replace(asked, status="compressed", short=short, by="engine")
        if packed is not None:
            return replace(asked, status="compressed", short=packed, by="engine")
        status: Status = "deferred" if asked.status == "deferred" else "rejected"
        return replace(asked, status=status, reason=asked.reason or "nothing shorter was found")

    def _fold(self, candidate: Candidate) -> str | None:
        """Let the engine show what says most, and say how much there was."""
        text = candidate.found.text
        most = candidate.target or int(_EXCERPT_SHARE * candidate.tokens)
        short = shorten_text(text, most, self._count)
        if short is None:
            return None
        words = "" if short.is_lossless else shortened_from(candidate.tokens, "tokens")
        return show_short(short.text, text, words, self._text_store)
