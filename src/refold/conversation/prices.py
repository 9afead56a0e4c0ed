"""What tokens cost, by model: list prices.

`prices.txt` was written on 2026-11-16 from genai-prices 0.2.1 (MIT) and LiteLLM 1.106.2 (MIT), of
which neither is needed at run time. Below `## date source`, a row is `name input output read
written start input`: US dollars for a million tokens of the prompt, of the answer, read from the
provider's cache and written to it; then the price of the whole prompt once it has more than *start*
tokens, where that costs more. A dash stands for what is not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Final

from refold.conversation.models import key_of, spellings

_HEADING: Final = "## "
_UNKNOWN: Final = "-"
MILLION: Final = 1_000_000
"""The tokens that a list price is for."""
_MAX_NAME_CHARS: Final = 256
"""No model has a longer name; it bounds the spellings that are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens."""

    model: str
    """The name in the table that answered."""
    usd_per_million: float
    """Of the prompt."""
    output: float | None = None
    cache_read: float | None = None
    cache_written: float | None = None
    long_tokens: int | None = None
    """A prompt with more tokens costs `long_usd_per_million`, if that is known."""
    long_usd_per_million: float | None = None

    def cost_usd(self, tokens: int) -> float:
        """Return what one request with so many tokens of input costs."""
        is_long = self.long_tokens is not None and tokens > self.long_tokens
        rate = self.long_usd_per_million if is_long else self.usd_per_million
        return tokens * (rate or 0.0) / MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """The prices of one day, by the spelling-free key of each name."""

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
    text = files("refold.conversation").joinpath("prices.txt").read_text("utf-8")
    heading, _, rows = text.removeprefix(_HEADING).partition("\n")
    day, _, source = heading.partition(" ")
    prices = [_read(*row.split()) for row in rows.splitlines()]
    by_key = {key_of(price.model): price for price in prices}
    return PriceList(source=source, as_of=date.fromisoformat(day), prices=by_key)


def _read(name: str, rate: str, output: str, read: str, written: str, *long: str) -> Price:
    return Price(
        model=name,
        usd_per_million=float(rate),
        output=_known(output),
        cache_read=_known(read),
        cache_written=_known(written),
        long_tokens=int(long[0]) if long else None,
        long_usd_per_million=float(long[1]) if long else None,
    )


def _known(rate: str) -> float | None:
    return None if rate == _UNKNOWN else float(rate)
