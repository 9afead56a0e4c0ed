"""What the proxy has done, what it cost and would have cost, and what went wrong; no content."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from refold.conversation.models import MILLION, Price, list_prices
from refold.report.pieces import say_count
from refold.server.proxy.apis.base import Usage
from refold.server.proxy.request import Folded

_MOST_SESSIONS: Final = 200
"""How many sessions the page shows; the oldest are dropped first. Totals include all."""
_HOUR: Final = 3_600
_HOUR_PRICE: Final = 2.0
"""Of the price of the prompt: what it costs to write to a cache that lasts for an hour."""
_EDGES: Final = (0.5, 1, 2, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1e3, 2e3, 5e3)
"""The upper edges of a histogram's buckets, in milliseconds."""


def cost_of(price: Price, usage: Usage) -> float:
    """Return what the input of a request costs; the output costs the same before and after.

    A cache without a price of its own costs what the prompt does.
    """
    whole = price.usd_per_million
    read = whole if price.cache_read is None else price.cache_read
    written = whole if price.cache_written is None else price.cache_written
    return (
        usage.uncached * whole + usage.cache_read * read + usage.cache_written * written
    ) / MILLION


def cost_unfolded(
    price: Price, usage: Usage, *, saved_before: int, saved_now: int, known: int | None
) -> float:
    """Return what a request with this *usage* would have cost unfolded.

    Tokens that earlier requests saved would have been read from the cache, if this one read from
    it; those that it saves itself would have been written to it, if it wrote. Folding the beginning
    anew invalidates the cache: *known* tokens would have been read from it otherwise.
    """
    fresh = "cache_written" if usage.cache_written else "uncached"
    if known is not None:
        whole = usage.prompt + saved_before + saved_now
        read = min(known, whole)
        return cost_of(price, Usage(**{"cache_read": read, fresh: whole - read}))
    would = Counter(usage._asdict())
    would["cache_read" if usage.cache_read else fresh] += saved_before
    would[fresh] += saved_now
    return cost_of(price, Usage(**would))


class Histogram:
    """How long something took, in buckets."""

    def __init__(self) -> None:
        self.counts = [0] * (len(_EDGES) + 1)
        self.total_ms = 0.0

    def add(self, seconds: float) -> None:
        """Count one duration."""
        self.counts[bisect_left(_EDGES, 1000 * seconds)] += 1
        self.total_ms += 1000 * seconds

    @property
    def count(self) -> int:
        """How many durations were counted."""
        return sum(self.counts)

    def percentile(self, share: float) -> float | None:
        """Return the upper edge of the bucket that a *share* of all reaches, in milliseconds."""
        wanted, seen = share * self.count, 0
        for edge, count in zip((*_EDGES, _EDGES[-1]), self.counts, strict=True):
            seen += count
            if count and seen >= wanted:
                return edge
        return None


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
        for name in ("money_before", "money_after", "hour_saved"):
            figures[name] = round(figures[name], 6)
        figures["money_saved"] = round(self.money_before - self.money_after, 6)
        return figures


def figures_of(
    folded: Folded,
    bytes_before: int,
    usages: Sequence[Usage],
    price: Price | None,
    *,
    last_prompt: int = 0,
    idle_seconds: float = 0.0,
) -> Totals:
    """Return the figures of one request that was answered.

    *usages* are what the provider has reported, of each round. *price* is `None` for a model that
    is not listed, and for those who pay no price by tokens. *last_prompt* are the tokens of the
    prompt before this one in the session, so many seconds ago; 0 if there is none.
    """
    usages = [usage for usage in usages if usage.prompt]
    before, after, by_folds = folded.tokens_before, folded.tokens_after, folded.saved_by_folds
    stays_saved = folded.saved_before
    if usages:  # the provider's count is the one that is paid
        after = usages[0].prompt
        scale = after / folded.tokens_after if folded.tokens_after else 1.0
        by_folds, stays_saved = round(scale * by_folds), round(scale * stays_saved)
        before = round(scale * before) if before else after + stays_saved
    by_folds = min(by_folds, before - after)
    fetched = sum(usage.prompt for usage in usages[1:])
    total = Totals(
        answered=1,
        metered=bool(usages),
        folded=folded.body is not None,
        bytes_before=bytes_before,
        bytes_after=bytes_before if folded.body is None else len(folded.body),
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
    is_cold = bool(last_prompt and first.cache_written and not first.cache_read)
    total.cold = is_cold and not folded.is_refolded
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
        if first.cache_written and price.cache_written is not None and price.cache_read is not None:
            # A cache of an hour would still have had the last prompt; to write it costs more.
            kept = min(last_prompt, first.cache_written)
            kept = kept if total.cold and idle_seconds < _HOUR else 0
            hour = kept * price.cache_read
            hour += (first.cache_written - kept) * _HOUR_PRICE * price.usd_per_million
            total.hour_saved = (first.cache_written * price.cache_written - hour) / MILLION
    return total


@dataclass(slots=True)
class SessionStats:
    """The figures of one conversation of a client."""

    name: str
    api: str
    model: str = ""
    last_seen: float = 0.0
    last_prompt: int = 0
    """Tokens of its last prompt, as the provider counted them."""
    owner: tuple[str, str] = ("", "")
    """Its tenant, and its name within the tenant."""
    totals: Totals = field(default_factory=Totals)
    last: Folded = field(default_factory=Folded)
    """The outcome of its last request."""
    figures: Totals = field(default_factory=Totals)
    """The figures of that."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures for the page."""
        about = {"session": self.name, "api": self.api, "model": self.model}
        last = {"first_changed": self.last.first_changed, "thinking": self.last.thinking}
        return {**about, "last_seen": round(self.last_seen, 3), **last, **self.totals.to_dict()}

    def explain(self) -> dict[str, Any]:
        """Return what was made of the last request, and why."""
        about = {"session": self.name, "api": self.api, "model": self.model}
        last = {name: getattr(self.figures, name) for name in _EXPLAINED}
        last |= {"first_changed": self.last.first_changed, "thinking": self.last.thinking}
        return {**about, "why": say_why(self.last), "last": last, "requests": self.totals.requests}


_EXPLAINED: Final = (
    "tokens_before tokens_after bytes_before bytes_after shorter by_folds untouched cache_read "
    "cache_written"
).split()
"""The figures of its last request that explain a session."""
_REASONS: Final = {
    "cold": "the provider's cache had run out",
    "paid": "reading the long form had cost three times a fold",
    "full": "the budget, the window or the next step of the price was reached",
}


def say_why(last: Folded) -> str:
    """Say in a sentence why a request was sent as it was."""
    if last.why_not:
        return f"what is new went out as it came: {last.why_not}"
    if last.is_refolded:
        return f"all of it was folded anew: {_REASONS.get(last.why, 'a fold was ready')}"
    if last.is_late:
        due = f" (a fold, since {_REASONS[last.why]})" if last.why else ""
        return f"what it needed took too long{due}; the next request has it"
    if last.why:
        return f"a fold was due, since {_REASONS[last.why]}, but would have saved too little"
    if last.body is None and not last.tokens_after:
        return "it was passed on as it came"
    changed = "results were shortened" if last.tokens_after < last.tokens_before else "nothing new"
    return f"{changed}; what was sent before stays as it was, and no fold was due"


class Stats:
    """All figures of a proxy since it started."""

    def __init__(self) -> None:
        self.totals = Totals()
        self.sessions: OrderedDict[str, SessionStats] = OrderedDict()
        self.faults: Counter[str] = Counter()
        """Why requests were not folded or not answered, by kind."""
        self.folding = Histogram()
        self.added = Histogram()
        """The delay that the proxy added to requests."""
        self.passed = 0
        """Requests without messages, which passed through."""
        self.active = 0

    def session(self, name: str, api: str, model: str) -> SessionStats:
        """Return the figures of one session."""
        session = self.sessions.pop(name, None) or SessionStats(name, api)
        session.model = model or session.model
        self.sessions[name] = session
        while len(self.sessions) > _MOST_SESSIONS:
            self.sessions.popitem(last=False)
        return session

    def fault(self, kind: str) -> None:
        """Count a failure."""
        self.faults[kind] += 1
        self.totals.errors += 1

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        totals = self.totals.to_dict()
        money = {name: totals[f"money_{name}"] for name in ("before", "after", "saved")}
        prices = {"as_of": list_prices().as_of.isoformat(), "source": list_prices().source}
        return {
            **totals,
            "money": {**money, "unpriced": self.totals.unpriced, "currency": "USD", **prices},
            "passed": self.passed,
            "active": self.active,
            "faults": dict(self.faults),
            "latency_ms": {
                "fold_p50": self.folding.percentile(0.5),
                "fold_p99": self.folding.percentile(0.99),
                "added_p50": self.added.percentile(0.5),
                "added_p99": self.added.percentile(0.99),
            },
            "sessions": [session.to_dict() for session in reversed(self.sessions.values())],
        }

    def metrics(self) -> str:
        """Return the figures in the text format of Prometheus."""
        return "\n".join(self._metrics()) + "\n"

    def _metrics(self) -> Iterator[str]:
        for name, value in self.totals.to_dict().items():
            if name.endswith("_saved"):
                continue
            unit = "_dollars" if name.startswith("money") else ""
            yield f"# TYPE refold_{name}{unit}_total counter"
            yield f"refold_{name}{unit}_total {value}"
        yield "# TYPE refold_passed_total counter"
        yield f"refold_passed_total {self.passed}"
        yield "# TYPE refold_active_requests gauge"
        yield f"refold_active_requests {self.active}"
        yield "# TYPE refold_faults_total counter"
        for kind, count in sorted(self.faults.items()):
            yield f'refold_faults_total{{kind="{kind}"}} {count}'
        for name, histogram in (("fold", self.folding), ("added", self.added)):
            yield f"# TYPE refold_{name}_seconds histogram"
            below = 0
            for edge, count in zip(_EDGES, histogram.counts, strict=False):
                below += count
                yield f'refold_{name}_seconds_bucket{{le="{edge / 1000:g}"}} {below}'
            yield f'refold_{name}_seconds_bucket{{le="+Inf"}} {histogram.count}'
            yield f"refold_{name}_seconds_sum {histogram.total_ms / 1000:.6f}"
            yield f"refold_{name}_seconds_count {histogram.count}"


def summarize(stats: Mapping[str, Any]) -> list[str]:
    """Say in four lines what the figures of a proxy, as `Stats.to_dict` has them, come to."""
    if not stats.get("requests"):
        return ["no request came through the proxy"]
    before, after, money = stats["tokens_before"], stats["tokens_after"], stats["money"]
    is_estimated = stats["metered"] < stats["answered"]
    if money["before"]:
        notes = f", {stats['unpriced']:,} not priced" if stats["unpriced"] else ""
        notes += ", estimated" if is_estimated else ""
        bill = (
            f"${money['after']:.4f} instead of ${money['before']:.4f} for input "
            f"({_change(money['before'], money['after'])}, list prices of {money['as_of']}"
            f"{notes})"
        )
    else:
        source = "estimated" if is_estimated else "as the provider counts"
        change = _change(before, after)
        bill = f"{after:,} instead of {before:,} tokens of input ({change}, {source})"
    hour = stats["hour_saved"]
    each = stats["untouched"] // max(1, stats["answered"])
    return [
        f"{say_count(stats['requests'], 'request')} · {say_count(stats['refolds'], 'fold')} · "
        f"{bill}",
        f"tokens: shorter results −{stats['shorter']:,} · folds −{stats['by_folds']:,} · written "
        f"anew after folds {stats['rewritten']:,} · to fetch originals +{stats['fetched']:,}",
        f"cold cache: {say_count(stats['cold'], 'request')}; caches of an hour (--ttl 1h) would "
        f"have cost ${abs(hour):.4f} {'less' if hour > 0 else 'more'}",
        f"not touched: system prompt and tools, {each:,} tokens a request · late: "
        f"{say_count(stats['late'], 'request')} · {say_count(stats['errors'], 'error')}",
    ]


def _change(before: float, after: float) -> str:
    """Say by how much *after* is less than *before*; it is more where folds did not pay."""
    return f"{after / before - 1:+.0%}".replace("-", "−") if before else "−0%"
