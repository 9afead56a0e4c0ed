"""Squeeze every recorded agent run into a share of its tokens and check what a budget promises.

DATA_DIR holds trajectory.*.jsonl.gz files, one record a line, with `messages` (OpenAI chat) and
sometimes `native` (Anthropic blocks or Responses items). At each share a run must fit, or the
messages that no budget may touch must be the reason; tool calls and results must still find each
other, instructions and the last question must still be there, everything must come back byte for
byte, and no run may ever cost more tokens than before.

examples:
  python bench/budget_corpus.py data
  python bench/budget_corpus.py data --shares 50,10 --cap 5 --model gpt-4o
  python bench/budget_corpus.py data --profile standard
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

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
    tool_ids,
)
from refold import Result, compress, uncompress
from refold.options import Profile
from table import draw

_WORDS: Final = ("first_task", "last_user_message")
"""Why the user's own words stay; profile `standard` shows parts of them if they are too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One conversation and the shares of its tokens that it must fit into."""

    recorded: Recorded
    shares: tuple[int, ...]
    model: str | None
    profile: Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one conversation fared with one budget."""

    source: str
    share: int
    tokens_before: int = 0
    tokens_after: int = 0
    fits: bool = False
    rung: str = "nothing"
    """The last rung that was climbed."""
    blame: str = ""
    """When it does not fit: why the largest messages in the way must not be touched."""
    violations: tuple[str, ...] = ()


@dataclass(slots=True)
class Sum:
    """The outcomes of one source at one share, added up."""

    runs: int = 0
    fits: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    blames: Counter[str] = field(default_factory=Counter[str])
    rungs: Counter[str] = field(default_factory=Counter[str])
    violations: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count one more conversation."""
        self.runs += 1
        self.fits += outcome.fits
        self.tokens_before += outcome.tokens_before
        self.tokens_after += outcome.tokens_after
        self.rungs[outcome.rung] += 1
        self.violations.extend(outcome.violations)
        if outcome.blame:
            self.blames[outcome.blame] += 1


def main(argv: Sequence[str] | None = None) -> int:
    """Squeeze everything, print a table per share, and return 1 if a promise was broken."""
    arguments, files = parse_with_files(_parser(), argv, "trajectory.")
    sums: dict[tuple[int, str], Sum] = {}
    jobs = (
        Job(
            recorded=recorded,
            shares=arguments.shares,
            model=arguments.model,
            profile=arguments.profile,
        )
        for recorded in read_records(files, arguments.cap)
    )
    with multiprocessing.Pool(arguments.workers) as pool:
        for outcomes in pool.imap_unordered(run, jobs, chunksize=2):
            for outcome in outcomes:
                sums.setdefault((outcome.share, outcome.source), Sum()).add(outcome)
    print(_report(sums))
    return int(any(total.violations for total in sums.values()))


def _parser() -> argparse.ArgumentParser:
    parser = parser_for(__doc__)
    parser.add_argument(
        "--shares",
        type=lambda value: tuple(map(int, value.split(","))),
        default=(50, 30, 20, 10),
        metavar="A,B",
        help="per cent of the tokens to fit into (50,30,20,10)",
    )
    parser.add_argument("--model", default=None, help="count as this model does (estimate)")
    parser.add_argument(
        "--profile",
        choices=("classic", "standard"),
        default="classic",
        help="how to fold; standard may excerpt a task that takes most of the room (classic)",
    )
    return parser


def run(job: Job) -> list[Outcome]:
    """Squeeze one conversation into every share."""
    messages = job.recorded.messages
    total = compress(messages, model=job.model, recency_window=len(messages)).tokens_before
    return [_squeeze(job, share, total * share // 100) for share in job.shares]


def _squeeze(job: Job, share: int, budget: int) -> Outcome:
    place = f"{job.recorded.place} at {share}%"
    try:
        result = compress(
            job.recorded.messages, token_budget=budget, model=job.model, profile=job.profile
        )
    except Exception as error:  # noqa: BLE001 - a crash is one more violation to report
        problem = f"{place}: {type(error).__name__}: {str(error)[:200]}"
        return Outcome(source=job.recorded.source, share=share, violations=(problem,))
    assert result.budget is not None
    fits = result.budget.fits
    return Outcome(
        source=job.recorded.source,
        share=share,
        tokens_before=result.tokens_before,
        tokens_after=result.tokens_after,
        fits=fits,
        rung=result.budget.rungs[-1] if result.budget.rungs else "nothing",
        blame="" if fits else blame(result.budget.obstacles),
        violations=tuple(f"{place}: {what}" for what in _violations(job, result, budget)),
    )


def _violations(job: Job, result: Result, budget: int) -> Iterator[str]:
    assert result.budget is not None
    messages = job.recorded.messages
    restored = uncompress(result.messages, result.verbatim)
    if json.dumps(restored.messages) != json.dumps(messages):
        yield f"not restored byte for byte, {len(restored.missing_ids)} originals missing"
    if result.tokens_after > result.tokens_before:
        yield f"{result.tokens_before} tokens became {result.tokens_after}"
    if result.token_count != result.budget.token_count:
        yield "the budget report counts other tokens than the figures"
    if result.budget.fits != (result.token_count <= budget):
        yield "fits is not what the figures say"
    yield from lost_promises(messages, result.messages, has_words=job.profile == "classic")
    yield from broken_pairs(messages, result.messages)
    if not result.budget.fits and (excess := budget - _floor(job, result)) >= 0:
        yield f"does not fit {budget}, though the protected part leaves {excess} tokens"


def _floor(job: Job, result: Result) -> int:
    """Return the tokens of what must stay, and of a line for every stretch between."""
    assert result.budget is not None
    messages = job.recorded.messages
    may_yield = _WORDS if job.profile == "standard" else ()
    firm = [o for o in result.budget.obstacles if o.reason not in may_yield]
    kept = {obstacle.message_index for obstacle in firm}
    pinned: set[int] = set()
    for block in _blocks(messages):
        if kept & set(block):  # pairs live together, so they can only be cut short
            pinned.update(set(block) - kept)
    fixed = sum(obstacle.tokens for obstacle in firm)
    for index in pinned:
        fixed += compress([messages[index]], model=job.model).tokens_before
    stretches, is_open = 0, False
    for index in range(len(messages)):
        is_free = index not in kept and index not in pinned
        stretches += is_free and not is_open
        is_open = is_free
    return fixed + LINE_TOKENS * stretches


def _blocks(messages: Messages) -> Iterator[range]:
    """Yield the stretches from a tool call to its last answer."""
    called: dict[str, int] = {}
    for index, message in enumerate(messages):
        for kind, id_ in tool_ids(message):
            if kind == "call":
                called[id_] = index
            elif id_ in called:
                yield range(called[id_], index + 1)


def _report(sums: Mapping[tuple[int, str], Sum]) -> str:
    sections: list[str] = []
    for share in sorted({share for share, _ in sums}, reverse=True):
        rows = [(name, total) for (at, name), total in sorted(sums.items()) if at == share]
        whole = _add_up([total for _, total in rows])
        header = [
            f"source, budget {share} %",
            "runs",
            "fit",
            "do not",
            "tokens before",
            "after %",
            "violations",
            "in the way",
        ]
        sections.append(draw(header, [_row(*row) for row in (*rows, ("all", whole))]))
        rungs = ", ".join(f"{rung} {count}" for rung, count in whole.rungs.most_common())
        sections.append(f"last rung: {rungs}")
        sections.extend(whole.violations)
    return "\n\n".join(sections)


def _add_up(totals: Sequence[Sum]) -> Sum:
    whole = Sum()
    for total in totals:
        whole.runs += total.runs
        whole.fits += total.fits
        whole.tokens_before += total.tokens_before
        whole.tokens_after += total.tokens_after
        whole.blames.update(total.blames)
        whole.rungs.update(total.rungs)
        whole.violations.extend(total.violations)
    return whole


def _row(source: str, total: Sum) -> list[str | int | float]:
    blames = ", ".join(f"{reason} ({count})" for reason, count in total.blames.most_common())
    return [
        source,
        total.runs,
        total.fits,
        total.runs - total.fits,
        total.tokens_before,
        100 * total.tokens_after / total.tokens_before if total.tokens_before else 0.0,
        len(total.violations),
        blames,
    ]


if __name__ == "__main__":
    sys.exit(main())
