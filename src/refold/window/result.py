"""What fitting a window gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic

from refold.result import M, ModelReport, Obstacle, Thinking


@dataclass(frozen=True, slots=True, kw_only=True)
class FitResult(Generic[M]):
    """A list to send, whether it fits, and what was done to make it."""

    messages: list[M]
    fits: bool
    tokens_before: int
    tokens_after: int
    tokens_available: int
    dropped_ids: tuple[str, ...] = ()
    """Messages that are gone from the list."""
    summarized_ids: tuple[str, ...] = ()
    """Messages that share one summary with others."""
    compressed_ids: tuple[str, ...] = ()
    """Messages that are shorter than they were."""
    steps: tuple[str, ...] = ()
    """What was tried, in order; empty if nothing had to be done."""
    first_changed: int = 0
    """Index of the first message that is not as it was: what a provider has cached up to here."""
    thinking: Thinking = "kept"
    """Whether thinking behind that place was left out, because it is bound to what came before."""
    warnings: tuple[str, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    """What is in the way when it does not fit."""
    verbatim: dict[str, Any] = field(default_factory=dict)
    """Originals of everything that was shortened or dropped, as in `Result.verbatim`.

    Results that reuse an earlier one share them with it: read them, but do not change them."""
    model: ModelReport | None = None

    @property
    def dropped(self) -> int:
        """How many messages are gone or share a summary."""
        return len(self.dropped_ids) + len(self.summarized_ids)

    @property
    def summarized(self) -> bool:
        """Whether anything was summarized."""
        return bool(self.summarized_ids)

    def __repr__(self) -> str:
        return (
            f"FitResult(messages={len(self.messages)}, fits={self.fits}, "
            f"tokens_before={self.tokens_before}, tokens_after={self.tokens_after}, "
            f"tokens_available={self.tokens_available}, steps={self.steps!r})"
        )
