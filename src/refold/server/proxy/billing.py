"""What a request has cost, and what it would have cost unfolded, the provider's cache included."""

from __future__ import annotations

from dataclasses import dataclass

from refold.server.proxy.apis.base import Usage
from refold.window.prices import MILLION, Price


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a request has cost, and what it would have cost as it came."""

    before: float
    after: float


def cost_of(price: Price, usage: Usage) -> float:
    """Return what a request costs; a cache without a price of its own costs what the prompt does.

    An answer whose price is not known counts for nothing: it costs the same before and after.
    """
    whole = price.usd_per_million
    read = whole if price.cache_read is None else price.cache_read
    written = whole if price.cache_written is None else price.cache_written
    return (
        usage.uncached * whole
        + usage.output * (price.output or 0.0)
        + usage.cache_read * read
        + usage.cache_written * written
    ) / MILLION


def bill(
    price: Price, usage: Usage, *, saved_before: int, saved_now: int, known: int | None
) -> Bill:
    """Return what a request has cost, and what it would have cost unfolded.

    Tokens that earlier requests saved would have been read from the cache, if this one read from
    it; those that it saves itself would have been written to it, if it wrote. If its beginning was
    folded anew, the cache was lost for that: *known* tokens would have been read otherwise.
    """
    after = cost_of(price, usage)
    whole = usage.prompt + saved_before + saved_now
    if known is not None:
        read = min(known, whole)
        would = usage._replace(cache_read=read, uncached=0, cache_written=whole - read)
        if not usage.cache_written:
            would = would._replace(cache_written=0, uncached=whole - read)
        return Bill(before=cost_of(price, would), after=after)
    would = usage
    for saved, is_old in ((saved_before, True), (saved_now, False)):
        if is_old and would.cache_read:
            would = would._replace(cache_read=would.cache_read + saved)
        elif would.cache_written:
            would = would._replace(cache_written=would.cache_written + saved)
        else:
            would = would._replace(uncached=would.uncached + saved)
    return Bill(before=cost_of(price, would), after=after)
