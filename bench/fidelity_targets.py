"""What the fidelity bench should reach, and whether it did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from fidelity_folds import HAND_BOTH, HAND_VALUES, LOSSLESS, STANDARD, UNSEEN
from fidelity_report import Results, percent
from fidelity_stats import PANELS, Panel

_REUSE, _WORDS, _MEETINGS, _CHINESE, _JAPANESE, _TESTS = PANELS

LEAST: Final[Mapping[Panel, Mapping[float, float]]] = {
    _REUSE: {0.5: 0.97, 0.3: 0.85, 0.2: 0.72, 0.1: 0.50},
    _MEETINGS: {0.5: 0.95, 0.3: 0.85, 0.2: 0.75, 0.1: 0.60},
    _TESTS: {0.1: 0.97},
}
"""The least score at each share."""
ABOVE_THE_KIT: Final = (_WORDS, _CHINESE, _JAPANESE)
"""Where we should beat every method of the kit that was run."""
_SHIPPED: Final = (STANDARD, LOSSLESS)


@dataclass(frozen=True, slots=True)
class Target:
    """One promise and what became of it."""

    name: str
    figure: str
    target: str
    is_reached: bool
    is_binding: bool = False
    """Whether missing it makes the results invalid rather than less good."""

    def __str__(self) -> str:
        verdict = "reached    " if self.is_reached else "NOT REACHED"
        return f"{verdict}  {self.name}: {self.figure} (target {self.target})"


def check_targets(results: Results) -> list[Target]:
    """Compare the figures with what they should be; suites that were not run are left out."""
    return [
        *_scores(results),
        *_above_the_kit(results),
        *_validity(results),
        *_lossless(results),
        *_weights(results),
    ]


def _scores(results: Results) -> Iterator[Target]:
    for panel, least in LEAST.items():
        for method in (STANDARD, UNSEEN):
            for share, target in least.items():
                score = results.score(panel, method, share)
                if score is not None:
                    name = f"{panel.suite} {panel.score} at {percent(share)}, {method}"
                    yield Target(name, f"{score:.3f}", f"≥ {target:.2f}", score >= target)


def _above_the_kit(results: Results) -> Iterator[Target]:
    for panel in ABOVE_THE_KIT:
        for share in results.shares:
            score = results.score(panel, STANDARD, share)
            best = results.best_of_kit(panel, share)
            if score is not None and best is not None:
                name = f"{panel.title} at {percent(share)}"
                target = f"> {best[1]:.3f} of {best[0]}"
                yield Target(name, f"{score:.3f}", target, score > best[1])


def _validity(results: Results) -> Iterator[Target]:
    ours = [row for row in results.rows if row.method in _SHIPPED]
    for name, figure, is_binding in (
        ("structure errors", "struct", True),
        ("results over budget", "over", True),
        ("results with invented values, ids in our own tags counted", "invented", False),
        ("results with invented values, those ids left aside", "claimed", False),
    ):
        wrong = sum(bool(row.figures.get(figure)) for row in ours)
        yield Target(name, f"{wrong} of {len(ours)}", "0", not wrong, is_binding)
    excess = [row.figures.get("excess") or 0.0 for row in ours]
    most = f"{sum(map(bool, excess))}, by {max(excess, default=0):g} tokens at most"
    yield Target("results over budget by even a token", most, "0", not any(excess))
    faults = [row for row in results.broken if row.method in _SHIPPED]
    figure = f"{len(faults)} of {len(ours)}"
    yield Target("not valid, or not restored", figure, "0", not faults, is_binding=True)


def _lossless(results: Results) -> Iterator[Target]:
    rows = results.of(_REUSE, LOSSLESS, None)
    if any(row.figures.get("changed") for row in rows):
        link = min(row.figures.get("link") or 0.0 for row in rows)
        yield Target("lossless link, the worst of all", f"{link:.3f}", "1.00", link == 1.0)


def _weights(results: Results) -> Iterator[Target]:
    for panel in (_REUSE, _WORDS):
        for share in results.shares:
            learned = results.score(panel, UNSEEN, share)
            hands = [results.score(panel, method, share) for method in (HAND_BOTH, HAND_VALUES)]
            best = max((score for score in hands if score is not None), default=None)
            if learned is not None and best is not None:
                name = f"{panel.suite} {panel.score} at {percent(share)}, weights on unseen sources"
                target = f"> {best:.3f} of hand-set ones"
                yield Target(name, f"{learned:.3f}", target, learned > best)
