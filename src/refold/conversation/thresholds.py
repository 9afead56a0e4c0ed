"""When a growing conversation is folded, and how far: high and low water."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from refold.checks import check_share, check_whole
from refold.errors import ConfigError

_LOW_WATER: Final = 0.7
"""Low water as a share of high water. Tuned on `bench/attacks/growth.py` and `bench/loop.py`: at
0.8 a history of messages of 1 kB is folded at every sixth turn, and digests of digests make the
store of a view that is fed back more than twice the conversation; lower wastes more of the window.
"""


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
class WindowThresholds:
    """High and low water as shares of the tokens that messages may have.

    Rewriting a prompt costs its cached prefix, so it is done seldom and in batches.
    """

    high_water: float = 1.0
    """Act when a conversation has grown beyond this share."""
    low_water: float = _LOW_WATER
    """Bring it down to this share, so that the next turns fit too."""
    prepare_at: float = (1.0 + _LOW_WATER) / 2
    """Prepare in the background from this share on."""
    clear_at_least: int = 0
    """Tokens that acting must save: less is not worth a changed prefix, unless it must fit."""
    max_passes: tuple[int, int] | None = None
    """So many passes in so many turns at most, `(1, 5)` one in five, unless it must fit."""

    @classmethod
    def of(
        cls,
        high_water: object,
        low_water: object,
        prepare_at: object,
        clear_at_least: int,
        max_passes: object = None,
    ) -> WindowThresholds:
        """Check the shares; those that are `None` follow from the others."""
        high = _share("high_water", high_water)
        low = _share("low_water", _LOW_WATER * high if low_water is None else low_water)
        soft = _share("prepare_at", (low + high) / 2 if prepare_at is None else prepare_at)
        if not low <= soft <= high:
            raise ConfigError(
                "low_water, prepare_at and high_water must not fall, "
                f"got low_water={low!r}, prepare_at={soft!r}, high_water={high!r}"
            )
        check_whole("clear_at_least", clear_at_least)
        return cls(
            high_water=high,
            low_water=low,
            prepare_at=soft,
            clear_at_least=clear_at_least,
            max_passes=_rate(max_passes),
        )

    def target(self, total: int, available: int) -> int:
        """Return the tokens to aim at when *total* do not fit or are too close to it."""
        return max(1, min(int(self.low_water * available), total - self.clear_at_least))

    def is_spent(self, made_at: Iterable[int], turn: int) -> bool:
        """Tell whether no more passes may be made at *turn*, after those at the turns *made_at*."""
        if self.max_passes is None:
            return False
        most, turns = self.max_passes
        return sum(turn - made < turns for made in made_at) >= most


def _rate(value: object) -> tuple[int, int] | None:
    if value is None:
        return None
    match value:
        case (int(most), int(turns)) if most >= 1 and turns >= 1:
            return most, turns
    raise ConfigError(f"max_passes must be two whole numbers above 0, (1, 5); got {value!r}")


def _share(name: str, value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        raise ConfigError(f"{name} must be above 0 and at most 1, got {value!r}")
    return float(value)
