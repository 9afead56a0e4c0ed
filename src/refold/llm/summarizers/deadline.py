"""A deadline for each call, so that a model that hangs does not block the rest."""

from __future__ import annotations

import asyncio

from refold.checks import check_positive
from refold.llm.summarizers.base import (
    Summarizer,
    Summary,
    SummaryRequest,
    TextFunction,
    as_summarizer,
)


class WithTimeout:
    """Cancels a call that takes longer than *seconds* and raises a `TimeoutError` that says so.

    Inside `Retrying` each try has its own deadline; around it, all tries share one. A synchronous
    function cannot be stopped: it is no longer waited for, but its thread runs on.
    """

    def __init__(self, inner: Summarizer | TextFunction, seconds: float) -> None:
        check_positive("seconds", seconds)
        self._inner = as_summarizer(inner)
        self._seconds = seconds

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Return what *inner* answers in time."""
        scope = asyncio.timeout(self._seconds)
        try:
            async with scope:
                return await self._inner.summarize(request)
        except TimeoutError as error:
            if not scope.expired():  # the inner summarizer's own
                raise
            raise TimeoutError(
                f"the summarizer did not answer within {self._seconds:g} seconds; "
                "allow more with WithTimeout(seconds=...)"
            ) from error
