"""What refold no longer has: options, public names and flags, each with what to use instead.

One row for each, so that code written for an earlier version gets an error that names the new way.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

GONE_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "classifier": "give preserve_patterns or pins; detectors keep what has a structure",
        "classifier_mode": "give preserve_patterns or pins; detectors keep what has a structure",
        "entropy_scorer": "give a summarizer; sentences are scored by their content",
        "entropy_scorer_mode": "give a summarizer; sentences are scored by their content",
        "kinds": "results are cut by rules for lines; give preserve_patterns for what must stay",
        "ml_token_classifier": "give a summarizer: its answers are checked",
        "mode": "say it in system_prompt",
        "price_per_million_input": "multiply usage.input_tokens of the report by your price",
        "price_per_million_output": "multiply usage.output_tokens of the report by your price",
        "recursive": "uncompress() unfolds everything, however often it was folded",
        "window_share": 'token_budget="auto" respects the window of the model',
        "registry": 'token_budget="auto" respects the window of the model, or give a number',
        "thresholds": 'give a Session token_budget="auto", "careful" or a number',
        "summarizer_window_tokens": "texts that the model cannot take are shortened by the rules",
        "summary_format": "give llm, or a summarizer that writes the sections you want",
    }
)
"""Option → what to use instead, as the end of a sentence."""
GONE_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "FoldThresholds": 'give a Session token_budget="auto", "careful" or a number',
        "FactSheet": "a fold shows what later turns will need, and the store has the rest",
        "RollingSummary": 'use ContextWindowManager(strategy="summarize")',
        "create_classifier": "give preserve_patterns or pins",
        "create_escalating_classifier": "give preserve_patterns or pins",
        "create_escalating_summarizer": "use create_summarizer: it is asked twice",
        "TokenVerdict": "give a summarizer: its answers are checked",
        "SlidingWindow": 'use ContextWindowManager(strategy="sliding_window")',
        "send_fitting": "send manager.fit(messages).messages; if that is refused, manager.recover",
        "asend_fitting": "send what await manager.afit returns; if that is refused, arecover",
        "load_plugins": "give the rows: Compressor(detectors=[*DETECTORS, mine])",
        "MemoryCache": "use Cached(summarizer, MemoryStore())",
        "SqliteCache": 'use Cached(summarizer, SqliteStore("answers.db"))',
    }
)
"""Public name of the package → what to use instead, as the end of a sentence."""
GONE_FLAGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "--one-layer": "everything is unfolded, however often it was folded",
        "--search": "use --query",
        "--workers": "refold serve folds in one process; start another on a --port of its own",
        "--token-budget": "use --budget",
    }
)
"""Option of the command line → what to use instead."""


def missing(module: str, name: str) -> Exception:
    """Return what to raise for a name that *module* does not have.

    For one that is gone it is an `ImportError`: of any other, `from refold import FactSheet` would
    hide the reason.
    """
    if name in GONE_NAMES:
        return ImportError(f"{module}.{name} is gone: {GONE_NAMES[name]}")
    return AttributeError(f"module {module!r} has no attribute {name!r}")
