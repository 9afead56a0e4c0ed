"""Fit every recorded agent run into small windows and check what a window manager promises.

DATA_DIR holds trajectory.*.jsonl.gz files, one record a line, with `messages` (OpenAI chat) and
sometimes `native` (Anthropic blocks or Responses items). With every strategy and every window a
run must fit, or the messages that nobody may touch must be the reason; the result is never empty,
keeps order, instructions, task, last question and tool pairs, counts what it says it counts, and
is left alone when it comes back.

examples:
  python bench/window_corpus.py data
  python bench/window_corpus.py data --windows 8000 --cap 5 --model gpt-4o
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

# The other corpus bench has the same data and the same idea of what must survive.
from budget_corpus import Messages, _broken_pairs, _conversations, _promised
from refold import compress
from refold.window import ContextWindowManager, FitResult
from refold.window.strategies import STRATEGIES, Strategy
from table import draw

_RESERVE: Final = 500
_LINE_TOKENS: Final = 48
"""What the line costs that a stretch is folded into, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One conversation, and how it is to be fitted."""

    record: str
    messages: Messages
    windows: tuple[int, ...]
    model: str | None


@dataclass(slots=True)
class Sum:
    """The runs of one strategy with one window, added up."""

    runs: int = 0
    untouched: int = 0
    fits: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    blames: Counter[str] = field(default_factory=Counter[str])
    violations: list[str] = field(default_factory=list)

    def add(self, other: Sum) -> None:
        """Count one more conversation."""
        for name in ("runs", "untouched", "fits", "tokens_before", "tokens_after"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.blames.update(other.blames)
        self.violations.extend(other.violations)


Key = tuple[int, Strategy]


def main(argv: Sequence[str] | None = None) -> int:
    """Fit everything, print the table, and return 1 if a promise was broken."""
    arguments = _parse(argv)
    files = sorted(arguments.data_dir.glob("trajectory.*.jsonl.gz"))
    if not files:
        print(f"no trajectory.*.jsonl.gz in {arguments.data_dir}", file=sys.stderr)
        return 2
    sums: dict[Key, Sum] = {}
    with multiprocessing.Pool(arguments.workers) as pool:
        for outcomes in pool.imap_unordered(run, _jobs(files, arguments), chunksize=2):
            for key, outcome in outcomes.items():
                sums.setdefault(key, Sum()).add(outcome)
    print(_report(sums))
    return int(any(total.violations for total in sums.values()))


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data_dir", type=Path, metavar="DATA_DIR", help="directory of *.jsonl.gz")
    parser.add_argument(
        "--windows",
        type=lambda value: tuple(map(int, value.split(","))),
        default=(8_000, 4_000, 2_000),
        metavar="A,B",
        help="windows to fit into, in tokens (8000,4000,2000)",
    )
    parser.add_argument("--cap", type=int, default=None, help="records of each file at most (all)")
    parser.add_argument("--model", default=None, help="count as this model does (estimate)")
    parser.add_argument("--workers", type=int, default=2, help="processes at work (2)")
    return parser.parse_args(argv)


def _jobs(files: Sequence[Path], arguments: argparse.Namespace) -> Iterator[Job]:
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(islice(lines, arguments.cap), 1):
                for shape, messages in _conversations(json.loads(line)):
                    yield Job(
                        record=f"{file.name} line {number}{shape}",
                        messages=messages,
                        windows=arguments.windows,
                        model=arguments.model,
                    )


def run(job: Job) -> dict[Key, Sum]:
    """Fit one conversation with every strategy into every window."""
    return {
        (window, strategy): _fit(job, window, strategy)
        for window in job.windows
        for strategy in STRATEGIES
    }


def _fit(job: Job, window: int, strategy: Strategy) -> Sum:
    place = f"{job.record}, {strategy}, {window}"
    manager = ContextWindowManager(
        model=job.model,
        context_limit=window,
        reserve_output_tokens=_RESERVE,
        strategy=strategy,
    )
    try:
        result = manager.fit(job.messages)
        again = manager.fit(result.messages)
        problems = list(_violations(job, result, again))
    except Exception as error:  # noqa: BLE001 - a crash is one more violation to report
        return Sum(runs=1, violations=[f"{place}: {type(error).__name__}: {str(error)[:200]}"])
    return Sum(
        runs=1,
        untouched=int(not result.steps),
        fits=int(result.fits),
        tokens_before=result.tokens_before,
        tokens_after=result.tokens_after,
        blames=Counter() if result.fits else Counter([_blame(result)]),
        violations=[f"{place}: {problem}" for problem in problems],
    )


def _blame(result: FitResult) -> str:
    """Name the reasons that hold most of the tokens in the way."""
    weights: Counter[str] = Counter()
    for obstacle in result.obstacles:
        weights[obstacle.reason] += obstacle.tokens
    return " + ".join(reason for reason, _ in weights.most_common(2)) or "nobody"


def _violations(job: Job, result: FitResult, again: FitResult) -> Iterator[str]:
    after = _count(result.messages, job.model)
    if result.tokens_after != after:
        yield f"says {result.tokens_after} tokens, has {after}"
    if result.fits != (after <= result.tokens_available):
        yield "fits is not what the figures say"
    if not result.messages:
        yield "empty"
    if result.tokens_after > result.tokens_before:
        yield f"{result.tokens_before} tokens became {result.tokens_after}"
    if json.dumps(again.messages) != json.dumps(result.messages):
        yield "a second time changes it again"
    yield from _out_of_order(job.messages, result.messages)
    shown = Counter(map(json.dumps, result.messages))
    for name, message in _promised(job.messages, has_words=True):
        if json.dumps(message) not in shown:
            yield f"{name} is gone"
    torn_before = set(_broken_pairs(job.messages, job.messages))
    yield from (p for p in _broken_pairs(job.messages, result.messages) if p not in torn_before)
    fixed = sum(obstacle.tokens for obstacle in result.obstacles)
    if not result.fits and fixed + _LINE_TOKENS * len(result.messages) <= result.tokens_available:
        yield f"does not fit, though only {fixed} tokens of it must stay"


def _count(messages: list[dict[str, Any]], model: str | None) -> int:
    if not messages:
        return 0
    return compress(messages, model=model, recency_window=len(messages)).tokens_before


def _out_of_order(before: Messages, after: Messages) -> Iterator[str]:
    """Say whether unchanged messages have changed places."""
    known = {json.dumps(message) for message in before}
    rest = iter(map(json.dumps, before))
    for place, text in enumerate(map(json.dumps, after)):
        if text in known and not any(one == text for one in rest):
            yield f"messages[{place}] of the result is out of order"
            return


def _report(sums: dict[Key, Sum]) -> str:
    rows = [
        (
            window,
            strategy,
            total.runs,
            total.untouched,
            total.fits,
            total.runs - total.fits,
            total.tokens_before,
            total.tokens_after,
            len(total.violations),
        )
        for (window, strategy), total in sorted(sums.items(), key=lambda item: -item[0][0])
    ]
    header = "window strategy runs untouched fits infeasible before after violations".split()
    lines = [draw(header, rows), "", "infeasible because of:"]
    for (window, strategy), total in sums.items():
        told = ", ".join(f"{reason} {count}" for reason, count in total.blames.most_common())
        lines.append(f"  {window} {strategy}: {told or 'nothing'}")
    problems = [problem for total in sums.values() for problem in total.violations]
    lines += ["", f"{len(problems)} violations", *problems[:40]]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
