"""Reports of the compression manager: each text of one pass, and the totals of all passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Final, Literal, Self

from refold.llm.summarizers.base import Usage

Status = Literal["compressed", "skipped", "rejected", "failed", "deferred"]
"""What became of a text.

compressed  there is a short form now
skipped     it was not tried: too fresh, too small, failed, short already
rejected    no short form was good enough
failed      the model or the store raised an error
deferred    the time of the pass had ended
"""

By = Literal["", "model", "engine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReport:
    """What became of one text."""

    index: int
    """Which message it is in."""
    place: str
    tool: str = ""
    status: Status
    by: By = ""
    """Who wrote the short form."""
    reason: str = ""
    """Why there is none, or what the checks had against the model's answers."""
    from_cache: bool = False
    """Whether the answer was known already; then there were no attempts."""
    chars_before: int = 0
    chars_after: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    attempts: int = 0
    """Calls of the model, those that failed too."""
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)

    @property
    def is_compressed(self) -> bool:
        """Whether there is a short form now that was not there before."""
        return self.status == "compressed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerStats:
    """Totals of one pass, or since a manager was made; sizes are those of the compressed texts."""

    passes: int = 0
    compressed: int = 0
    rejected: int = 0
    failed: int = 0
    cache_hits: int = 0
    chars_before: int = 0
    chars_after: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    usage: Usage = field(default_factory=Usage)
    """Calls and tokens of the model."""
    price_per_million: float | None = None
    """What a million tokens of input cost the model that reads the conversation."""

    @property
    def tokens_saved(self) -> int:
        """How many tokens the short forms save each time they are sent."""
        return self.tokens_before - self.tokens_after

    @property
    def saved_usd(self) -> float | None:
        """The money that the short forms save each time they are sent; `None` without a price."""
        price = self.price_per_million
        return None if price is None else self.tokens_saved * price / 1_000_000

    def plus(self, other: ManagerStats) -> ManagerStats:
        """Return the totals of both."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in _SUMS}
        return ManagerStats(**sums, price_per_million=other.price_per_million)


_SUMS: Final = [one.name for one in fields(ManagerStats) if one.name != "price_per_million"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerReport(ManagerStats):
    """What became of the texts of one pass, in the order of the conversation, and the totals."""

    items: tuple[ItemReport, ...] = ()

    @classmethod
    def of(cls, items: Sequence[ItemReport], price_per_million: float | None) -> Self:
        """Add up what became of each text of a pass."""
        done = [item for item in items if item.is_compressed]
        return cls(
            items=tuple(items),
            passes=1,
            compressed=len(done),
            rejected=sum(item.status == "rejected" for item in items),
            failed=sum(item.status == "failed" for item in items),
            cache_hits=sum(item.from_cache for item in done),
            chars_before=sum(item.chars_before for item in done),
            chars_after=sum(item.chars_after for item in done),
            tokens_before=sum(item.tokens_before for item in done),
            tokens_after=sum(item.tokens_after for item in done),
            usage=sum((item.usage for item in items), Usage()),
            price_per_million=price_per_million,
        )

    def __repr__(self) -> str:
        return (
            f"ManagerReport(items={len(self.items)}, compressed={self.compressed}, "
            f"tokens_saved={self.tokens_saved}, calls={self.usage.calls})"
        )
