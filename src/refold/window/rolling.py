"""A conversation that grows behind a rolling summary: the end word for word, the rest in short."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refold.model.wire import clone
from refold.summarizers.generate import Generate
from refold.tokens.counter import TokenCounter
from refold.tokens.estimate import estimate_tokens
from refold.window.manager import ContextWindowManager
from refold.window.result import FitResult


class RollingSummary:
    """Add what happens, send what `view` returns: at most *max_tokens*.

    Everything that was added is kept, and the view is derived from it. So a summary that fails
    loses nothing: the deterministic one is used instead, until the summary rolls on and the model
    is asked again, from the originals.
    """

    def __init__(
        self,
        *,
        max_tokens: int,
        llm: Generate | None = None,
        summarizer: object = None,
        counter: TokenCounter = estimate_tokens,
    ) -> None:
        self._manager = ContextWindowManager(
            context_limit=max_tokens,
            reserve_output_tokens=0,
            strategy="summarize",
            llm=llm,
            summarizer=summarizer,
            counter=counter,
            low_water=0.5,
        )
        self._messages: list[dict[str, Any]] = []

    def add(self, *messages: Mapping[str, Any]) -> None:
        """Add messages at the end; nothing is summarized before somebody looks."""
        self._messages.extend(clone(dict(message)) for message in messages)

    @property
    def messages(self) -> list[Any]:
        """Everything that was added, copied."""
        return [clone(message) for message in self._messages]

    def view(self) -> FitResult:
        """Return what to send; the summary rolls on if it has become too long."""
        return self._manager.fit(self._messages)

    async def aview(self) -> FitResult:
        """Do what `view` does without blocking the event loop."""
        return await self._manager.afit(list(self._messages))

    def __len__(self) -> int:
        return len(self._messages)
