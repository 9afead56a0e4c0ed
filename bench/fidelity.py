"""Measure how much of what later turns need survives folding, beside the fidelity kit's methods.

Real agent runs, meetings, dialogues and test output are folded to shares of their tokens by profile
`standard` and by methods of the kit; every result of ours is checked: valid for the provider, calls
paired with results, within the budget, and restored to what it was. Profile `lossless` runs without
a budget. Needs the kit and its data in ../shared, numpy, scipy, scikit-learn and openai.

examples:
  python bench/fidelity.py
  python bench/fidelity.py --suites reuse,reusew --methods all --cap 3
  python bench/learn_weights.py --folds points && python bench/fidelity.py --left-out points
  python bench/fidelity.py --out rows.jsonl; python bench/fidelity.py --show rows.jsonl
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any, Final

from fidelity_folds import (
    LOSSLESS,
    OURS,
    STANDARD,
    UNSEEN,
    Once,
    Way,
    kit_way,
    public_way,
    weighted_way,
    weights_without,
)
from fidelity_kit import SHARED, SUITES, Kit, Record, load_kit
from fidelity_report import Results, report
from fidelity_stats import Row

METHODS: Final = (
    *("keep_last", "random_seg", "obs_mask", "hybrid20"),
    *("cover_words", "idf_rarity", "bag_of_values", "bag_in_order"),
)
SHARES: Final = (0.5, 0.3, 0.2, 0.1)
_SAME_FOLDS: Final = {"reusew": "reuse"}
"""Suites that look for other things in the same folds."""
_SAY_EVERY: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What to measure."""

    suites: tuple[str, ...]
    methods: tuple[str, ...]
    shares: tuple[float, ...]
    per_source: int
    shared: Path
    left_out: Path | None

    @property
    def groups(self) -> tuple[str, ...]:
        """The suites without those that share the folds of another."""
        return tuple(dict.fromkeys(_SAME_FOLDS.get(suite, suite) for suite in self.suites))

    def suites_of(self, group: str) -> list[str]:
        """Return the suites that look into the same folds."""
        return [suite for suite in self.suites if _SAME_FOLDS.get(suite, suite) == group]


@dataclass(frozen=True, slots=True)
class Bench:
    """The kit and the records to measure on."""

    kit: Kit
    records: dict[str, list[dict[str, Any]]]

    def ways(self, settings: Settings, group: str, source: str) -> Iterator[tuple[str, Way]]:
        """Yield every way to fold a record, by name."""
        count = self.kit.count
        yield STANDARD, public_way("standard", count)
        if group == "reuse":
            yield LOSSLESS, public_way("lossless", count)
        if group == "reuse" and settings.left_out is not None:
            unseen = weights_without(source, settings.left_out)
            yield UNSEEN, weighted_way(unseen, count)
        for name in settings.methods:
            yield name, kit_way(self.kit.methods[name])


@cache
def open_bench(settings: Settings) -> Bench | None:
    """Load the kit and the records, once in each process."""
    kit = load_kit(settings.shared)
    if kit is None:
        return None
    return Bench(kit, {group: kit.suite(group, settings.per_source) for group in settings.groups})


def measure(settings: Settings, group: str, number: int) -> list[dict[str, Any]]:
    """Fold one record in every way, and score the results in all suites that look into them."""
    bench = open_bench(settings)
    assert bench is not None
    record = bench.records[group][number]
    looks = [(suite, bench.kit.prepare(suite, record)) for suite in settings.suites_of(group)]
    lines: list[dict[str, Any]] = []
    for name, way in bench.ways(settings, group, record["source"]):
        once = Once(way)
        shares = (None,) if name == LOSSLESS else settings.shares
        for suite, prepared in looks:
            lines += _score(bench.kit, suite, prepared, name, once, shares)
    return lines


def _score(
    kit: Kit, suite: str, prepared: Record, name: str, once: Once, shares: Sequence[float | None]
) -> list[dict[str, Any]]:
    once.calls.clear()
    try:
        rows = kit.score(suite, prepared, once, shares)
    except Exception as error:  # noqa: BLE001 - a method that fails is a finding, not the end
        at = {"suite": suite, "src": prepared["source"], "id": prepared["id"], "fam": ""}
        fault = f"failed: {type(error).__name__}: {error}"
        return [{**at, "method": name, "budget": None, "faults": [fault]}]
    lines: list[dict[str, Any]] = []
    for row, (before, folded) in zip(rows, once.calls, strict=True):
        budget = folded.budget
        excess = 0 if budget is None else max(0, kit.tokens(folded.messages) - budget)
        line = {"method": name, "excess": excess, "changed": folded.is_changed}
        if "invented" not in row:
            line["invented"] = kit.invented_share(before, folded.messages, with_tags=True)
        if name in OURS:
            line["claimed"] = kit.invented_share(before, folded.messages, with_tags=False)
        lines.append({**row, **line, "faults": list(folded.faults)})
    return lines


def measure_all(settings: Settings, bench: Bench, processes: int) -> Iterator[dict[str, Any]]:
    """Yield the lines of all records, and say on stderr how far it is."""
    tasks = [
        (settings, group, number)
        for group, records in bench.records.items()
        for number in sorted(range(len(records)), key=lambda n: -_size(records[n]))
    ]
    # Methods of the kit add up floats in the order of sets: the same in every run, please.
    os.environ["PYTHONHASHSEED"] = "0"
    spawn = multiprocessing.get_context("spawn")
    start = monotonic()
    with ProcessPoolExecutor(processes, mp_context=spawn) as pool:
        for done, lines in enumerate(pool.map(measure, *zip(*tasks, strict=True)), 1):
            yield from lines
            if done % _SAY_EVERY == 0 or done == len(tasks):
                at = f"{done} of {len(tasks)} records, {monotonic() - start:.0f} s"
                print(at, file=sys.stderr, flush=True)


def _size(record: Record) -> int:
    texts = [message.get("content") or "" for message in record.get("messages", ())]
    return sum(map(len, texts))


def read_rows(path: Path) -> list[Row]:
    """Read the results of a run."""
    return [Row.read(json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, write the rows, print the tables; 1 if a result of ours is invalid."""
    arguments = _parser().parse_args(argv)
    if arguments.show is not None:
        return _print_report(read_rows(arguments.show))
    settings = Settings(
        suites=arguments.suites,
        methods=arguments.methods,
        shares=arguments.budgets,
        per_source=arguments.cap,
        shared=arguments.shared,
        left_out=arguments.left_out,
    )
    bench = open_bench(settings)
    if bench is None:
        return 0
    if settings.methods == ("all",):
        settings = replace(settings, methods=tuple(bench.kit.methods))
    problem = find_problem(settings, bench)
    if problem is not None:
        print(problem, file=sys.stderr)
        return 2
    out = arguments.out or Path(tempfile.mkdtemp(prefix="fidelity-")) / "rows.jsonl"
    with out.open("w", encoding="utf-8") as file:
        for line in measure_all(settings, bench, arguments.processes):
            file.write(json.dumps(line, default=float) + "\n")
    print(f"rows: {out}", file=sys.stderr)
    return _print_report(read_rows(out))


def find_problem(settings: Settings, bench: Bench) -> str | None:
    """Return why measuring would fail halfway, if it would."""
    if find_spec("openai") is None:
        return "openai is needed to check that results are valid: pip install openai"
    unknown = set(settings.methods) - set(bench.kit.methods)
    if unknown:
        return f"no method {', '.join(sorted(unknown))} in the kit"
    try:
        if settings.left_out is not None:
            for record in bench.records.get("reuse", ()):
                weights_without(record["source"], settings.left_out)
    except (OSError, ValueError) as error:
        return f"{error}; learn_weights.py --folds writes what --left-out takes"
    return None


def _print_report(rows: Sequence[Row]) -> int:
    results = Results(rows)
    for block in report(results):
        print(f"{block}\n")
    for method, number in Counter(row.method for row in results.broken).items():
        first = next(row for row in results.broken if row.method == method)
        print(f"FAULTS: {method}, {number} rows, first {first.key}: {first.faults[0]}")
    ours = [row for row in results.rows if row.method in (STANDARD, LOSSLESS)]
    broken = [row for row in results.broken if row.method in (STANDARD, LOSSLESS)]
    for what, wrong in (
        ("over budget by even a token", [r for r in ours if r.figures.get("excess")]),
        ("with values that nobody has said", [r for r in ours if r.figures.get("claimed")]),
        ("not valid, or not restored", broken),
    ):
        print(f"results {what}: {len(wrong)} of {len(ours)}")
    return int(bool(broken) or any(r.figures.get(n) for r in ours for n in ("over", "struct")))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--suites", type=_suites, default=SUITES, help=f"of {','.join(SUITES)} (default: all)")
    add("--methods", type=_names, default=METHODS, help="of the kit, or all")
    add("--budgets", type=_shares, default=SHARES, help="shares of tokens (default: .5,.3,.2,.1)")
    add("--cap", type=int, default=12, help="records of each source (default: %(default)s)")
    add("--left-out", type=Path, metavar="DIR", help="compare weights: points without each source")
    add("--out", type=Path, help="file for the rows, one JSON object a line (default: a new one)")
    add("--show", type=Path, metavar="FILE", help="measure nothing: print the tables of these rows")
    add("--processes", type=int, default=2, help="how many work at once (default: %(default)s)")
    add(
        "--shared",
        type=Path,
        default=SHARED,
        help="where evalkit and data are (default: ../shared)",
    )
    return parser


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(",")))


def _suites(text: str) -> tuple[str, ...]:
    names = _names(text)
    if not names or set(names) - set(SUITES):
        raise argparse.ArgumentTypeError(f"takes some of {','.join(SUITES)}, got {text!r}")
    return names


def _shares(text: str) -> tuple[float, ...]:
    try:
        shares = tuple(map(float, _names(text)))
    except ValueError:
        shares = ()
    if not shares or not all(0 < share < 1 for share in shares):
        raise argparse.ArgumentTypeError(f"takes shares between 0 and 1, got {text!r}")
    return shares


if __name__ == "__main__":
    sys.exit(main())
