"""The summarizer of a compression manager: its model inside limits, retries, caches, redaction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Final

from refold.errors import ConfigError, ToolCallError
from refold.llm.summarizers.accounting import Accounting
from refold.llm.summarizers.base import (
    CheckedSummarizer,
    Summarizer,
    Summary,
    SummaryRequest,
    as_summarizer,
)
from refold.llm.summarizers.cached import Cached
from refold.llm.summarizers.chunking import Chunking
from refold.llm.summarizers.generate import DEFAULT_COMPRESSION_PROMPT, Generate, GenerateSummarizer
from refold.llm.summarizers.redacting import Redacting
from refold.llm.summarizers.stack import limit_calls, resolve_summarizer
from refold.scan.tokens.counter import TokenCounter
from refold.tools.policy import ManagerOptions

_TOOL_CALL: Final = re.compile(
    r"\s{0,20}(?:```\w{0,10}\s{1,5})?(?:<\|?/?(?:tool|function|antml:|invoke)[\w:|]{0,20}"
    r"|\{\s{0,20}\"(?:tool_calls?|function_call|tool_use)\"|\[TOOL_CALLS?\])",
    re.IGNORECASE,
)
"""How calls of tools begin that a model writes into its text."""


def build_summarizer(
    model: object, options: ManagerOptions, count_tokens: TokenCounter
) -> Summarizer:
    """Put everything around *model* that *options* ask for, from the inside out.

    The pieces of a long text are cached one by one, so that a failure loses none of the others;
    secrets are taken out before anything else sees the text.
    """
    inner = Counting(CheckedSummarizer(as_summarizer(model)))
    version = f"{getattr(model, 'version', '')}:{options.cache_version}"
    counted = Accounting(
        inner,
        price_per_million_input=options.price_per_million_input,
        price_per_million_output=options.price_per_million_output,
        count_tokens=count_tokens,
    )
    limited = limit_calls(counted, options.call_seconds, max_concurrent=options.max_concurrent)
    cached: Summarizer = Cached(NoToolCalls(limited), options.cache, version=version)
    if options.summarizer_window_tokens is not None:
        cached = Chunking(
            cached, max_tokens=options.summarizer_window_tokens, count_tokens=count_tokens
        )
    return Redacting(cached, find_secrets=options.find_secrets)


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
