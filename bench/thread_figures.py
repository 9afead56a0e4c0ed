"""The figures of the thread bench: what is counted, where it should be, and the table of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from table import draw, share


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of the table: a count of a whole, and where it should be at each share."""

    name: str
    at_least: bool = False
    targets: Mapping[int, float] | None = None
    """Percentages by share; the nearest share counts for others. None is only reported."""

    def target(self, at: int) -> float | None:
        """Return the percentage to reach at a share."""
        if self.targets is None:
            return None
        return self.targets[min(self.targets, key=lambda known: (abs(known - at), known))]

    def is_missed(self, count: int, whole: int, at: int) -> bool:
        """Tell whether a count of a whole is not what it should be."""
        target = self.target(at)
        if target is None or not whole:
            return False
        percent = 100 * count / whole
        return percent < target if self.at_least else percent > target


NO_TRACE: Final = Figure("typed, no trace", targets={50: 1, 30: 2, 15: 10})
WHOLE: Final = Figure("typed, word for word", at_least=True)
TASK: Final = Figure("task whole", at_least=True, targets={30: 98})
CHANGES: Final = Figure("changes, no trace", targets={50: 1, 30: 3, 15: 10})
ENDING: Final = Figure("ends as the input", at_least=True, targets={30: 100})
PIECES: Final = Figure("broken pieces", targets={30: 0})
UNKNOWN: Final = Figure("pieces not found")
FIGURES: Final = (NO_TRACE, WHOLE, TASK, CHANGES, ENDING, PIECES, UNKNOWN)


@dataclass(slots=True)
class Sum:
    """Figures added up: how many, of how many."""

    runs: int = 0
    counts: Counter[str] = field(default_factory=Counter[str])
    wholes: Counter[str] = field(default_factory=Counter[str])
    examples: dict[str, list[str]] = field(default_factory=dict)
    """Faults in words, by figure."""

    def note(self, figure: Figure, count: int, whole: int = 1, faults: Iterable[str] = ()) -> None:
        """Add to one figure."""
        self.counts[figure.name] += count
        self.wholes[figure.name] += whole
        self.examples.setdefault(figure.name, []).extend(faults)

    def add(self, other: Sum) -> None:
        """Add all figures of another."""
        self.runs += other.runs
        self.counts += other.counts
        self.wholes += other.wholes
        for name, faults in other.examples.items():
            self.examples.setdefault(name, []).extend(faults)


def report(at: int, sums: Mapping[str, Sum], examples: int) -> bool:
    """Print the table of one share; return whether a target is missed."""
    order = [*sorted(name for name in sums if name != "all"), "all"]
    rows: list[list[str | int]] = [
        [name, one.runs, *(_cell(one, figure) for figure in FIGURES)]
        for name in order
        if (one := sums.get(name))
    ]
    rows.append(["target", "", *(_spell_target(figure, at) for figure in FIGURES)])
    print(draw([f"at {at} %", "runs", *(figure.name for figure in FIGURES)], rows))
    whole = sums["all"]
    missed = [
        figure
        for figure in FIGURES
        if figure.is_missed(whole.counts[figure.name], whole.wholes[figure.name], at)
    ]
    verdict = ", ".join(figure.name for figure in missed)
    print(f"MISSED: {verdict}\n" if missed else "all targets reached\n")
    for figure in FIGURES:
        for fault in whole.examples.get(figure.name, ())[:examples]:
            print(f"  {figure.name}: {fault}")
    return bool(missed)


def _cell(one: Sum, figure: Figure) -> str:
    count, whole = one.counts[figure.name], one.wholes[figure.name]
    return f"{share(count, whole)} of {whole:,}" if whole else "–"


def _spell_target(figure: Figure, at: int) -> str:
    target = figure.target(at)
    if target is None:
        return ""
    return f"{'≥' if figure.at_least else '≤'} {target:g}%"
