"""What the proxy has done: in all, over time, by agent and model, by session; no content."""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from refold.conversation.models import list_prices
from refold.server.agents import known_agents
from refold.server.proxy.figures import Totals
from refold.server.proxy.request import Folded
from refold.server.proxy.summary import say_why

_MOST_SESSIONS: Final = 200
"""How many sessions the page shows; the oldest are dropped first. Totals include all."""
_MOST_MODELS: Final = 50
"""How many pairs of agent and model it shows; all further ones are one row."""
_SPANS: Final = (60, 300, 900, 3_600, 14_400, 86_400, 604_800)
"""How long a bar of the chart may be, in seconds; each is a multiple of the one before."""
_MOST_BARS: Final = 96
"""Where there would be more, they are made longer."""
_MAX_ID_CHARS: Final = 80
"""Ids of clients are shorter; of another only the beginning is shown."""
_EDGES: Final = (0.5, 1, 2, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1e3, 2e3, 5e3)
"""The upper edges of a histogram's buckets, in milliseconds."""
_HARMLESS: Final = ("fold late", "client gone", "provider answered")
"""Faults that are not errors of this proxy, by how their names begin."""
_OVER_TIME: Final = ("requests", "tokens_before", "tokens_after", "money_before", "money_after")
_PRODUCT: Final = re.compile(r"[A-Za-z][\w.-]{0,39}(?:/[A-Za-z]{1,20}\b)?")


def agent_of(user_agent: str) -> str:
    """Return the name of the agent that sends this header; of others, what they call themselves."""
    product = _PRODUCT.match(user_agent)
    if product is None:
        return "unknown"
    words = product[0].lower()
    for agent in known_agents().values():
        rest = words.removeprefix(agent.program) if agent.program else words
        if rest != words and re.fullmatch(r"(?:cli|code)?(?:[^a-z].*)?", rest):
            return agent.title
    return product[0]


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


class History:
    """Figures over time, in bars of equal length: few enough to draw, however long it runs."""

    def __init__(self) -> None:
        self.seconds = _SPANS[0]
        self._bars: dict[int, Totals] = {}

    def add(self, now: float, figures: Totals) -> None:
        """Add what came to be known *now*."""
        self._bars.setdefault(int(now // self.seconds), Totals()).add(figures)
        while self.seconds < _SPANS[-1] and max(self._bars) - min(self._bars) >= _MOST_BARS:
            longer = _SPANS[_SPANS.index(self.seconds) + 1]
            bars, self._bars = self._bars, {}
            for number, one in bars.items():
                self._bars.setdefault(number * self.seconds // longer, Totals()).add(one)
            self.seconds = longer

    def to_dict(self) -> dict[str, Any]:
        """Return the bars in which anything was, each with its beginning."""
        bars = [
            {"from": number * self.seconds, **{name: getattr(one, name) for name in _OVER_TIME}}
            for number, one in sorted(self._bars.items())
        ]
        return {"seconds": self.seconds, "bars": bars}


@dataclass(slots=True)
class SessionStats:
    """The figures of one conversation of a client."""

    name: str
    api: str
    id: str = ""
    """The client's id of it, if it sends one: `refold show --session` finds it by that."""
    agent: str = ""
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
        """Return its figures, and why its last request was sent as it was."""
        return {
            "session": self.name,
            "id": self.id[:_MAX_ID_CHARS],
            "api": self.api,
            "agent": self.agent,
            "model": self.model,
            "last_seen": round(self.last_seen, 3),
            "why": say_why(self.last),
            "first_changed": self.last.first_changed,
            "thinking": self.last.thinking,
            **self.totals.to_dict(),
        }

    def explain(self) -> dict[str, Any]:
        """Return the same, and the figures of the last request."""
        last = {"first_changed": self.last.first_changed, "thinking": self.last.thinking}
        return {**self.to_dict(), "last": {**last, **self.figures.to_dict()}}


class Stats:
    """All figures of a proxy since it started."""

    def __init__(self) -> None:
        self.since = time.time()
        self.totals = Totals()
        self.history = History()
        self.models: dict[tuple[str, str], Totals] = {}
        """By agent and model."""
        self.sessions: OrderedDict[str, SessionStats] = OrderedDict()
        self.faults: Counter[str] = Counter()
        """Why requests were not folded or not answered, by kind."""
        self.folding = Histogram()
        self.added = Histogram()
        """The delay that the proxy added to requests."""
        self.passed = 0
        """Requests without messages, or that only count tokens."""
        self.active = 0

    def session(self, name: str, api: str, agent: str, model: str) -> SessionStats:
        """Return the figures of one session."""
        session = self.sessions.pop(name, None) or SessionStats(name, api)
        session.agent, session.model = agent, model or session.model
        self.sessions[name] = session
        while len(self.sessions) > _MOST_SESSIONS:
            self.sessions.popitem(last=False)
        return session

    def find(self, name: str) -> SessionStats | None:
        """Return a session by its name, or by the client's id of it."""
        by_id = (one for one in reversed(self.sessions.values()) if name and one.id == name)
        return self.sessions.get(name) or next(by_id, None)

    def add(self, figures: Totals, agent: str, model: str) -> None:
        """Count figures of a request by an *agent* to a *model*."""
        pair = (agent, model)
        if pair not in self.models and len(self.models) >= _MOST_MODELS:
            pair = ("others", "")
        self.models.setdefault(pair, Totals()).add(figures)
        self.totals.add(figures)
        self.history.add(time.time(), figures)

    def fault(self, kind: str) -> None:
        """Count a failure."""
        self.faults[kind] += 1
        self.totals.errors += not kind.startswith(_HARMLESS)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        totals = self.totals.to_dict()
        money = {name: totals[f"money_{name}"] for name in ("before", "after", "saved")}
        prices = {"as_of": list_prices().as_of.isoformat(), "source": list_prices().source}
        return {
            **totals,
            "money": {**money, "unpriced": self.totals.unpriced, "currency": "USD", **prices},
            "since": self.since,
            "now": time.time(),
            "passed": self.passed,
            "active": self.active,
            "faults": dict(self.faults),
            "latency_ms": {
                f"{name}_p{share}": histogram.percentile(share / 100)
                for name, histogram in (("fold", self.folding), ("added", self.added))
                for share in (50, 99)
            },
            "history": self.history.to_dict(),
            "models": [
                {"agent": agent, "model": model, **one.to_dict()}
                for (agent, model), one in self.models.items()
            ],
            "sessions": [session.to_dict() for session in reversed(self.sessions.values())],
        }

    def metrics(self) -> str:
        """Return the figures in the text format of Prometheus."""
        return "\n".join(self._metrics()) + "\n"

    def _metrics(self) -> Iterator[str]:
        values = {
            f"{name}{'_dollars' if name.startswith('money') else ''}_total": value
            for name, value in self.totals.to_dict().items()
            if not name.endswith("_saved")
        }
        for name, value in {**values, "passed_total": self.passed}.items():
            yield f"# TYPE refold_{name} counter\nrefold_{name} {value}"
        yield f"# TYPE refold_active_requests gauge\nrefold_active_requests {self.active}"
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
