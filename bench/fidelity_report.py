"""What the fidelity bench prints: a table a suite, intervals, weights compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from fidelity_folds import LOSSLESS, OURS, STANDARD, UNSEEN
from fidelity_stats import (
    PANELS,
    RUN_FAMILIES,
    Interval,
    Panel,
    Row,
    bootstrap,
    mean,
    paired_differences,
    quantile,
)
from table import draw

NOTHING: Final = "–"


class Results:
    """All rows of a run, by method and share."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = [row for row in rows if row.figures.get("ratio") is not None]
        self.broken = [row for row in rows if row.faults]
        """Rows with faults, also of folds that raised."""
        self._cells: dict[tuple[str, str, float | None], list[Row]] = {}
        for row in self.rows:
            self._cells.setdefault((row.suite, row.method, row.share), []).append(row)
        self.shares = sorted({r.share for r in self.rows if r.share is not None}, reverse=True)

    def panels(self) -> list[Panel]:
        """Return the tables there is anything for."""
        return [panel for panel in PANELS if any(panel.strata(self.rows))]

    def of(self, panel: Panel, method: str, share: float | None) -> list[Row]:
        """Return the rows of a method at a share."""
        return self._cells.get((panel.suite, method, share), [])

    def methods(self, panel: Panel) -> list[str]:
        """Return the methods that were given a budget, in the order of the run."""
        found = (row.method for row in self.rows if row.suite == panel.suite)
        return [method for method in dict.fromkeys(found) if method != LOSSLESS]

    def score(self, panel: Panel, method: str, share: float | None) -> float | None:
        """Return what a panel is ranked by."""
        return panel.average(self.of(panel, method, share), panel.score)

    def best_of_kit(self, panel: Panel, share: float) -> tuple[str, float] | None:
        """Return the method of the kit with the highest score, and that."""
        scores = [
            (score, method)
            for method in self.methods(panel)
            if method not in OURS and (score := self.score(panel, method, share)) is not None
        ]
        return max(scores)[::-1] if scores else None

    def compare(self, panel: Panel, ours: str, theirs: str, share: float) -> Interval | None:
        """Return by how much one method beats another, with its interval."""
        mine, its = self.of(panel, ours, share), self.of(panel, theirs, share)
        return bootstrap(paired_differences(panel, mine, its))


def report(results: Results) -> Iterator[str]:
    """Yield everything there is to say, block by block."""
    for panel in results.panels():
        yield suite_table(results, panel)
        yield interval_table(results, panel)
    lossless = lossless_table(results)
    if lossless is not None:
        yield lossless
    for panel in results.panels():
        if UNSEEN in results.methods(panel):
            yield weights_table(results, panel)


def spell(figure: float | None, places: int = 3) -> str:
    """Spell a figure so that all of a column are as wide."""
    return NOTHING if figure is None else f"{figure:.{places}f}"


def spell_interval(interval: Interval | None) -> str:
    """Spell a difference with its interval."""
    if interval is None:
        return NOTHING
    return f"{interval.estimate:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"


def percent(share: float) -> str:
    """Spell a share of tokens."""
    return f"{100 * share:g}%"


def suite_table(results: Results, panel: Panel) -> str:
    """Draw how every method did in one suite, the best first."""
    shares = results.shares
    near = min(shares, key=lambda share: abs(share - 0.2))
    header = ["method"]
    for name in (panel.score, "surv", "used"):
        header += [f"{name} {percent(shares[0])}", *map(percent, shares[1:])]
    header += ["over", "struct", "invented"]
    header += [f"{name} {percent(near)}" for name in ("rare", "old", "calls")]
    header += ["rows", "ms", "p95"]
    methods = results.methods(panel)
    methods.sort(key=lambda m: -(mean(results.score(panel, m, s) for s in shares) or 0.0))
    body = [_suite_row(results, panel, method, near) for method in methods]
    note = "macro over families" if len(panel.families) > 1 else "mean"
    title = f"{panel.title}: {panel.score} and surv ({note}), share of tokens used; CPU ms"
    said = [n for n in range(len(header)) if any(row[n] != NOTHING for row in body)]
    table = draw([header[n] for n in said], [[row[n] for n in said] for row in body])
    return f"{title}\n{table}"


def _suite_row(results: Results, panel: Panel, method: str, near: float) -> list[object]:
    cells = [results.of(panel, method, share) for share in results.shares]
    every = [row for own in panel.strata(row for cell in cells for row in cell) for row in own]
    row: list[object] = [method]
    row += [spell(panel.average(cell, panel.score)) for cell in cells]
    row += [spell(panel.average(cell, "surv")) for cell in cells]
    row += [spell(panel.average(cell, "ratio"), 2) for cell in cells]
    row += [spell(mean(r.figures.get(name) for r in every)) for name in ("over", "struct")]
    row.append(spell(mean(r.figures.get("invented") for r in every), 4))
    at_near = results.of(panel, method, near)
    row += [spell(panel.average(at_near, name), 2) for name in ("rare", "old", "calls")]
    times = [r.figures["ms"] or 0.0 for r in every] or [0.0]
    return [*row, len(every), quantile(times, 0.5), quantile(times, 0.95)]


def interval_table(results: Results, panel: Panel) -> str:
    """Draw by how much we beat the methods that count, with 95 % intervals."""
    body: list[list[object]] = []
    for share in results.shares:
        best = results.best_of_kit(panel, share)
        names = dict.fromkeys(["hybrid20", "keep_last", *([best[0]] if best else [])])
        for name in names:
            interval = results.compare(panel, STANDARD, name, share)
            if interval is not None:
                note = "best of the kit" if best and name == best[0] else ""
                row = [percent(share), name, spell_interval(interval), interval.verdict, note]
                body.append([*row])
    title = f"{panel.title}: {STANDARD} minus …, {panel.score}, paired bootstrap by trajectory"
    return f"{title}\n{draw(['share', 'minus', 'difference, 95 % interval', 'we are', ''], body)}"


def lossless_table(results: Results) -> str | None:
    """Draw what is saved without losing anything, by family; None if that was not run."""
    panel = PANELS[0]
    rows = results.of(panel, LOSSLESS, None)
    if not rows:
        return None
    if not any(row.figures.get("changed") for row in rows):
        return "SKIPPED: profile lossless changes nothing in any conversation"
    body: list[list[object]] = []
    for family in (*RUN_FAMILIES, ""):
        own = [row for row in rows if row.family.startswith(family)]
        if own:
            saved = 1 - sum(map(_tokens_after, own)) / sum(row.figures["base"] or 0 for row in own)
            link, surv = (mean(row.figures.get(name) for row in own) for name in ("link", "surv"))
            times = [row.figures["ms"] or 0.0 for row in own]
            faults = sum(map(len, (row.faults for row in own)))
            figures = [f"{100 * saved:.1f}%", spell(link, 4), spell(surv, 4), faults, len(own)]
            body.append([family or "all", *figures, quantile(times, 0.5), quantile(times, 0.95)])
    header = ["family", "tokens saved", "link", "surv", "faults", "rows", "ms", "p95"]
    return f"profile lossless, without a budget; every message restored\n{draw(header, body)}"


def _tokens_after(row: Row) -> float:
    return (row.figures["ratio"] or 0.0) * (row.figures["base"] or 0.0)


def weights_table(results: Results, panel: Panel) -> str:
    """Draw learned weights on sources they never saw beside those that ship."""
    methods, names = (STANDARD, UNSEEN), ("shipped", "unseen")
    header = ["source", "rows"]
    for name in names:
        header += [f"{name} {percent(results.shares[0])}", *map(percent, results.shares[1:])]
    cells = [results.of(panel, method, share) for method in methods for share in results.shares]
    sources = sorted({row.key[0] for cell in cells for row in cell})
    body: list[list[object]] = []
    for source in sources:
        own = [[row for row in cell if row.key[0] == source] for cell in cells]
        figures = [spell(mean(r.figures.get(panel.score) for r in cell), 2) for cell in own]
        body.append([source, len(own[0]), *figures])
    macro = [spell(panel.average(cell, panel.score)) for cell in cells]
    body.append(["macro over families", len(cells[0]), *macro])
    title = f"{panel.title}: weights that never saw the source, beside those that ship"
    return f"{title}\n{draw(header, body)}"
