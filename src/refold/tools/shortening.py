"""Shorten one text: without loss if that is enough, by a model if there is one, by the engine.

The model is asked inside of a limit and a cache, and never shown a secret.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from refold.codecs import reencode
from refold.errors import ConfigError, ToolCallError
from refold.errors import describe as describe_error
from refold.fold.one_text import fold_text
from refold.llm.ask import Asker, Questions, Tally
from refold.llm.summarizers.base import (
    Summarizer,
    Summary,
    SummaryRequest,
    Usage,
    as_summarizer,
)
from refold.llm.summarizers.models import DEFAULT_COMPRESSION_PROMPT, Generate, GenerateSummarizer
from refold.llm.summarizers.stack import resolve_summarizer, wrap_summarizer
from refold.notation.notes import shortened_from, summarized_from
from refold.scan.redaction import hide_secrets
from refold.scan.secrets import find_secrets
from refold.scan.structure import is_json
from refold.scan.tokens.counter import TokenCounter
from refold.tools.candidates import Candidate, describe
from refold.tools.policy import ManagerOptions
from refold.tools.report import By, Status
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
_USELESS: Final = frozenset({"not_empty", "no_talk", "shorter"})
"""The checks that say: this is no summary at all. Then the model is left alone for a while."""


_TOOL_CALL: Final = re.compile(
    r"\s{0,20}(?:```\w{0,10}\s{1,5})?(?:<\|?/?(?:tool|function|antml:|invoke)[\w:|]{0,20}"
    r"|\{\s{0,20}\"(?:tool_calls?|function_call|tool_use)\"|\[TOOL_CALLS?\])",
    re.IGNORECASE,
)
"""How calls of tools begin that a model writes into its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of shortening one text."""

    status: Status
    short: str | None = None
    by: By = ""
    reason: str = ""
    usage: Usage = field(default_factory=Usage)
    attempts: int = 0
    """The calls of the model, failed ones included."""
    is_final: bool = False
    """Whether a retry can never help, since no model was involved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortener:
    """Shortens texts in the ways that the options allow; stateless."""

    options: ManagerOptions
    count: TokenCounter
    summarizer: Summarizer | None
    text_store: TextStore | None

    @property
    def is_free(self) -> bool:
        """Whether the prompt is the caller's own: an answer may leave out what it likes."""
        return self.options.prompt != DEFAULT_COMPRESSION_PROMPT

    async def shorten(self, candidate: Candidate, deadline: float | None) -> Outcome:
        """Return the short form of a text, or why there is none; errors are outcomes too."""
        text, text_store = candidate.found.text, self.text_store
        try:
            if text_store is not None:
                await asyncio.to_thread(
                    text_store.handle_of, text
                )  # asks the store, if anything does
            packed = await asyncio.to_thread(self._pack, candidate)
            # A prompt of the caller's own may want less, or another form.
            may_pack = not self.is_free or self.summarizer is None
            if packed is not None and may_pack and self._is_enough(candidate, packed):
                outcome = Outcome(status="compressed", short=packed, by="engine")
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
        return self.count(packed) <= min(most, candidate.target or most)

    def _pack(self, candidate: Candidate) -> str | None:
        """Return the text re-encoded without loss, if that saves enough."""
        text = candidate.found.text
        recoded = reencode(text, self.count)
        if recoded is None:
            return None
        packed = show_short(recoded.text, text, "", self.text_store)
        return packed if self._saves(candidate, packed) else None

    def _saves(self, candidate: Candidate, short: str) -> bool:
        now = candidate.shown_tokens
        is_shorter = len(short) < len(candidate.found.text)
        return is_shorter and self.count(short) <= int(now * (1 - self.options.min_saving))

    async def _ask(self, candidate: Candidate, deadline: float | None) -> Outcome:
        """Ask the model, if there is one that may be asked and if that pays."""
        summarizer = self.summarizer
        may_ask = candidate.policy == "model" and candidate.may_send
        if summarizer is None or not may_ask or not self._pays(candidate.tokens):
            return Outcome(status="skipped", is_final=True)
        if candidate.target is not None:
            summarizer = Capped(summarizer, candidate.target)
        text, tally = candidate.found.text, Tally()
        hide = partial(hide_secrets, find=self.options.find_secrets or find_secrets)
        context = await asyncio.to_thread(describe, candidate, hide)
        questions = Questions(write=(text,), contexts={text: context}, is_free=self.is_free)
        asker = Asker(summarizer=summarizer, count_tokens=self.count)
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
        checks = {refusal.check for refusal in tally.refused}
        whys = dict.fromkeys(f"{r.check}: {r.why}" for r in tally.refused)
        outcome = Outcome(
            status="skipped",
            reason="; ".join((*tally.failures, *whys)),
            usage=tally.usage,
        )
        if answer is None:
            if tally.failures:
                return replace(outcome, status="failed")
            return replace(outcome, status="rejected") if checks & _USELESS else outcome
        said = summarized_from(candidate.tokens, "tokens")
        short = show_short(answer, candidate.found.text, said, self.text_store)
        if not self._saves(candidate, short):
            return replace(outcome, reason=f"{outcome.reason}; it saves too little".lstrip("; "))
        return replace(outcome, status="compressed", short=short, by="model")

    def _pays(self, tokens: int) -> bool:
        """Tell whether the savings over the expected uses exceed the cost of asking."""
        written = _ANSWER_SHARE * tokens
        cost = self.options.price_factor * (_PROMPT_TOKENS + tokens + _OUTPUT_PRICE * written)
        return cost < (tokens - written) * self.options.expected_uses

    async def _fall_back(self, candidate: Candidate, packed: str | None, asked: Outcome) -> Outcome:
        """Shorten without a model: an excerpt if the policy allows loss, else the lossless form.

        Of JSON an excerpt would lose records and fields, which a model is told to preserve; only
        a policy that asks for excerpts gets one.
        """
        keeps_fields = candidate.policy == "model" and is_json(candidate.found.text)
        if candidate.policy != "lossless" and not keeps_fields:
            short = await asyncio.to_thread(self._fold, candidate, packed)
            if short is not None and self._saves(candidate, short):
                return replace(asked, status="compressed", short=short, by="engine")
        if packed is not None:
            return replace(asked, status="compressed", short=packed, by="engine")
        status: Status = "deferred" if asked.status == "deferred" else "rejected"
        return replace(asked, status=status, reason=asked.reason or "nothing shorter was found")

    def _fold(self, candidate: Candidate, packed: str | None) -> str | None:
        """Return an excerpt with a note of the size of the whole, unless *packed* is as short."""
        text = candidate.found.text
        most = candidate.target or int(_EXCERPT_SHARE * candidate.tokens)
        if packed is not None and self.count(packed) <= most:
            return packed
        short = fold_text(text, most, self.count)
        words = shortened_from(candidate.tokens, "tokens")
        return None if short is None else show_short(short, text, words, self.text_store)


def build_summarizer(model: object, options: ManagerOptions) -> Summarizer:
    """Put around *model* what every model gets, by the *options*."""
    return wrap_summarizer(
        NoToolCalls(Counting(as_summarizer(model))),
        cache=options.cache,
        version=f"{getattr(model, 'version', '')}:{options.cache_version}",
        max_concurrent=options.max_concurrent,
        call_seconds=options.call_seconds,
        find_secrets=options.find_secrets,
    )


class Attempts:
    """How often the model was called for one text, those calls too that failed or were retried."""

    def __init__(self) -> None:
        self.made = 0


_ATTEMPTS: Final[ContextVar[Attempts | None]] = ContextVar("attempts", default=None)


@contextmanager
def count_attempts() -> Iterator[Attempts]:
    """Count the calls that are made for what is asked inside, in this task and those it starts."""
    attempts = Attempts()
    token = _ATTEMPTS.set(attempts)
    try:
        yield attempts
    finally:
        _ATTEMPTS.reset(token)


class Counting:
    """Counts the calls that reach *inner*."""

    def __init__(self, inner: Summarizer) -> None:
        self._inner = inner

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Ask *inner*."""
        attempts = _ATTEMPTS.get()
        if attempts is not None:
            attempts.made += 1
        return await self._inner.summarize(request)


class NoToolCalls:
    """Refuses answers that are calls of tools: the model took up the work instead of the text."""

    def __init__(self, inner: Summarizer) -> None:
        self._inner = inner

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Return the answer, or raise if it is no readable text, so that it is not cached."""
        answer = await self._inner.summarize(request)
        found = _TOOL_CALL.match(answer.text)
        if found is not None and found[0].strip() not in request.text:
            raise ToolCallError("the model answered with a tool call", answer.usage)
        return answer


class Capped:
    """Asks for half of what was wished, and at most *max_tokens*: to get shorter than before."""

    def __init__(self, inner: Summarizer, max_tokens: int) -> None:
        self._inner = inner
        self._max_tokens = max_tokens

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Ask *inner* for a shorter answer than was wished."""
        most = min(max(1, request.max_tokens // 2), self._max_tokens)
        return await self._inner.summarize(replace(request, max_tokens=most))


def choose_model(
    generate: Generate | None, model: object, summarizer: object, prompt: str
) -> object:
    """Return the one that is given, as something that can be asked; a name is looked up."""
    given = [value for value in (generate, model, summarizer) if value is not None]
    if len(given) > 1:
        raise ConfigError("give generate, model or summarizer, only one of them")
    if generate is not None:
        return GenerateSummarizer(generate, prompt)
    if not given:
        return None
    if not isinstance(given[0], str):
        return as_summarizer(given[0])
    own = "" if prompt == DEFAULT_COMPRESSION_PROMPT else prompt
    return resolve_summarizer(given[0], system_prompt=own)
