"""Summarizers by name: `openai:gpt-5-mini`, `ollama:llama3`, `openai:m@http://localhost:8000/v1`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final, Unpack

from refold.errors import ConfigError
from refold.llm.summarizers.anthropic import AnthropicSummarizer
from refold.llm.summarizers.base import Summarizer
from refold.llm.summarizers.gemini import GeminiSummarizer
from refold.llm.summarizers.openai import OpenAISummarizer
from refold.llm.summarizers.prompt import PromptOptions

_AT_URL: Final = re.compile(r"@(?=https?://)")


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
