"""Replay conversations turn by turn through a Session, and compare with folding anew each turn.

python bench/loop.py DATA_DIR                 # the ten longest trajectories of *.jsonl.gz
python bench/loop.py DATA_DIR --share 0.25    # budget: this share of the whole conversation
python bench/loop.py                          # a generated conversation of 400 messages
python bench/loop.py --turns 20000            # what a turn costs as a conversation grows
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from refold import ContextWindowManager, Session, SqliteStore, compress, uncompress
from refold.options import Profile

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


MARKS = (2_500, 5_000, 10_000, 20_000)
GROWING_BUDGET = 8_000


@dataclass(frozen=True, slots=True)
class Growing:
    """A way to send a conversation that grows, and the store that it writes to."""

    name: str
    turn: Callable[[Messages], Messages]
    """Takes everything that was said, of which the last message is new; returns what to send."""
    path: Path


def growing(folder: Path) -> Iterator[Growing]:
    """Yield a session of each profile, and a window manager that is given the whole history."""
    for profile in ("classic", "standard"):
        path = folder / f"{profile}.db"
        yield Growing(f"session, {profile}", _session_turn(profile, path), path)
    path = folder / "window.db"
    manager = ContextWindowManager(
        context_limit=GROWING_BUDGET, reserve_output_tokens=0, store=SqliteStore(path)
    )
    yield Growing("window, fold", lambda told: manager.fit(told).messages, path)


def _session_turn(profile: Profile, path: Path) -> Callable[[Messages], Messages]:
    session = Session(profile=profile, token_budget=GROWING_BUDGET, store=SqliteStore(path))

    def turn(told: Messages) -> Messages:
        session.append(told[-1])
        return session.view()

    return turn


def long_talk(turns: int) -> Messages:
    """Make up a conversation of so many turns of about 1 kB."""
    rng = random.Random(7)
    words = "ledger crate pier ferry rope harbour signal config retry queue worker index".split()
    messages: Messages = [{"role": "system", "content": "You are a careful agent."}]
    for turn in range(turns):
        sentences = (
            f"{' '.join(rng.choices(words, k=12)).capitalize()} {rng.randrange(100_000)}."
            for _ in range(11)
        )
        messages.append({"role": ("user", "assistant")[turn % 2], "content": " ".join(sentences)})
    return messages


def grow(way: Growing, messages: Messages) -> None:
    """Print what it has cost after so many turns: seconds of CPU, the slowest turn, the store."""
    told: Messages = []
    spent = worst = 0.0
    chars = 0
    for turn, message in enumerate(messages):
        told.append(message)
        chars += len(json.dumps(message))
        start = time.process_time()
        view = way.turn(told)
        took = time.process_time() - start
        spent, worst = spent + took, max(worst, took)
        if turn in MARKS or turn == len(messages) - 1:
            kept = sum(path.stat().st_size for path in way.path.parent.glob(f"{way.path.name}*"))
            print(
                f"{way.name:<18} {turn:>6} {spent:>8.1f} {1e3 * spent / (turn + 1):>8.2f} "
                f"{1e3 * worst:>9.1f} {kept / chars:>7.2f}",
                flush=True,
            )
    with SqliteStore(way.path, read_only=True) as store:
        if uncompress(view, store).messages != messages:
            print(f"{way.name}: NOT RESTORED")


def print_growth(turns: int) -> None:
    """Print how each way to send a conversation grows."""
    messages = long_talk(turns)
    head = ("way", "turns", "CPU s", "ms/turn", "worst ms", "store")
    print("{:<18} {:>6} {:>8} {:>8} {:>9} {:>7}".format(*head))
    with TemporaryDirectory() as folder:
        for way in growing(Path(folder)):
            gc.collect()  # what the way before it has left behind is not this one's cost
            grow(way, messages)
    print(f"budget {GROWING_BUDGET:,} tokens; store: bytes in files / bytes of the conversation")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?", help="directory of *.jsonl.gz")
    parser.add_argument("--most", type=int, default=10, help="how many trajectories")
    parser.add_argument("--share", type=float, default=0.25, help="budget share; 0 for none")
    parser.add_argument("--turns", type=int, help="how far a made-up conversation is to grow")
    args = parser.parse_args()
    if args.turns:
        print_growth(args.turns)
        return
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
