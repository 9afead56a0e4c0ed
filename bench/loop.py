"""Replay conversations turn by turn through a Session, and compare with folding anew each turn.

python bench/loop.py DATA_DIR                 # the ten longest trajectories of *.jsonl.gz
python bench/loop.py DATA_DIR --share 0.25    # budget: this share of the whole conversation
python bench/loop.py                          # a generated conversation of 400 messages
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from refold import Session, compress, uncompress

Messages = list[dict[str, Any]]
SAMPLED_TURNS = 12
"""Folding anew is timed on this many turns, evenly spread, and scaled up."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What one replay showed."""

    name: str
    messages: int
    median_ms: float
    p99_ms: float
    stable: float
    total_s: float
    anew_s: float
    folds: int
    is_restored: bool


def recorded(directory: Path, most: int) -> Iterator[tuple[str, Messages]]:
    """Yield the longest trajectories."""
    found: list[tuple[int, str, Messages]] = []
    for path in sorted(directory.glob("trajectory.*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                found.append((len(record["messages"]), str(record["source"]), record["messages"]))
    found.sort(key=lambda item: -item[0])
    for number, (_, source, messages) in enumerate(found[:most], 1):
        yield f"{number} {source}", messages


def generated() -> Iterator[tuple[str, Messages]]:
    """Yield one long made-up conversation with tool calls."""
    rng = random.Random(5)
    words = (
        "the ledger keeps nine crates near a quiet pier while every ferry counts its rope".split()
    )

    def prose(count: int) -> str:
        sentences = (" ".join(rng.choices(words, k=12)).capitalize() + "." for _ in range(count))
        return " ".join(sentences)

    messages: Messages = [{"role": "system", "content": "You are a careful agent."}]
    for turn in range(100):
        messages.append({"role": "user", "content": prose(3)})
        function = {"name": "look", "arguments": json.dumps({"turn": turn})}
        call = {"id": f"c{turn}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": prose(6), "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{turn}", "content": prose(20)})
        messages.append({"role": "assistant", "content": prose(8)})
    yield "generated", messages


def replay(name: str, messages: Messages, share: float) -> Replay:
    """Append message by message, asking for a view after each."""
    budget = int(compress(messages).tokens_before * share) if share else None
    session = Session()
    times: list[float] = []
    stable = 0
    before: Messages = []
    for message in messages:
        start = time.perf_counter()
        session.append(message)
        view = session.view(budget)
        times.append(time.perf_counter() - start)
        stable += view[: len(before)] == before
        before = view
    times.sort()
    return Replay(
        name=name,
        messages=len(messages),
        median_ms=median(times) * 1e3,
        p99_ms=times[int(0.99 * (len(times) - 1))] * 1e3,
        stable=stable / len(messages),
        total_s=sum(times),
        anew_s=fold_anew(messages, budget),
        folds=session.report.folds,
        is_restored=uncompress(before, session.verbatim).messages == messages,
    )


def fold_anew(messages: Messages, budget: int | None) -> float:
    """Estimate what folding from scratch after every turn costs in all."""
    step = max(1, len(messages) // SAMPLED_TURNS)
    spent = 0.0
    for end in range(step, len(messages) + 1, step):
        start = time.perf_counter()
        compress(messages[:end], token_budget=budget)
        spent += time.perf_counter() - start
    return spent * step


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?", help="directory of *.jsonl.gz")
    parser.add_argument("--most", type=int, default=10, help="how many trajectories")
    parser.add_argument("--share", type=float, default=0.25, help="budget share; 0 for none")
    args = parser.parse_args()
    head = ("conversation", "msgs", "median ms", "p99 ms", "stable", "total s", "anew s", "ratio")
    print("{:<34} {:>5} {:>9} {:>8} {:>7} {:>8} {:>8} {:>7}  folds".format(*head))
    rows = []
    for name, messages in recorded(args.data, args.most) if args.data else generated():
        row = replay(name, messages, args.share)
        rows.append(row)
        print(
            f"{row.name:<34} {row.messages:>5} {row.median_ms:>9.3f} {row.p99_ms:>8.1f} "
            f"{row.stable:>7.1%} {row.total_s:>8.2f} {row.anew_s:>8.1f} "
            f"{row.anew_s / row.total_s:>6.0f}x  {row.folds}"
            f"{'' if row.is_restored else '  NOT RESTORED'}",
            flush=True,
        )
    turns = sum(row.messages for row in rows)
    stable = sum(row.stable * row.messages for row in rows) / turns
    ratio = sum(row.anew_s for row in rows) / sum(row.total_s for row in rows)
    print(f"all: {turns} turns, prefix stable in {stable:.1%}, {ratio:.0f}x less than folding anew")


if __name__ == "__main__":
    main()
