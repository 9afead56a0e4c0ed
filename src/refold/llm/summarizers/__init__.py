"""Models that write summaries, and wrappers: limits, retries, deadlines, caches, redaction.

Everything is loaded when it is first asked for: who uses no model pays for none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from refold.llm.summarizers.base import (
    CheckedSummarizer,
    Summarizer,
    Summary,
    SummaryRequest,
    Usage,
    as_summarizer,
)

if TYPE_CHECKING:
    from refold.llm.summarizers.accounting import Accounting
    from refold.llm.summarizers.anthropic import AnthropicSummarizer
    from refold.llm.summarizers.breaker import CircuitBreaker
    from refold.llm.summarizers.cached import Cached
    from refold.llm.summarizers.caches import MemoryCache, SqliteCache
    from refold.llm.summarizers.chunking import Chunking
    from refold.llm.summarizers.deadline import WithTimeout
    from refold.llm.summarizers.gemini import GeminiSummarizer
    from refold.llm.summarizers.limited import Limited, Limiter
    from refold.llm.summarizers.llm import (
        Escalating,
        create_escalating_summarizer,
        create_summarizer,
    )
    from refold.llm.summarizers.openai import OpenAISummarizer
    from refold.llm.summarizers.redacting import Redacting
    from refold.llm.summarizers.resolve import resolve_summarizer
    from refold.llm.summarizers.retrying import Retrying

_HOMES: Final = {
    "Accounting": "accounting",
    "AnthropicSummarizer": "anthropic",
    "Cached": "cached",
    "Chunking": "chunking",
    "CircuitBreaker": "breaker",
    "Escalating": "llm",
    "GeminiSummarizer": "gemini",
    "Limited": "limited",
    "Limiter": "limited",
    "MemoryCache": "caches",
    "OpenAISummarizer": "openai",
    "Redacting": "redacting",
    "Retrying": "retrying",
    "SqliteCache": "caches",
    "WithTimeout": "deadline",
    "create_escalating_summarizer": "llm",
    "create_summarizer": "llm",
    "resolve_summarizer": "resolve",
}
"""The module of every name that is loaded late."""

_CALL_SECONDS: Final = 120
"""How long a call may take: models that think first take a minute and more. A guess."""


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def wrap_summarizer(summarizer: object) -> Summarizer:
    """Put the usual wrappers around whatever was given as a summarizer.

    A name such as `openai:gpt-5-mini` is looked up. At most four calls are under way at once, a
    call takes two minutes at most, what fails for a moment is tried again and what only fails is
    left alone, answers are remembered, and secrets stay in the process.
    """
    from refold.llm.summarizers.accounting import Accounting
    from refold.llm.summarizers.breaker import CircuitBreaker
    from refold.llm.summarizers.cached import Cached
    from refold.llm.summarizers.deadline import WithTimeout
    from refold.llm.summarizers.limited import Limited
    from refold.llm.summarizers.redacting import Redacting
    from refold.llm.summarizers.resolve import resolve_summarizer
    from refold.llm.summarizers.retrying import Retrying

    if isinstance(summarizer, str):
        summarizer = resolve_summarizer(summarizer)
    counted = Accounting(CheckedSummarizer(as_summarizer(summarizer)))
    # The breaker is inside the limit: once it opens, calls that waited for a slot fail at once.
    bounded = CircuitBreaker(WithTimeout(counted, _CALL_SECONDS))
    patient = Retrying(Limited(bounded))
    version = str(getattr(summarizer, "version", ""))
    return Redacting(Cached(patient, version=version))  # so that no cache sees a secret


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
