"""Models that write summaries: clients of three providers, and what stands around any of them.

Modules are loaded when a name of theirs is first used: callers without a model do not pay for them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from refold.llm.summarizers.base import Summarizer, Summary, SummaryRequest, Usage, as_summarizer

if TYPE_CHECKING:
    from refold.llm.summarizers.anthropic import AnthropicSummarizer
    from refold.llm.summarizers.cached import Cached, MemoryCache, SqliteCache
    from refold.llm.summarizers.gemini import GeminiSummarizer
    from refold.llm.summarizers.limited import Limited, Limiter
    from refold.llm.summarizers.models import create_summarizer
    from refold.llm.summarizers.openai import OpenAISummarizer
    from refold.llm.summarizers.redacting import Redacting
    from refold.llm.summarizers.stack import resolve_summarizer, wrap_summarizer

_HOMES: Final = {
    "AnthropicSummarizer": "anthropic",
    "Cached": "cached",
    "GeminiSummarizer": "gemini",
    "Limited": "limited",
    "Limiter": "limited",
    "MemoryCache": "cached",
    "OpenAISummarizer": "openai",
    "Redacting": "redacting",
    "SqliteCache": "cached",
    "create_summarizer": "models",
    "resolve_summarizer": "stack",
    "wrap_summarizer": "stack",
}
"""The module of every name that is loaded late."""


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


__all__ = [
    "AnthropicSummarizer",
    "Cached",
    "GeminiSummarizer",
    "Limited",
    "Limiter",
    "MemoryCache",
    "OpenAISummarizer",
    "Redacting",
    "SqliteCache",
    "Summarizer",
    "Summary",
    "SummaryRequest",
    "Usage",
    "as_summarizer",
    "create_summarizer",
    "resolve_summarizer",
    "wrap_summarizer",
]
