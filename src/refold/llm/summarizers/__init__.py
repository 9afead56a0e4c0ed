"""Models that write summaries: clients of three providers, and what stands around any of them.

Modules are loaded when a name of theirs is first used: callers without a model do not pay for them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from refold.llm.summarizers.base import Summarizer as Summarizer
from refold.llm.summarizers.base import Summary as Summary
from refold.llm.summarizers.base import SummaryRequest as SummaryRequest
from refold.llm.summarizers.base import Usage as Usage
from refold.llm.summarizers.base import as_summarizer as as_summarizer

if TYPE_CHECKING:
    from refold.llm.summarizers.calls import create_summarizer as create_summarizer
    from refold.llm.summarizers.clients import AnthropicSummarizer as AnthropicSummarizer
    from refold.llm.summarizers.clients import GeminiSummarizer as GeminiSummarizer
    from refold.llm.summarizers.clients import OpenAISummarizer as OpenAISummarizer
    from refold.llm.summarizers.stack import Cached as Cached
    from refold.llm.summarizers.stack import Limited as Limited
    from refold.llm.summarizers.stack import Limiter as Limiter
    from refold.llm.summarizers.stack import Redacting as Redacting
    from refold.llm.summarizers.stack import resolve_summarizer as resolve_summarizer
    from refold.llm.summarizers.stack import wrap_summarizer as wrap_summarizer


def __getattr__(name: str) -> Any:
    home = import_module(f"{__name__}.{'calls' if name == 'create_summarizer' else 'stack'}")
    if not hasattr(home, name):
        from refold.gone import missing  # only on the way to an error

        raise missing(__name__, name)
    return getattr(home, name)
