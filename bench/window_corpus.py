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
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from records import (
    LINE_TOKENS,
    Messages,
    Recorded,
    blame,
    broken_pairs,
    lost_promises,
    parse_with_files,
    parser_for,
    read_records,
)
from refold import compress
from refold.conversation import ContextWindowManager, FitResult
from refold.conversation.strategies import STRATEGIES, Strategy
from table import draw

_RESERVE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One conversation, and how it is to be fitted."""

    recorded: Recorded
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
    arguments, files = parse_with_files(_parser(), argv, "trajectory.")
    sums: dict[Key, Sum] = {}
    jobs = (
        Job(recorded=recorded, windows=arguments.windows, model=arguments.model)
        for recorded in read_records(files, arguments.cap)
    )
    with multiprocessing.Pool(arguments.workers) as pool:
        for outcomes in pool.imap_unordered(run, jobs, chunksize=2):
            for key, outcome in outcomes.items():
                sums.setdefault(key, Sum()).add(outcome)
    print(_report(sums))
    return int(any(total.violations for total in sums.values()))


def _parser() -> argparse.ArgumentParser:
    parser = parser_for(__doc__)
    parser.add_argument(
        "--windows",
        type=lambda value: tuple(map(int, value.split(","))),
        default=(8_000, 4_000, 2_000),
        metavar="A,B",
        help="windows to fit into, in tokens (8000,4000,2000)",
    )
    parser.add_argument("--model", default=None, help="count as this model does (estimate)")
    return parser


def run(job: Job) -> dict[Key, Sum]:
    """Fit one conversation with every strategy into every window."""
    return {
        (window, strategy): _fit(job, window, strategy)
        for window in job.windows
        for strategy in STRATEGIES
    }


def _fit(job: Job, window: int, strategy: Strategy) -> Sum:
    place = f"{job.recorded.place}, {strategy}, {window}"
    manager = ContextWindowManager(
        model=job.model,
        context_limit=window,
        reserve_output_tokens=_RESERVE,
        strategy=strategy,
    )
    try:
        result = manager.fit(job.recorded.messages)
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
        blames=Counter() if result.fits else Counter([blame(result.obstacles)]),
        violations=[f"{place}: {problem}" for problem in problems],
    )


def _violations(job: Job, result: FitResult, again: FitResult) -> Iterator[str]:
    messages = job.recorded.messages
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
    yield from _out_of_order(messages, result.messages)
    yield from lost_promises(messages, result.messages)
    torn_before = set(broken_pairs(messages, messages))
    yield from (p for p in broken_pairs(messages, result.messages) if p not in torn_before)
    fixed = sum(obstacle.tokens for obstacle in result.obstacles)
    if not result.fits and fixed + LINE_TOKENS * len(result.messages) <= result.tokens_available:
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
