"""When it pays to fold what was already sent: two sums and one comparison, no forecast.

Providers sell the beginning of a prompt that they have seen before at a tenth to a half of the
price. A fold changes that beginning, so all of the new view is written to the cache anew: it has to
save more than that later. Tokens are counted in units of one new token of input, and both bills,
what was spent and what sending everything would have cost, are known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Self

from refold.conversation.models import PriceList, list_prices

Reason = Literal["cold", "paid", "full"]
Landing = Literal["auto", "careful", "tight"]

PATIENCE: Final = 3
"""A fold must have paid for itself so often. 1 is never worse than twice the best of hindsight
(ski rental); 3 halves the number of folds for 2 points of the bill at most."""
SLACK: Final = 1.02
"""No run may cost more than this, measured by what sending everything would have cost."""
_COLD_GAIN: Final = 1.25
"""A cold cache is written anew in any case, but a fold of little use still costs values."""
_SHARE: Final = 0.3
LEAST: Final = 8_000
_MOST: Final = 24_000
"""Where a view lands: a share of the originals keeps what is lost level over the length of runs."""
_CAREFUL_SHARE: Final = 0.4
"""For callers who would rather pay than lose."""
_TIGHT: Final = 12_000
"""For models that read little, or badly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What a token costs that the provider's cache has, or that is written to it."""

    read: float = 0.05
    """Of the price of a new token; this is the cheapest that is sold."""
    written: float = 1.25
    seconds: float = 300.0
    """How long the cache remembers a prompt."""

    @classmethod
    def of(cls, model: str | None, prices: PriceList | None = None) -> Self:
        """Return the rates of *model*; of one that is not listed, those that favour folding least.

        Rates.of("claude-sonnet-4-5")  # read .1, written 1.25
        """
        price = (prices or list_prices()).find(model) if model else None
        if price is None or price.cache_read is None or not price.usd_per_million:
            return cls()
        written = price.cache_written or price.usd_per_million
        return cls(
            read=price.cache_read / price.usd_per_million, written=written / price.usd_per_million
        )


def landing_tokens(originals: int, way: Landing = "auto") -> int:
    """Return how large a view should be after a fold of so many tokens of *originals*.

    What a reader needs decides, not money, for which less is always better.
    """
    match way:
        case "auto":
            return min(_MOST, max(LEAST, int(_SHARE * originals)))
        case "careful":
            return max(LEAST, int(_CAREFUL_SHARE * originals))
        case "tight":
            return _TIGHT


@dataclass(slots=True, kw_only=True)
class Account:
    """The two bills of one conversation, and what a fold would have saved since the last one."""

    rates: Rates
    spent: float = 0.0
    """What was sent, in new tokens of input."""
    plain: float = 0.0
    """What sending everything would have cost."""
    saved: float = 0.0
    """What reading the view cost since the last fold, beyond reading a folded one."""

    def due(
        self, view: int, whole: int, landing: int, *, limit: int | None, cached: int, is_cold: bool
    ) -> Reason | None:
        """Return why to fold before the next request, or `None`; call it once for each request.

        - *view*: tokens of the view as it would be sent without a fold.
        - *whole*: tokens of everything; of these the last request would have left *cached*.
        - *landing*: tokens of the view after a fold.
        - *limit*: what the window, the next step of the price or the caller allow.
        - *is_cold*: whether the cache has run out.
        """
        if limit is not None and view > limit:
            return "full"
        if view <= landing:
            return None
        if is_cold:
            return "cold" if view > _COLD_GAIN * landing else None
        read, written = self.rates.read, self.rates.written
        self.saved += read * (view - landing)
        if self.saved < PATIENCE * (written - read) * landing:
            return None
        plain = self.plain + read * cached + written * (whole - cached)
        return "paid" if self.spent + written * landing <= SLACK * plain else None

    def note_sent(self, *, view: int, view_cached: int, whole: int, whole_cached: int) -> None:
        """Add a request to both bills: tokens in all, and those of them that the cache had."""
        read, written = self.rates.read, self.rates.written
        self.spent += read * view_cached + written * (view - view_cached)
        self.plain += read * whole_cached + written * (whole - whole_cached)

    def note_folded(self) -> None:
        """Begin anew to count what a fold would save."""
        self.saved = 0.0
