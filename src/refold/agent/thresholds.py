"""Thresholds of a session: when it folds, and how far."""

from __future__ import annotations

from dataclasses import dataclass

from refold.checks import check_share
from refold.errors import ConfigError


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
