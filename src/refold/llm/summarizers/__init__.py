"""Models that write summaries, and wrappers: limits, retries, deadlines, caches, redaction.

Modules are loaded when a name of theirs is first used: callers without a model do not pay for them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from refold.llm.summarizers.base import (
    Summarizer,
    Summary,
    SummaryRequest,
    Usage,
    as_summarizer,
)

if TYPE_CHECKING:
    from refold.llm.summarizers.accounting import Accounting
    from refold.llm.summarizers.anthropic import AnthropicSummarizer
    from refold.llm.summarizers.cached import Cached, MemoryCache, SqliteCache
    from refold.llm.summarizers.chunking import Chunking
    from refold.llm.summarizers.failures import CircuitBreaker, Escalating, Retrying
    from refold.llm.summarizers.gemini import GeminiSummarizer
    from refold.llm.summarizers.limited import Limited, Limiter, WithTimeout
    from refold.llm.summarizers.models import create_escalating_summarizer, create_summarizer
    from refold.llm.summarizers.openai import OpenAISummarizer
    from refold.llm.summarizers.redacting import Redacting
    from refold.llm.summarizers.stack import resolve_summarizer, wrap_summarizer

_HOMES: Final = {
    "Accounting": "accounting",
    "AnthropicSummarizer": "anthropic",
    "Cached": "cached",
    "Chunking": "chunking",
    "CircuitBreaker": "failures",
    "Escalating": "failures",
    "GeminiSummarizer": "gemini",
    "Limited": "limited",
    "Limiter": "limited",
    "MemoryCache": "cached",
    "OpenAISummarizer": "openai",
    "Redacting": "redacting",
    "Retrying": "failures",
    "SqliteCache": "cached",
    "WithTimeout": "limited",
    "create_escalating_summarizer": "models",
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
    "Accounting",
    "AnthropicSummarizer",
    "Cached",
    "Chunking",
    "CircuitBreaker",
    "Escalating",
    "GeminiSummarizer",
    "Limited",
    "Limiter",
    "MemoryCache",
    "OpenAISummarizer",
    "Redacting",
    "Retrying",
    "SqliteCache",
    "Summarizer",
    "Summary",
    "SummaryRequest",
    "Usage",
    "WithTimeout",
    "as_summarizer",
    "create_escalating_summarizer",
    "create_summarizer",
    "resolve_summarizer",
    "wrap_summarizer",
]
