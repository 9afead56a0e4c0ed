"""What the proxy has done, what it cost and would have cost, and what went wrong; no content."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from refold.conversation.models import MILLION, Price
from refold.report.pieces import say_count
from refold.server.proxy.apis.base import Usage
from refold.server.proxy.request import Folded

_MOST_SESSIONS: Final = 200
"""How many sessions the page shows; the oldest are dropped first. Totals include all."""
_EDGES: Final = (0.5, 1, 2, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1e3, 2e3, 5e3)
"""The upper edges of a histogram's buckets, in milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a request cost, and what it would have cost unfolded."""

    before: float
    after: float


def cost_of(price: Price, usage: Usage) -> float:
    """Return what a request costs; a cache without a price of its own costs what the prompt does.

    Output of unknown price counts as free: it costs the same before and after.
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
    """Return what a request cost, and what it would have cost unfolded.

    Tokens that earlier requests saved would have been read from the cache, if this one read from
    it; those that it saves itself would have been written to it, if it wrote. Folding the beginning
    anew invalidates the cache: *known* tokens would have been read from it otherwise.
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
    """Figures of one session, or of all."""

    requests: int = 0
    folded: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    cache_read: int = 0
    cache_written: int = 0
    money_before: float = 0.0
    money_after: float = 0.0
    unpriced: int = 0
    """Requests of unknown cost."""
    retrievals: int = 0
    refolds: int = 0
    errors: int = 0

    def add_fold(self, folded: Folded) -> None:
        """Count a folded request."""
        self.folded += folded.body is not None
        self.tokens_before += folded.tokens_before
        self.tokens_after += folded.tokens_after
        self.refolds += folded.is_refolded

    def take_back_fold(self, folded: Folded) -> None:
        """Count a request as unfolded after all: its tokens stay, its savings go."""
        self.folded -= folded.body is not None
        self.tokens_after += folded.tokens_before - folded.tokens_after
        self.refolds -= folded.is_refolded

    def add_usage(self, usage: Usage, bill: Bill | None) -> None:
        """Count the usage that the provider reports for a request."""
        self.prompt_tokens += usage.prompt
        self.output_tokens += usage.output
        self.cache_read += usage.cache_read
        self.cache_written += usage.cache_written
        if bill is None:
            self.unpriced += 1
        else:
            self.money_before += bill.before
            self.money_after += bill.after

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, and the differences that people look for."""
        figures: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        figures["tokens_saved"] = self.tokens_before - self.tokens_after
        figures["money_before"] = round(self.money_before, 6)
        figures["money_after"] = round(self.money_after, 6)
        figures["money_saved"] = round(self.money_before - self.money_after, 6)
        return figures


@dataclass(slots=True)
class SessionStats:
    """The figures of one conversation of a client."""

    name: str
    api: str
    model: str = ""
    last_seen: float = 0.0
    owner: tuple[str, str, str] = ("", "", "")
    """The key of its worker, its tenant, and its name within the tenant."""
    totals: Totals = field(default_factory=Totals)
    last: Folded = field(default_factory=Folded)
    """The outcome of its last request."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures for the page."""
        about = {"session": self.name, "api": self.api, "model": self.model}
        last = {"first_changed": self.last.first_changed, "thinking": self.last.thinking}
        return {**about, "last_seen": round(self.last_seen, 3), **last, **self.totals.to_dict()}


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

    def session(self, name: str, api: str, model: str, now: float) -> SessionStats:
        """Return the figures of one session."""
        found = self.sessions.pop(name, None) or SessionStats(name, api)
        found.model, found.last_seen = model or found.model, now
        self.sessions[name] = found
        while len(self.sessions) > _MOST_SESSIONS:
            self.sessions.popitem(last=False)
        return found

    def fault(self, kind: str) -> None:
        """Count a failure."""
        self.faults[kind] += 1
        self.totals.errors += 1

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        totals = self.totals.to_dict()
        money = {name: totals[f"money_{name}"] for name in ("before", "after", "saved")}
        return {
            **totals,
            "money": {**money, "unpriced": self.totals.unpriced, "currency": "USD"},
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

    def summary(self) -> str:
        """Return one line about what was saved."""
        totals = self.totals
        saved = totals.tokens_before - totals.tokens_after
        share = f" ({100 * saved // totals.tokens_before}%)" if totals.tokens_before else ""
        money = ""
        if totals.money_before:
            money = f" · ${totals.money_before:.4f} → ${totals.money_after:.4f}"
        tokens = f"{totals.tokens_before:,} → {totals.tokens_after:,} tokens{share}"
        requests = say_count(totals.requests, "request")
        errors = say_count(totals.errors, "error")
        return f"{requests} · {tokens}{money} · {errors}"

    def metrics(self) -> str:
        """Return the figures in the text format of Prometheus."""
        return "\n".join([*self._counters(), *self._histograms()]) + "\n"

    def _counters(self) -> Iterator[str]:
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

    def _histograms(self) -> Iterator[str]:
        for name, histogram in (("fold", self.folding), ("added", self.added)):
            yield f"# TYPE refold_{name}_seconds histogram"
            below = 0
            for edge, count in zip(_EDGES, histogram.counts, strict=False):
                below += count
                yield f'refold_{name}_seconds_bucket{{le="{edge / 1000:g}"}} {below}'
            yield f'refold_{name}_seconds_bucket{{le="+Inf"}} {histogram.count}'
            yield f"refold_{name}_seconds_sum {histogram.total_ms / 1000:.6f}"
            yield f"refold_{name}_seconds_count {histogram.count}"
