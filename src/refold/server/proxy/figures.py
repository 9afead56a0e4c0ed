"""What a request cost and would have cost unfolded: tokens, bytes and money."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from refold.conversation.models import MILLION, Price
from refold.server.proxy.apis.base import Usage
from refold.server.proxy.request import Folded

_HOUR: Final = 3_600
_HOUR_PRICE: Final = 2.0
"""Of the price of the prompt: what it costs to write to a cache that lasts for an hour."""
_BYTES_A_TOKEN: Final = 4
"""What English and code come to; for requests that nobody has counted."""


def cost_of(price: Price, usage: Usage) -> float:
    """Return what the input of a request costs; the output costs the same before and after.

    A cache without a price of its own costs what the prompt does, and a prompt that is long enough
    for a price of its own has all of it at that rate, caches included.
    """
    whole = price.usd_per_million
    read = whole if price.cache_read is None else price.cache_read
    written = whole if price.cache_written is None else price.cache_written
    for_hour = written if price.cache_written is None else _HOUR_PRICE * whole
    cost = (
        usage.uncached * whole
        + usage.cache_read * read
        + (usage.cache_written - usage.written_for_hour) * written
        + usage.written_for_hour * for_hour
    )
    if price.long_tokens and price.long_usd_per_million and usage.prompt > price.long_tokens:
        cost *= price.long_usd_per_million / whole
    return cost / MILLION


def cost_unfolded(
    price: Price, usage: Usage, *, saved_before: int, saved_now: int, known: int | None
) -> float:
    """Return what a request with this *usage* would have cost unfolded.

    Tokens that earlier requests saved would have been read from the cache, if this one read from
    it; those that it saves itself would have been written to it, if it wrote. Folding the beginning
    anew invalidates the cache: *known* tokens would have been read from it otherwise.
    """
    whole = usage.prompt + saved_before + saved_now
    if known is not None:
        read = min(known, whole)
    else:
        read = usage.cache_read + (saved_before if usage.cache_read else 0)
    uncached = min(usage.uncached, whole - read) if usage.cache_written else whole - read
    written = whole - read - uncached
    for_hour = written and round(written * usage.written_for_hour / usage.cache_written)
    return cost_of(price, Usage(uncached, read, written, written_for_hour=for_hour))


@dataclass(slots=True)
class Totals:
    """Figures of one request, of a session, or of all: they are added up.

    Tokens are those of whole requests, as their provider counted them where it says so. What was
    refused or not answered has saved nothing, and is only among the requests.
    """

    requests: int = 0
    answered: int = 0
    metered: int = 0
    """Requests whose provider has reported its usage; tokens of others are estimated."""
    folded: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    shorter: int = 0
    """Tokens that shorter results have saved."""
    by_folds: int = 0
    """Tokens that folds have saved."""
    rewritten: int = 0
    """Tokens that were sent anew because of folds, and were not in the provider's cache."""
    fetched: int = 0
    """Tokens of the requests that were made to fetch originals."""
    untouched: int = 0
    """Tokens of system prompts and tools."""
    prompt_tokens: int = 0
    output_tokens: int = 0
    cache_read: int = 0
    cache_written: int = 0
    cold: int = 0
    """Requests that found nothing in the cache of the one before."""
    money_before: float = 0.0
    money_after: float = 0.0
    hour_saved: float = 0.0
    """What caches of an hour would have saved; less than 0 if they had cost more."""
    unpriced: int = 0
    """Requests of unknown cost."""
    retrievals: int = 0
    refolds: int = 0
    late: int = 0
    """Requests that went out before a fold or reading them was done."""
    errors: int = 0

    def add(self, other: Totals) -> None:
        """Add other figures to these."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, and the differences that people look for."""
        figures: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        figures["tokens_saved"] = self.tokens_before - self.tokens_after
        figures["money_saved"] = self.money_before - self.money_after
        for name in ("money_before", "money_after", "money_saved", "hour_saved"):
            figures[name] = round(figures[name], 6)
        return figures


def figures_of(
    folded: Folded,
    bytes_before: int,
    usages: Sequence[Usage],
    price: Price | None,
    *,
    bytes_fetched: int = 0,
    last_prompt: int = 0,
    idle_seconds: float = 0.0,
    is_read_back: bool = False,
) -> Totals:
    """Return the figures of one request that was answered.

    Args:
        folded: what was made of it.
        bytes_before: its size as it came.
        usages: what the provider has reported, of each round.
        price: `None` for a model that is not listed, and for those who pay no price by tokens.
        bytes_fetched: the size of the further requests that fetched originals.
        last_prompt: the tokens of the prompt before this one in the session; 0 if there is none.
        idle_seconds: how long ago that was.
        is_read_back: whether the provider has reported before that it read from its cache.
    """
    usages = [usage for usage in usages if usage.prompt]
    before, after, by_folds = folded.tokens_before, folded.tokens_after, folded.saved_by_folds
    stays_saved = folded.saved_before
    bytes_after = bytes_before if folded.body is None else len(folded.body)
    if usages:  # the provider's count is the one that is paid
        after = usages[0].prompt
        scale = after / folded.tokens_after if folded.tokens_after else 1.0
        by_folds, stays_saved = round(scale * by_folds), round(scale * stays_saved)
        before = round(scale * before) if before else after + stays_saved
    elif not after:  # nobody has counted it
        after = bytes_after // _BYTES_A_TOKEN
        before = after + stays_saved
    by_folds = min(by_folds, before - after)
    fetched = sum(usage.prompt for usage in usages[1:])
    total = Totals(
        answered=1,
        metered=bool(usages),
        folded=folded.body is not None,
        bytes_before=bytes_before,
        bytes_after=bytes_after + bytes_fetched,
        tokens_before=before,
        tokens_after=after + fetched,
        shorter=before - after - by_folds,
        by_folds=by_folds,
        fetched=fetched,
        untouched=folded.tokens_beside,
        prompt_tokens=sum(usage.prompt for usage in usages),
        output_tokens=sum(usage.output for usage in usages),
        cache_read=sum(usage.cache_read for usage in usages),
        cache_written=sum(usage.cache_written for usage in usages),
        unpriced=price is None or not usages,
        refolds=folded.is_refolded,
    )
    if not usages:
        return total
    first = usages[0]
    # The first request of a subagent is in the same session, but nothing of it was sent before.
    was_cached = last_prompt and folded.tokens_known and (first.cache_written or is_read_back)
    ran_out = not folded.is_refolded or folded.why == "cold"
    total.cold = bool(was_cached and not first.cache_read and ran_out)
    if folded.is_refolded:
        total.rewritten = first.cache_written + first.uncached
    if price is not None:
        total.money_before = cost_unfolded(
            price,
            first,
            saved_before=stays_saved,
            saved_now=max(0, before - after - stays_saved),
            known=folded.tokens_known if folded.is_refolded and folded.why != "cold" else None,
        )
        total.money_after = sum(cost_of(price, usage) for usage in usages)
        if first.cache_written and price.cache_written is not None:
            # A cache of an hour would still have had the last prompt; to write it costs more.
            is_kept = total.cold and not folded.is_refolded and idle_seconds < _HOUR
            kept = min(last_prompt, first.cache_written) if is_kept else 0
            written = first.cache_written - kept
            hour = Usage(first.uncached, first.cache_read + kept, written, written_for_hour=written)
            total.hour_saved = cost_of(price, first) - cost_of(price, hour)
    return total
