"""What a pass of the compression manager did, text by text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from refold.summarizers.base import Usage

Status = Literal["by_model", "by_engine", "kept"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemReport:
    """What became of one text."""

    index: int
    place: str
    tool: str
    status: Status
    """Shortened by a model or by the engine, or kept because nothing shorter would do."""
    reason: str = ""
    """What the model's client or the gates had against its answers."""
    missing: tuple[str, ...] = ()
    """Facts that its answers had lost."""
    tokens_before: int = 0
    tokens_after: int = 0
    attempts: int = 0
    """Calls to the model; 0 if the answer was known already."""
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerReport:
    """What became of all texts of a pass, or of several passes."""

    items: tuple[ItemReport, ...] = ()

    def __add__(self, other: ManagerReport) -> ManagerReport:
        return ManagerReport(items=(*self.items, *other.items))

    @property
    def compressed(self) -> int:
        """How many texts were shortened."""
        return sum(item.status != "kept" for item in self.items)

    @property
    def tokens_saved(self) -> int:
        """How many tokens the short forms save."""
        return sum(item.tokens_before - item.tokens_after for item in self.items)

    @property
    def usage(self) -> Usage:
        """What the model has cost."""
        return sum((item.usage for item in self.items), Usage())
