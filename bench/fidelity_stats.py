"""Figures of the fidelity bench: rows, means over families, intervals of paired differences."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Final, Self

RESAMPLES: Final = 2_000
SEED: Final = 7

Key = tuple[str, str, int]
"""Source, trajectory and cut: what two methods are compared on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One conversation folded once, and how that went."""

    suite: str
    method: str
    share: float | None
    """Of the tokens that may stay; None where there was no budget."""
    family: str
    key: Key
    figures: Mapping[str, float | None]
    faults: tuple[str, ...] = ()

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> Self:
        """Read a line of the results."""
        return cls(
            suite=line["suite"],
            method=line["method"],
            share=line["budget"],
            family=line["fam"],
            key=(line["src"], line["id"], line.get("cut", 0)),
            figures={
                name: None if value is None else float(value)
                for name, value in line.items()
                if value is None or isinstance(value, int | float)
            },
            faults=tuple(line.get("faults", ())),
        )

    @property
    def trajectory(self) -> tuple[str, str]:
        """The conversation that was cut; its cuts are no independent evidence."""
        return self.key[:2]


@dataclass(frozen=True, slots=True)
class Panel:
    """One table: a suite, the score it is ranked by, and the families it is averaged over."""

    title: str
    suite: str
    score: str
    families: tuple[str, ...]
    """How the names of the families begin; each counts the same, however many rows it has."""

    def strata(self, rows: Iterable[Row]) -> list[list[Row]]:
        """Return the rows of each family."""
        mine = [row for row in rows if row.suite == self.suite]
        return [[row for row in mine if row.family.startswith(name)] for name in self.families]

    def average(self, rows: Iterable[Row], figure: str) -> float | None:
        """Return the mean of the families' means; None if no row has the figure."""
        by_family = [mean(row.figures.get(figure) for row in own) for own in self.strata(rows)]
        return mean(by_family)


RUN_FAMILIES: Final = ("service", "swe", "coding", "aider")
PANELS: Final = (
    Panel("reuse: values used later", "reuse", "link", RUN_FAMILIES),
    Panel("reusew: plain words used later", "reusew", "link", RUN_FAMILIES),
    Panel("qa: answers about meetings", "qa", "answ", ("qmsum",)),
    Panel("facts: Chinese dialogues", "facts", "link", ("zh",)),
    Panel("facts: Japanese dialogues", "facts", "link", ("ja",)),
    Panel("toolout: test output", "toolout", "link", ("test",)),
)


@dataclass(frozen=True, slots=True)
class Interval:
    """A difference, and where it lies with 95 % confidence."""

    estimate: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Whether the difference is more than chance."""
        if self.low > 0:
            return "above"
        return "below" if self.high < 0 else "open"


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the figures that are there; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def quantile(values: Iterable[float], share: float) -> float:
    """Return the least value that at least *share* of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def paired_differences(
    panel: Panel, ours: Iterable[Row], theirs: Iterable[Row]
) -> list[list[list[float]]]:
    """Return, by family and trajectory, how much better we did where both have a score."""
    other = {row.key: row.figures.get(panel.score) for row in theirs if row.suite == panel.suite}
    families: list[list[list[float]]] = []
    for stratum in panel.strata(ours):
        trajectories: dict[tuple[str, str], list[float]] = {}
        for row in stratum:
            mine, its = row.figures.get(panel.score), other.get(row.key)
            if mine is not None and its is not None:
                trajectories.setdefault(row.trajectory, []).append(mine - its)
        families.append(list(trajectories.values()))
    return families


def bootstrap(
    families: Sequence[Sequence[Sequence[float]]], resamples: int = RESAMPLES, seed: int = SEED
) -> Interval | None:
    """Return the mean difference and its 95 % interval; None if nothing was compared.

    Whole trajectories are drawn, with replacement, within each family; families count the same.
    """
    strata = [[(sum(own), len(own)) for own in family] for family in families if family]
    if not strata:
        return None
    chance = random.Random(seed)
    draws = sorted(
        _mean_of_means([chance.choices(stratum, k=len(stratum)) for stratum in strata])
        for _ in range(resamples)
    )
    return Interval(_mean_of_means(strata), quantile(draws, 0.025), quantile(draws, 0.975))


def _mean_of_means(strata: Sequence[Sequence[tuple[float, int]]]) -> float:
    total = 0.0
    for stratum in strata:
        total += sum(amount for amount, _ in stratum) / sum(number for _, number in stratum)
    return total / len(strata)
