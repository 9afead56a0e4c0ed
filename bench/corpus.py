"""Fold and unfold every conversation of a data directory and check that nothing is lost.

DATA_DIR holds *.jsonl.gz files, one record a line, with `messages` (OpenAI chat), `native`
(Anthropic blocks or Responses items) or `text` (raw output of a tool). Each conversation must come
back byte for byte after one and after several rounds, must never cost more tokens, and must keep
its tool calls and results together.

examples:
  python bench/corpus.py data
  python bench/corpus.py data --options default,fuzzy --rounds 1 --cap 20
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from records import Messages, Recorded, parse_with_files, parser_for, read_records, tool_ids
from refold import compress, uncompress
from table import draw

OPTION_SETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "default": {},
    "fuzzy": {"profile": "classic", "fuzzy_dedup": True},
    "importance": {
        "profile": "classic",
        "importance_scoring": True,
        "contradiction_detection": True,
    },
}
"""What can be named after --options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One conversation to fold, with one set of options."""

    recorded: Recorded
    options: str
    rounds: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What folding one conversation once gave, and what went wrong in any round."""

    source: str
    options: str
    messages: int
    chars: int
    seconds: float
    tokens_before: int
    tokens_after: int
    failures: tuple[str, ...] = ()


@dataclass(slots=True)
class Sum:
    """The outcomes of one source with one set of options, added up."""

    records: int = 0
    messages: int = 0
    chars: int = 0
    seconds: float = 0.0
    tokens_before: int = 0
    tokens_after: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count one more conversation."""
        self.records += 1
        self.messages += outcome.messages
        self.chars += outcome.chars
        self.seconds += outcome.seconds
        self.tokens_before += outcome.tokens_before
        self.tokens_after += outcome.tokens_after
        self.failures.extend(outcome.failures)


def main(argv: Sequence[str] | None = None) -> int:
    """Fold everything, print a table per set of options, and return 1 if anything failed."""
    arguments, files = parse_with_files(_parser(), argv)
    sums: dict[tuple[str, str], Sum] = {}
    jobs = (
        Job(recorded=recorded, options=options, rounds=arguments.rounds)
        for recorded in read_records(files, arguments.cap)
        for options in arguments.options
    )
    with multiprocessing.Pool(arguments.workers) as pool:
        for done, outcome in enumerate(pool.imap_unordered(run, jobs, chunksize=4), 1):
            sums.setdefault((outcome.options, outcome.source), Sum()).add(outcome)
            if sys.stderr.isatty():
                print(f"\r\033[K{done} {outcome.source}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    print(_report(sums))
    return int(any(total.failures for total in sums.values()))


def _parser() -> argparse.ArgumentParser:
    parser = parser_for(__doc__)
    parser.add_argument(
        "--options",
        type=_option_sets,
        default=("default",),
        metavar="A,B",
        help=f"sets of options, of {', '.join(OPTION_SETS)} (default)",
    )
    parser.add_argument(
        "--rounds", type=_numbers, default=(1, 3), metavar="N,M", help="rounds to check (1,3)"
    )
    return parser


def _option_sets(value: str) -> tuple[str, ...]:
    names = tuple(value.split(","))
    for name in names:
        if name not in OPTION_SETS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(OPTION_SETS)}")
    return names


def _numbers(value: str) -> tuple[int, ...]:
    return tuple(sorted(int(number) for number in value.split(",")))


def run(job: Job) -> Outcome:
    """Fold one conversation as often as asked and check it after each of the named rounds."""
    recorded = job.recorded
    before = json.dumps(recorded.messages)
    failures: list[str] = []
    verbatim: dict[str, Any] = {}
    messages: Messages = recorded.messages
    seconds, first_tokens, claimed = 0.0, (0, 0), None
    for number in range(1, max(job.rounds) + 1):
        options = dict(OPTION_SETS[job.options])
        if number > 1 or recorded.is_output:
            options["recency_window"] = 0  # otherwise there would be little left to fold
        place = f"{recorded.place}, {job.options}, round {number}"
        began = time.perf_counter()
        try:
            result = compress(messages, **options)
            if number == 1:
                seconds = time.perf_counter() - began
                first_tokens = (result.tokens_before, result.tokens_after)
            verbatim |= result.verbatim
            if number in job.rounds:
                failures += _problems(before, messages, result.messages, verbatim, place)
        except Exception as error:  # noqa: BLE001 - a crash is one more failure to report
            failures.append(f"{place}: {type(error).__name__}: {str(error)[:200]}")
            break
        if result.tokens_after > result.tokens_before:
            failures.append(f"{place}: {result.tokens_before} tokens became {result.tokens_after}")
        if claimed is not None and result.tokens_before != claimed:
            failures.append(
                f"{place}: the round before claimed {claimed} tokens, it gave "
                f"{result.tokens_before}"
            )
        claimed, messages = result.tokens_after, result.messages
    return Outcome(
        source=recorded.source,
        options=job.options,
        messages=len(recorded.messages),
        chars=len(before),
        seconds=seconds,
        tokens_before=first_tokens[0],
        tokens_after=first_tokens[1],
        failures=tuple(failures),
    )


def _problems(
    before: str,
    messages: Messages,
    folded: Messages,
    verbatim: Mapping[str, Any],
    place: str,
) -> Iterator[str]:
    restored = uncompress(folded, verbatim)
    if restored.missing_ids:
        yield f"{place}: {len(restored.missing_ids)} originals are missing"
    if json.dumps(restored.messages) != before:
        yield f"{place}: not restored byte for byte"
    if list(tool_ids(folded)) != list(tool_ids(messages)):
        yield f"{place}: tool calls and results changed"


def _report(sums: Mapping[tuple[str, str], Sum]) -> str:
    sections: list[str] = []
    for options in dict.fromkeys(name for name, _ in sums):
        rows = [(key[1], total) for key, total in sorted(sums.items()) if key[0] == options]
        whole = _add_up([total for _, total in rows])
        table = draw(
            [
                f"source, {options} options",
                "records",
                "messages",
                "tokens before",
                "after",
                "saved %",
                "MB/s",
                "failures",
            ],
            [_row(source, total) for source, total in (*rows, ("all", whole))],
        )
        sections.append(table)
        sections.extend(whole.failures)
    return "\n\n".join(sections)


def _add_up(totals: Sequence[Sum]) -> Sum:
    return Sum(
        records=sum(total.records for total in totals),
        messages=sum(total.messages for total in totals),
        chars=sum(total.chars for total in totals),
        seconds=sum(total.seconds for total in totals),
        tokens_before=sum(total.tokens_before for total in totals),
        tokens_after=sum(total.tokens_after for total in totals),
        failures=[failure for total in totals for failure in total.failures],
    )


def _row(source: str, total: Sum) -> list[str | int | float]:
    saved = total.tokens_before - total.tokens_after
    return [
        source,
        total.records,
        total.messages,
        total.tokens_before,
        total.tokens_after,
        100 * saved / total.tokens_before if total.tokens_before else 0.0,
        total.chars / 1e6 / total.seconds if total.seconds else 0.0,
        len(total.failures),
    ]


if __name__ == "__main__":
    sys.exit(main())
