"""What an attack reports: how often it was tried, how often it broke a promise."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Check:
    """One promise under attack."""

    name: str
    tried: int = 0
    broken: int = 0
    allowed_share: float = 0.0
    """The share of broken tries that the promise allows; 0 for never."""
    examples: list[str] = field(default_factory=list)
    """The first few broken cases, in words."""

    def record(self, is_broken: bool, example: str = "") -> None:
        """Count one try; keep the example of a broken one."""
        self.tried += 1
        if is_broken:
            self.broken += 1
            if len(self.examples) < 3:
                self.examples.append(example)

    @property
    def holds(self) -> bool:
        """Whether no more tries broke it than the promise allows."""
        return self.broken <= self.allowed_share * self.tried


@dataclass(slots=True)
class Area:
    """The checks of one area."""

    name: str
    checks: list[Check]
