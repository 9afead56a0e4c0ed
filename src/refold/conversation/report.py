"""What sessions and windows report: figures of a view, and the result of fitting a list."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, Self

from refold.result import BudgetReport, M, ModelReport, Obstacle, RefusedAnswer, Thinking


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """What the last view cost, and how much of it the provider has already cached."""

    messages: int = 0
    """Messages in the view."""
    tokens: int = 0
    """Tokens of the view."""
    tokens_unfolded: int = 0
    """What they would be without folding."""
    first_changed: int = 0
    """Index in the view of the first message that the view before did not have there."""
    cached_share: float = 0.0
    """Share of the view's tokens before that index."""
    counter_failures: int = 0
    """Texts that the caller's token counter could not count, and that were estimated instead."""
    folds: int = 0
    """How often the session has folded so far."""
    thinking: Thinking = "kept"
    """Whether thinking was left out of the view, because something before it has changed."""
    budget: BudgetReport | None = None
    """How the budget was kept the last time it had to be."""
    model: ModelReport | None = None
    """What a model was asked so far, and what that has cost; `None` without one."""
    spent_usd: float | None = None
    """What all views so far cost at list prices, as far as the session knows: their messages,
    without system prompt, tools and answers. `None` if the price of the model is not known."""
    saved_usd: float | None = None
    """How much more it would have cost to send everything as it was given."""

    def to_dict(self) -> dict[str, Any]:
        """Spell it as JSON-ready data."""
        spelt: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return spelt

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` has spelt."""
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
    """What cannot be shortened when it does not fit."""
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
