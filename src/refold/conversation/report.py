"""What a session is told and what it tells: when it folds, and what its last view cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from refold.checks import check_share
from refold.errors import ConfigError
from refold.result import BudgetReport, ModelReport, Obstacle, RefusedAnswer, Thinking


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldThresholds:
    """When a session folds, and how far: high and low water, as shares of the token budget."""

    high_water: float = 0.9
    """Fold when the view has grown to this share of the budget."""
    low_water: float = 0.5
    """Fold down to this share, so that the next fold is far off."""
    min_gain: float = 0.1
    """Do not fold for less than this share of the budget, unless it must be."""
    growth: float = 0.5
    """Without a budget: fold when the unfolded tail has grown to this share of the view."""

    def __post_init__(self) -> None:
        for name in ("high_water", "low_water", "min_gain", "growth"):
            check_share(name, getattr(self, name))
        if not 0 < self.low_water <= self.high_water:
            raise ConfigError(
                "low_water must be above 0 and at most high_water, "
                f"got low_water={self.low_water!r}, high_water={self.high_water!r}"
            )


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
    refused = tuple(RefusedAnswer(**{**r, "missing": tuple(r["missing"])}) for r in data["refused"])
    return ModelReport(**{**data, "refused": refused, "failures": tuple(data["failures"])})
