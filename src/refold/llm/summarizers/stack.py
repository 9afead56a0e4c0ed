"""Summarizers ready for use: looked up by name, and inside the usual wrappers.

Names are `openai:gpt-5-mini`, `ollama:llama3`, `openai:m@http://localhost:8000/v1`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final, Unpack

from refold.errors import ConfigError
from refold.llm.summarizers.accounting import Accounting
from refold.llm.summarizers.anthropic import AnthropicSummarizer
from refold.llm.summarizers.base import CheckedSummarizer, Summarizer, as_summarizer
from refold.llm.summarizers.cached import Cached
from refold.llm.summarizers.failures import CircuitBreaker, Retrying
from refold.llm.summarizers.gemini import GeminiSummarizer
from refold.llm.summarizers.limited import Limited, Limiter, WithTimeout
from refold.llm.summarizers.openai import OpenAISummarizer
from refold.llm.summarizers.prompt import PromptOptions
from refold.llm.summarizers.redacting import Redacting

_AT_URL: Final = re.compile(r"@(?=https?://)")
_CALL_SECONDS: Final = 120
"""How long a call may take: models that think first take a minute and more. A guess."""

PROVIDERS: Final[dict[str, Callable[..., Summarizer]]] = {
    "openai": OpenAISummarizer,
    "anthropic": AnthropicSummarizer,
    "gemini": GeminiSummarizer,
    "ollama": partial(OpenAISummarizer, base_url="http://localhost:11434/v1"),
}
"""Who makes the summarizers of each provider; `base_url` is passed only if the name has one."""


def resolve_summarizer(
    name: str,
    *,
    api_key: str | None = None,
    timeout_seconds: float = 30.0,
    **options: Unpack[PromptOptions],
) -> Summarizer:
    """Make the summarizer that *name* stands for: `provider:model`, or `provider:model@url`.

    Keys that are not given are looked for by the provider's SDK, as always.
    """
    provider, colon, rest = name.partition(":")
    make = PROVIDERS.get(provider)
    if make is None or not colon:
        raise ConfigError(
            f"summarizer must be provider:model, where provider is one of {', '.join(PROVIDERS)}; "
            f"got {name!r}"
        )
    model, *urls = _AT_URL.split(rest, maxsplit=1)
    if not model.strip():
        raise ConfigError(f"summarizer {name!r} names no model; write {provider}:model")
    place = {"base_url": urls[0]} if urls else {}
    return make(model, api_key=api_key, timeout_seconds=timeout_seconds, **place, **options)


def wrap_summarizer(summarizer: object) -> Summarizer:
    """Put the usual wrappers around *summarizer*, which may be anything that can be one.

    A name such as `openai:gpt-5-mini` is looked up. At most four calls run at once, each for two
    minutes at most; transient failures are retried, a summarizer that keeps failing is not asked
    for a while, answers are cached, and secrets stay in the process.
    """
    if isinstance(summarizer, str):
        summarizer = resolve_summarizer(summarizer)
    counted = Accounting(CheckedSummarizer(as_summarizer(summarizer)))
    version = str(getattr(summarizer, "version", ""))
    # Redaction is outermost, so that no cache sees a secret.
    return Redacting(Cached(limit_calls(counted, _CALL_SECONDS), version=version))


def limit_calls(
    inner: Summarizer, call_seconds: float, *, max_concurrent: int | Limiter = 4
) -> Summarizer:
    """Limit how long calls of *inner* take and how many overlap; retry them, or pause after many.

    The breaker is inside the limit: once it opens, calls that waited for a slot fail at once.
    """
    bounded = CircuitBreaker(WithTimeout(inner, call_seconds))
    return Retrying(Limited(bounded, max_concurrent=max_concurrent))
