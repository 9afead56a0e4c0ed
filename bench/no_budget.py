"""Measure what a profile saves without a budget, and whether it keeps what it must.

DATA_DIR holds trajectory.*.jsonl.gz (agent runs) and qa.*.jsonl.gz (meetings). Each conversation is
folded by a profile and by the one that it is compared with: of agent runs it must save at least as
many tokens; what people say in meetings stays as it is. Made logs, records and search hits are
folded alone, after a label on their line, in an agent's envelope, and cut off. A tool result that
is not as it was must give the original back when its codecs are undone, or be a copy of one that is
shown; what people typed in up to 150 words must be as it was. Returns 1 if one of these does not
hold.

examples:
  python bench/no_budget.py ../shared/data --profile lossless --against classic
  python bench/no_budget.py ../shared/data --cap 5 --examples 10
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from statistics import mean

from records import Messages, parse_with_files, parser_for
from refold import Result, compress
from refold.options import Profile
from table import draw, share
from typed import find_typed, text_of
from undone import Undoing

RUNS, MEETINGS = "agent runs", "meetings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One conversation, and the profiles that fold it."""

    group: str
    place: str
    messages: Messages
    profile: Profile
    against: Profile


@dataclass(slots=True)
class Sum:
    """What both profiles made of some conversations."""

    conversations: int = 0
    tokens: int = 0
    saved: int = 0
    saved_by_other: int = 0
    results: int = 0
    changed: int = 0
    """Tool results that are not as they were."""
    losses: list[str] = field(default_factory=list)
    """Those of them that do not give the original back."""
    typed: int = 0
    rewritten: list[str] = field(default_factory=list)
    """Short typed messages that are not as they were."""

    def add(self, other: Sum) -> None:
        """Add the figures of another."""
        self.conversations += other.conversations
        self.tokens += other.tokens
        self.saved += other.saved
        self.saved_by_other += other.saved_by_other
        self.results += other.results
        self.changed += other.changed
        self.losses += other.losses
        self.typed += other.typed
        self.rewritten += other.rewritten


def main(argv: Sequence[str] | None = None) -> int:
    """Fold everything with both profiles, print the table, and return 1 if a target is missed."""
    arguments, _ = parse_with_files(_parser(), argv)
    sums = {RUNS: Sum(), MEETINGS: Sum()}
    with multiprocessing.Pool(arguments.workers) as pool:
        for group, found in pool.imap(run, find_jobs(arguments), chunksize=2):
            sums[group].add(found)
    print(_table(sums, arguments.profile, arguments.against), end="\n\n")
    print(_table_of_made(arguments.profile), end="\n\n")
    missed = [line for group, one in sums.items() for line in find_missed(group, one, arguments)]
    print(*missed or ["all targets reached"], sep="\n")
    for one in sums.values():
        for fault in (*one.losses[: arguments.examples], *one.rewritten[: arguments.examples]):
            print(f"  {fault}")
    return int(bool(missed))


def find_jobs(arguments: argparse.Namespace) -> Iterator[Job]:
    """Yield every conversation of the two kinds."""
    for group, pattern in ((RUNS, "trajectory.*.jsonl.gz"), (MEETINGS, "qa.*.jsonl.gz")):
        for file in sorted(arguments.data_dir.glob(pattern)):
            with gzip.open(file, "rt", encoding="utf-8") as lines:
                for number, line in enumerate(islice(lines, arguments.cap), 1):
                    yield Job(
                        group=group,
                        place=f"{file.name} line {number}",
                        messages=json.loads(line)["messages"],
                        profile=arguments.profile,
                        against=arguments.against,
                    )


def run(job: Job) -> tuple[str, Sum]:
    """Fold one conversation with both profiles."""
    result = compress(job.messages, profile=job.profile, trace=True)
    other = compress(job.messages, profile=job.against)
    found = Sum(
        conversations=1,
        tokens=result.tokens_before,
        saved=result.tokens_saved,
        saved_by_other=other.tokens_saved,
    )
    _look_at_results(job, result, found)
    _look_at_typed(job, result, found)
    return job.group, found


def _look_at_results(job: Job, result: Result, found: Sum) -> None:
    undoing = Undoing(job.messages, result)
    found.results = undoing.results
    for index, is_undone in undoing.changed():
        found.changed += 1
        if not is_undone:
            found.losses.append(f"{job.place}: tool result in message {index} changed with loss")


def _look_at_typed(job: Job, result: Result, found: Sum) -> None:
    """Count short typed messages that are gone or changed; copies are told apart by number."""
    shown = Counter(text_of(m) for m in result.messages if m.get("role") == "user")
    for typed in find_typed(job.messages):
        text = text_of(job.messages[typed.index])
        if not typed.is_short:
            continue
        found.typed += 1
        if shown[text]:
            shown[text] -= 1
        else:
            found.rewritten.append(f"{job.place}: typed message {typed.index}: {text[:80]!r}")


def find_missed(group: str, one: Sum, arguments: argparse.Namespace) -> Iterator[str]:
    """Yield in words what does not hold."""
    if group == RUNS and one.saved < one.saved_by_other:
        saved, other = share(one.saved, one.tokens), share(one.saved_by_other, one.tokens)
        yield f"MISSED: {group}: saves {saved}, {arguments.against} {other}"
    if one.losses:
        yield f"MISSED: {group}: {len(one.losses):,} tool results with loss"
    if one.rewritten:
        yield f"MISSED: {group}: {len(one.rewritten):,} short typed messages changed"


def _table(sums: dict[str, Sum], profile: str, against: str) -> str:
    header = [
        *("", "conversations", "tokens", f"saved, {profile}", f"saved, {against}"),
        *("tool results", "changed", "with loss", "short typed", "changed"),
    ]
    return draw(
        header,
        [
            [
                *(group, one.conversations, one.tokens),
                *(share(one.saved, one.tokens), share(one.saved_by_other, one.tokens)),
                *(one.results, one.changed, len(one.losses), one.typed, len(one.rewritten)),
            ]
            for group, one in sums.items()
        ],
    )


FORMS = {
    "alone": "{}",
    "after a label": "Output: {}",
    "in an envelope": "<returncode>0</returncode>\n<output>\n{}\n</output>",
}


def nginx(dice: random.Random) -> str:
    """Make an access log."""
    return "\n".join(
        f"203.0.113.{dice.randint(1, 254)} - - [15/Nov/2031:10:{n // 60:02}:{n % 60:02} +0000] "
        f'"GET {dice.choice(("/", "/cart", "/api/v1/orders"))} HTTP/1.1" '
        f'{dice.choice((200, 200, 404, 502))} {dice.randint(100, 90_000)} "https://shop.example/" '
        '"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"'
        for n in range(120)
    )


def ndjson(dice: random.Random) -> str:
    """Make a log of JSON lines."""
    return "\n".join(
        json.dumps(
            {
                "timestamp": f"2031-11-15T10:{n // 60:02}:{n % 60:02}Z",
                "level": dice.choice(("info", "warn")),
                "service": "orders",
                "message": dice.choice(("request handled", "queue drained", "slow query")),
                "duration_ms": dice.randint(1, 900),
                "request_id": f"{dice.getrandbits(48):012x}",
            }
        )
        for n in range(80)
    )


def rows(dice: random.Random) -> str:
    """Make the records of an answer."""
    made = [
        {
            "order_id": f"W{dice.randint(10**6, 10**7)}",
            "customer_name": dice.choice(("Ines Roy", "Pavel Novak", "Amara Diallo")),
            "status": dice.choice(("open", "closed", "waiting")),
            "total_amount": round(dice.random() * 900, 2),
            "items_count": dice.randint(1, 9),
        }
        for _ in range(60)
    ]
    return json.dumps(made, indent=2)


def grep(dice: random.Random) -> str:
    """Make search hits, some in each file."""
    return "\n".join(
        f"src/server/{folder}/{name}.py:{dice.randint(1, 900)}:    {name}({dice.choice('abcd')})"
        for folder in ("export", "import", "queue")
        for name in ("parse_header", "flush_queue", "open_gate", "load_config")
        for _ in range(dice.randint(2, 9))
    )


MADE: tuple[Callable[[random.Random], str], ...] = (nginx, ndjson, rows, grep)


def _saved_of(text: str, profile: Profile) -> float:
    """Return the share of tokens that a run saves whose one result is *text*."""
    call = {"id": "c1", "type": "function", "function": {"name": "query", "arguments": "{}"}}
    run: Messages = [
        {"role": "user", "content": "Look into it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": text},
        *({"role": "user", "content": f"And {n}?"} for n in range(4)),
    ]
    result = compress(run, profile=profile)
    return result.tokens_saved / result.tokens_before


def _table_of_made(profile: Profile) -> str:
    table = []
    for make in MADE:
        texts = [make(random.Random(seed)) for seed in range(3)]
        kinds = [[form.format(text) for text in texts] for form in FORMS.values()]
        kinds.append([text[: 2 * len(text) // 3] for text in texts])
        shares = [mean(_saved_of(text, profile) for text in kind) for kind in kinds]
        table.append([make.__name__, *(f"{share:.1%}" for share in shares)])
    return draw(["saved of", *FORMS, "cut off"], table)


def _parser() -> argparse.ArgumentParser:
    parser = parser_for(__doc__)
    parser.add_argument("--profile", default="standard", help="the profile to measure (standard)")
    parser.add_argument("--against", default="classic", help="the one to compare with (classic)")
    parser.add_argument("--examples", type=int, default=0, help="faults of each kind to show (0)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
