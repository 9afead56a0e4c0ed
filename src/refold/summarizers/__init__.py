"""Models that write summaries, and the wrappers that keep them on a leash."""

from __future__ import annotations

from refold.summarizers.base import (
    Summarizer,
    Summary,
    SummaryRequest,
    Usage,
    as_summarizer,
)


def guard(summarizer: object) -> Summarizer:
    """Put the usual wrappers around whatever was given as a summarizer."""
    return as_summarizer(summarizer)


__all__ = ["Summarizer", "Summary", "SummaryRequest", "Usage", "as_summarizer", "guard"]
