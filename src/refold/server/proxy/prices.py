"""What requests cost: list prices by model, with reading from and writing to a provider's cache."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from refold.server.proxy.apis.base import Usage
from refold.window.model_names import key_of, spellings

_FILE: Final = "prices.txt"
_MILLION: Final = 1_000_000


class Price(NamedTuple):
    """US dollars per million tokens."""

    uncached: float
    output: float
    cache_read: float
    cache_written: float

    def of(self, usage: Usage) -> float:
        """Return what a request costs."""
        return (
            usage.uncached * self.uncached
            + usage.output * self.output
            + usage.cache_read * self.cache_read
            + usage.cache_written * self.cache_written
        ) / _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a request has cost, and what it would have cost as it came."""

    before: float
    after: float


@cache
def _prices() -> dict[str, Price]:
    table: dict[str, Price] = {}
    for row in (files(__package__) / _FILE).read_text("utf-8").splitlines():
        if row and not row.startswith("#"):
            name, uncached, output, read, written = row.split()
            full = float(uncached)
            table[key_of(name)] = Price(
                full,
                float(output),
                full if read == "-" else float(read),
                full if written == "-" else float(written),
            )
    return table


def price_of(model: str) -> Price | None:
    """Return the price of *model*; `None` if no spelling of it is known."""
    name = model.strip().lower()
    found = (_prices().get(key_of(spelling)) for spelling in (name, *spellings(name)))
    return next((price for price in found if price is not None), None)


def bill(
    price: Price, usage: Usage, *, saved_before: int, saved_now: int, known: int | None
) -> Bill:
    """Return what a request has cost, and what it would have cost unfolded.

    Tokens that earlier requests saved would have been read from the cache, if this one read from
    it; those that it saves itself would have been written to it, if it wrote. If its beginning was
    folded anew, the cache was lost for that: *known* tokens would have been read otherwise.
    """
    after = price.of(usage)
    whole = usage.prompt + saved_before + saved_now
    if known is not None:
        read = min(known, whole)
        would = usage._replace(cache_read=read, uncached=0, cache_written=whole - read)
        if not usage.cache_written:
            would = would._replace(cache_written=0, uncached=whole - read)
        return Bill(before=price.of(would), after=after)
    would = usage
    for saved, is_old in ((saved_before, True), (saved_now, False)):
        if is_old and would.cache_read:
            would = would._replace(cache_read=would.cache_read + saved)
        elif would.cache_written:
            would = would._replace(cache_written=would.cache_written + saved)
        else:
            would = would._replace(uncached=would.uncached + saved)
    return Bill(before=price.of(would), after=after)
