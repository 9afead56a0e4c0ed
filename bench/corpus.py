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
import gzip
import json
import multiprocessing
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from refold import compress, uncompress
from table import draw

Messages = list[dict[str, Any]]

OPTION_SETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "default": {},
    "fuzzy": {"fuzzy_dedup": True},
    "importance": {"importance_scoring": True, "contradiction_detection": True},
}
"""What can be named after --options."""
_TOOL_OUTPUT: Final = " (text)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One conversation to fold, with one set of options."""

    source: str
    record: str
    messages: Messages
    options: str
    rounds: tuple[int, ...]
    is_whole: bool = True
    """Whether it is a real conversation, whose last messages are recent."""


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
    arguments = _parse(argv)
    files = sorted(arguments.data_dir.glob("*.jsonl.gz"))
    if not files:
        print(f"no *.jsonl.gz in {arguments.data_dir}", file=sys.stderr)
        return 2
    sums: dict[tuple[str, str], Sum] = {}
    jobs = _jobs(files, arguments.options, arguments.rounds, arguments.cap)
    with multiprocessing.Pool(arguments.workers) as pool:
        for done, outcome in enumerate(pool.imap_unordered(run, jobs, chunksize=4), 1):
            sums.setdefault((outcome.options, outcome.source), Sum()).add(outcome)
            if sys.stderr.isatty():
                print(f"\r\033[K{done} {outcome.source}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    print(_report(sums))
    return int(any(total.failures for total in sums.values()))


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data_dir", type=Path, metavar="DATA_DIR", help="directory of *.jsonl.gz")
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
    parser.add_argument("--cap", type=int, default=None, help="records of each file at most (all)")
    parser.add_argument("--workers", type=int, default=2, help="processes at work (2)")
    return parser.parse_args(argv)


def _option_sets(value: str) -> tuple[str, ...]:
    names = tuple(value.split(","))
    for name in names:
        if name not in OPTION_SETS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(OPTION_SETS)}")
    return names


def _numbers(value: str) -> tuple[int, ...]:
    return tuple(sorted(int(number) for number in value.split(",")))


def _jobs(
    files: Sequence[Path], option_sets: Sequence[str], rounds: tuple[int, ...], cap: int | None
) -> Iterator[Job]:
    for file in files:
        source = file.name.removesuffix(".jsonl.gz")
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                if cap is not None and number >= cap:
                    break
                for shape, messages in _conversations(json.loads(line)):
                    for options in option_sets:
                        yield Job(
                            source=source + shape,
                            record=f"{file.name} line {number + 1}",
                            messages=messages,
                            options=options,
                            rounds=rounds,
                            is_whole=shape != _TOOL_OUTPUT,
                        )


def _conversations(record: Mapping[str, Any]) -> Iterator[tuple[str, Messages]]:
    """Yield every form in which a record holds a conversation."""
    if record.get("messages"):
        yield "", record["messages"]
    if isinstance(record.get("native"), list):
        yield f" ({record.get('native_format', 'native')})", record["native"]
    if isinstance(record.get("text"), str):
        yield _TOOL_OUTPUT, _around(record["text"])


def _around(output: str) -> Messages:
    """Wrap the raw output of a tool into the smallest conversation that can hold it."""
    call = {"id": "call_1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    return [
        {"role": "user", "content": "Run it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": output},
    ]


def run(job: Job) -> Outcome:
    """Fold one conversation as often as asked and check it after each of the named rounds."""
    before = json.dumps(job.messages)
    failures: list[str] = []
    verbatim: dict[str, Any] = {}
    messages: Messages = job.messages
    seconds, first_tokens, claimed = 0.0, (0, 0), None
    for number in range(1, max(job.rounds) + 1):
        options = dict(OPTION_SETS[job.options])
        if number > 1 or not job.is_whole:
            options["recency_window"] = 0  # otherwise there would be little left to fold
        place = f"{job.record}, {job.options}, round {number}"
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
        source=job.source,
        options=job.options,
        messages=len(job.messages),
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
    if list(_tool_ids(folded)) != list(_tool_ids(messages)):
        yield f"{place}: tool calls and results changed"


def _tool_ids(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the ids by which calls and results find each other, in order, whatever the format."""
    if isinstance(value, list):
        for item in value:
            yield from _tool_ids(item)
        return
    if not isinstance(value, dict):
        return
    for name in ("tool_call_id", "tool_use_id", "call_id"):
        if isinstance(value.get(name), str):
            yield name, value[name]
    if value.get("type") in ("tool_use", "function") and isinstance(value.get("id"), str):
        yield "call", value["id"]
    for name in ("content", "tool_calls", "message", "payload"):
        yield from _tool_ids(value.get(name))


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
