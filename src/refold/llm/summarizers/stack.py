"""Summarizers ready for use: looked up by name, and inside what stands around every model.

Names are `openai:gpt-5-mini`, `ollama:llama3`, `openai:m@http://localhost:8000/v1`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final, Unpack

from refold.errors import ConfigError
from refold.llm.summarizers.anthropic import AnthropicSummarizer
from refold.llm.summarizers.base import Summarizer, as_summarizer
from refold.llm.summarizers.cached import Cache, Cached
from refold.llm.summarizers.gemini import GeminiSummarizer
from refold.llm.summarizers.limited import CALL_SECONDS, Limited, Limiter
from refold.llm.summarizers.openai import OpenAISummarizer
from refold.llm.summarizers.prompt import PromptOptions
from refold.llm.summarizers.redacting import Redacting
from refold.scan.redaction import SecretFinder

_AT_URL: Final = re.compile(r"@(?=https?://)")

PROVIDERS: Final[dict[str, Callable[..., Summarizer]]] = {
    "openai": OpenAISummarizer,
    "anthropic": AnthropicSummarizer,
    "gemini": GeminiSummarizer,
    "ollama": partial(OpenAISummarizer, base_url="http://localhost:11434/v1"),
}
"""Who makes the summarizers of each provider; `base_url` is passed only if the name has one."""


def resolve_summarizer(
    name: str, *, api_key: str | None = None, **options: Unpack[PromptOptions]
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
    return make(model, api_key=api_key, **place, **options)


def wrap_summarizer(
    summarizer: object,
    *,
    cache: Cache | None = None,
    version: str = "",
    max_concurrent: int | Limiter = 4,
    call_seconds: float = CALL_SECONDS,
    find_secrets: SecretFinder | None = None,
) -> Summarizer:
    """Put around *summarizer* what every model gets: a limit, a deadline, a cache, redaction.

    A name such as `openai:gpt-5-mini` is looked up. Redaction is outermost, so that neither the
    cache nor the model sees a secret.
    """
    if isinstance(summarizer, str):
        summarizer = resolve_summarizer(summarizer)
    version = f"{getattr(summarizer, 'version', '')}:{version}"
    limited = Limited(
        as_summarizer(summarizer), max_concurrent=max_concurrent, seconds=call_seconds
    )
    return Redacting(Cached(limited, cache, version=version), find_secrets=find_secrets)
