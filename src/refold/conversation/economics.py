"""When it pays to fold what was already sent: two sums and one comparison, no forecast.

Providers sell the beginning of a prompt that they have seen before at a tenth to a half of the
price. A fold changes that beginning, so all of the new view is written to the cache anew: it has to
save more than that later. Tokens are counted in units of one new token of input, and both bills,
what was spent and what sending everything would have cost, are known exactly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, Self, get_args

from refold.checks import check_choice, check_whole
from refold.conversation.models import DEFAULT_REGISTRY, PriceList, list_prices

Reason = Literal["cold", "paid", "full"]
Landing = Literal["auto", "careful", "tight"]

PATIENCE: Final = 3
"""A fold must have paid for itself so often. 1 is never worse than twice the best of hindsight
(ski rental); 3 halves the number of folds for 2 points of the bill at most."""
SLACK: Final = 1.02
"""No run may cost more than this, measured by what sending everything would have cost."""
_COLD_GAIN: Final = 1.25
"""A cold cache is written anew in any case, but a fold of little use still costs values."""
_LEAST: Final = 8_000
"""Tokens that a view may always have: of a short run, a share alone is next to nothing."""
_LANDINGS: Final[dict[Landing, tuple[float, int, int]]] = {
    "auto": (0.3, _LEAST, 24_000),
    "careful": (0.4, _LEAST, 10**9),  # for callers who would rather pay than lose
    "tight": (0.0, 12_000, 12_000),  # for models that read little, or badly
}
"""Where a view lands: a share of the originals, and the fewest and the most tokens. A share keeps
what is lost level over the length of runs."""
_NUMBER_LANDS_AT: Final = 0.5
"""Of a budget in tokens: as much again comes before the next fold."""
_WINDOW_SHARE: Final = 0.8
"""Of a model's window: the rest is for system prompt, tools and the answer."""
_MIN_GROWTH: Final = 1.1
"""If a fold could not bring a view down to its budget, it must grow by this much before another
is tried."""
_SHARE: Final = re.compile(r"(\d{1,2}(?:\.\d+)?) ?%")


def landing_tokens(originals: int, way: Landing | float = "auto") -> int:
    """Return how large a view should be after a fold of so many tokens of *originals*.

    What a reader needs decides, not money, for which less is always better.
    """
    share, least, most = (way, _LEAST, 10**9) if isinstance(way, float) else _LANDINGS[way]
    return min(most, max(least, int(share * originals)))


@dataclass(frozen=True, slots=True)
class Budget:
    """What a caller gave as `token_budget`; without tokens and a way, nothing is ever folded."""

    tokens: int | None = None
    """What no view may exceed."""
    way: Landing | float | None = None
    """What it is brought down to where that pays; `None` if only the tokens count."""
    high: float = 1.0
    """The share of the tokens above which a view is folded."""
    low: float = _NUMBER_LANDS_AT
    """The share of the tokens that a fold brings it down to."""
    least_gain: int = 0
    """Tokens that a fold must save, unless the view is above the tokens."""
    is_exact: bool = False
    """Whether a margin for estimates is taken off the tokens already."""

    @classmethod
    def of(cls, value: object) -> Self:
        """Read "auto", "careful", "tight", "30%", a number of tokens, or `None`.

        Raises `ConfigError` for anything else.
        """
        if value is None:
            return cls()
        if not isinstance(value, str):
            check_whole("token_budget", value)
            assert isinstance(value, int)
            return cls(tokens=value)
        share = _SHARE.fullmatch(value)
        if share is not None and float(share[1]):
            return cls(way=float(share[1]) / 100)
        check_choice("token_budget", value, get_args(Landing))
        return cls(way=value)  # type: ignore[arg-type]  # just checked

    @property
    def is_open(self) -> bool:
        """Whether there is none."""
        return self.tokens is None and self.way is None

    def landing(
        self, originals: int, fixed: int, most: int | None, view: int = 0, unread: int = 0
    ) -> int:
        """Return how large a *view* is after a fold of so many tokens of *originals*.

        - *fixed*: those of the instructions at the beginning, which no fold makes shorter: half of
          what a conversation without them would get is left for everything else.
        - *most*: of a budget in tokens, how much may be filled.
        - *unread*: tokens of results that no model has read yet; they stay whole if they fit.
        """
        lands = [10**9]
        if self.way is not None:
            least = fixed + landing_tokens(originals - fixed, self.way) // 2
            lands.append(max(landing_tokens(originals, self.way), least))
        if most is not None:
            share = max(int(self.low * most), fixed + int(self.low * (most - fixed)) // 2)
            if fixed + unread <= most:
                share = max(share, fixed + unread + int(self.low * (most - fixed)) // 2)
            lands.append(min(most, share))
        if self.least_gain:
            lands.append(max(1, view - self.least_gain))
        return min(lands)

    def limit(self, landed: int, most: int) -> int:
        """Return the size above which a view is folded that *most* tokens may fill."""
        return min(most, max(int(self.high * most), int(_MIN_GROWTH * landed)))

    def step(self, model: str | None, landed: int, prices: PriceList | None) -> int:
        """Return the size above which a view is folded in any case, after it *landed* at a size.

        That is of the model, the next step of its price, or its window if no tokens are given.
        """
        window = DEFAULT_REGISTRY.find(model) if model and self.tokens is None else None
        price = (prices or list_prices()).find(model) if model else None
        limits = [10**9]
        if window is not None:
            limits.append(window.max_input_tokens or window.context_tokens)
        if price is not None and price.long_tokens is not None:
            limits.append(price.long_tokens)
        return max(int(_WINDOW_SHARE * min(limits)), int(_MIN_GROWTH * landed))


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
