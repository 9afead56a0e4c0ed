"""What reading a conversation once costs, by model: list prices of input tokens.

`prices.txt` was written on 2026-11-16 from genai-prices 0.2.1 (MIT), which is not needed at run
time. Below `## date source`, a row is `name price start price`: US dollars for a million tokens of
input, and for the whole request once it has more than *start* tokens, where that costs more. What
was read from a provider's cache costs less, and answers cost more; neither is in here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Final

from refold.window.model_names import key_of, spellings

_HEADING: Final = "## "
_MILLION: Final = 1_000_000
_MAX_NAME_CHARS: Final = 256
USUAL_MODELS: Final = (
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "gpt-6.1-sol",
    "gpt-6.1-terra",
    "gemini-4-argon",
    "gemini-3.8-flash",
)
"""What is shown where nobody says which model reads: large and small ones of three makers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens that a model reads."""

    model: str
    """The name in the table that answered."""
    usd_per_million: float
    long_tokens: int | None = None
    """A request with more tokens costs `long_usd_per_million`, if that is known."""
    long_usd_per_million: float | None = None

    def cost_usd(self, tokens: int) -> float:
        """Return what one request with so many tokens of input costs."""
        is_long = self.long_tokens is not None and tokens > self.long_tokens
        rate = self.long_usd_per_million if is_long else self.usd_per_million
        return tokens * (rate or 0.0) / _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """The prices of one source, by the spelling-free key of each name."""

    source: str
    as_of: date
    prices: dict[str, Price]

    def find(self, model: str) -> Price | None:
        """Return the price of *model*, or `None` if no spelling of it is known."""
        name = model.strip().lower()
        if len(name) > _MAX_NAME_CHARS:
            return None
        found = (self.prices.get(key_of(one)) for one in (name, *spellings(name)))
        return next((price for price in found if price is not None), None)


@cache
def list_prices() -> PriceList:
    """Read the prices that come with refold."""
    text = files("refold.report").joinpath("prices.txt").read_text("utf-8")
    heading, _, rows = text.removeprefix(_HEADING).partition("\n")
    day, _, source = heading.partition(" ")
    prices = {}
    for row in rows.splitlines():
        name, rate, *long = row.split()
        prices[key_of(name)] = Price(
            model=name,
            usd_per_million=float(rate),
            long_tokens=int(long[0]) if long else None,
            long_usd_per_million=float(long[1]) if long else None,
        )
    return PriceList(source=source, as_of=date.fromisoformat(day), prices=prices)
