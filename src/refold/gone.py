"""What refold no longer has: options and public names, each with what to use instead.

One row for each, so that code written for an earlier version gets an error that names the new way.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

GONE_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "summary_format": "give llm, or a summarizer that writes the sections you want",
    }
)
"""Option → what to use instead, as the end of a sentence."""
GONE_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "FactSheet": "a fold shows what later turns will need, and the store has the rest",
        "RollingSummary": 'use ContextWindowManager(strategy="summarize")',
        "SlidingWindow": 'use ContextWindowManager(strategy="sliding_window")',
        "load_plugins": "give the rows: Compressor(detectors=[*DETECTORS, mine])",
    }
)
"""Public name of the package → what to use instead, as the end of a sentence."""
