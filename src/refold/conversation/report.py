"""What sessions and windows report: figures of a view, and the result of fitting a list."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, Self

from refold.result import BudgetReport, M, ModelReport, Obstacle, RefusedAnswer, Thinking


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """What the last view cost, and how much of it the provider has cached."""

    messages: int = 0
    """Messages in the view."""
    tokens: int = 0
    """Tokens of the view."""
    tokens_unfolded: int = 0
    """Tokens without folding."""
    first_changed: int = 0
    """Index of the first message that differs from the previous view."""
    cached_share: float = 0.0
    """Share of the view's tokens before that index."""
    counter_failures: int = 0
    """Texts on which the caller's token counter failed; they were estimated instead."""
    folds: int = 0
    """How often the session has folded."""
    thinking: Thinking = "kept"
    """Whether thinking was left out of the view because something before it has changed."""
    budget: BudgetReport | None = None
    """How the last fold kept its budget."""
    model: ModelReport | None = None
    """What a model was asked, and what that cost; `None` without one."""
    spent_usd: float | None = None
    """The cost of all views so far at list prices, without system prompt, tools and answers; `None`
    if the model's price is not known."""
    saved_usd: float | None = None
    """How much more it would have cost to send everything unfolded."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        spelt: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return spelt

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` has written."""
        return cls(**{**data, "budget": _budget(data["budget"]), "model": _model(data["model"])})


def _budget(data: Mapping[str, Any] | None) -> BudgetReport | None:
    if data is None:
        return None
    obstacles = tuple(Obstacle(**obstacle) for obstacle in data["obstacles"])
    return BudgetReport(**{**data, "rungs": tuple(data["rungs"]), "obstacles": obstacles})


def _model(data: Mapping[str, Any] | None) -> ModelReport | None:
    if data is None:
        return None
    refused = tuple(RefusedAnswer(**r) for r in data["refused"])
    return ModelReport(**{**data, "refused": refused, "failures": tuple(data["failures"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class FitResult(Generic[M]):
    """A list to send, whether it fits, and what was done to it."""

    messages: list[M]
    fits: bool
    tokens_before: int
    tokens_after: int
    tokens_available: int
    dropped_ids: tuple[str, ...] = ()
    """Messages that were dropped."""
    summarized_ids: tuple[str, ...] = ()
    """Messages that share one summary with others."""
    compressed_ids: tuple[str, ...] = ()
    """Messages that were shortened."""
    steps: tuple[str, ...] = ()
    """The steps that were tried, in order; empty if everything fit."""
    first_changed: int = 0
    """Index of the first changed message; a provider's cache is valid up to here."""
    thinking: Thinking = "kept"
    """Whether thinking after that message was removed."""
    warnings: tuple[str, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    """Messages that cannot be shortened, if it does not fit."""
    verbatim: dict[str, Any] = field(default_factory=dict)
    """Originals of everything shortened or dropped, as in `Result.verbatim`; do not change them,
    because other results share them."""
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
