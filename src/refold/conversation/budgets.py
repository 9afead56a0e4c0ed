"""How large a view may get, and what a fold brings it down to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self, get_args

from refold.checks import check_choice, check_whole
from refold.conversation.economics import LEAST, Landing, landing_tokens
from refold.conversation.models import DEFAULT_REGISTRY, PriceList, list_prices

_NUMBER_LANDS_AT: Final = 0.5
"""Of a budget in tokens: as much again comes before the next fold."""
_WINDOW_SHARE: Final = 0.8
"""Of a model's window: the rest is for system prompt, tools and the answer."""
_MIN_GROWTH: Final = 1.1
"""If a fold could not bring a view down to its budget, it must grow by this much before another
is tried."""
_SHARE: Final = re.compile(r"(\d{1,2}(?:\.\d+)?) ?%")


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
        rest = originals - fixed
        if isinstance(self.way, float):
            least = max(LEAST, int(self.way * rest)) // 2
            lands.append(max(LEAST, int(self.way * originals), fixed + least))
        elif self.way is not None:
            least = landing_tokens(rest, self.way) // 2
            lands.append(max(landing_tokens(originals, self.way), fixed + least))
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
