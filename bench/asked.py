"""Measure whether evidence about what is being asked survives a budget, on generated conversations.

One entry of an old source is asked about: by the last user message, by the agent's newest words or
by a call that has no answer yet. It is kept if the view shows the number that the question does not
name, together with what it belongs to. Where nobody asks, the same entries are a control. Returns 1
if a target is missed.

examples:
  python bench/asked.py --profile standard
  python bench/asked.py --shares 30 --cases 40 --examples 5
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from asked_cases import ASKERS, KINDS, NOBODY, make_case
from refold import compress
from refold.options import Profile
from table import draw

TARGETS: Final = {50: 97, 30: 97, 15: 90}
"""Per cent kept at a share, for every asker; the nearest share counts for others."""
_AMPLE: Final = 10**9
_BYS: Final = ("id", "words")


@dataclass(frozen=True, slots=True)
class Job:
    """One case and the shares of its tokens that it must fit into."""

    kind: str
    asker: str
    number: int
    seed: int
    shares: tuple[int, ...]
    profile: Profile


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether the entry of one case was kept at one share."""

    kind: str
    asker: str
    by: str
    share: int
    is_kept: bool
    lost: str
    """What was asked for, in words."""


def main(argv: Sequence[str] | None = None) -> int:
    """Fold all cases, print the tables, and return 1 if a target is missed."""
    arguments = _parser().parse_args(argv)
    jobs = [
        Job(kind, asker, number, arguments.seed, arguments.shares, arguments.profile)
        for kind in KINDS
        for asker in ASKERS
        for number in range(arguments.cases)
    ]
    with multiprocessing.Pool(arguments.workers) as pool:
        outcomes = [one for found in pool.imap(run, jobs, chunksize=8) for one in found]
    print(_table(outcomes, arguments.shares), end="\n\n")
    missed = find_missed(outcomes, arguments.shares)
    print(*missed or ["all targets reached"], sep="\n")
    lost = [one for one in outcomes if not one.is_kept and one.asker != NOBODY]
    for one in lost[: arguments.examples]:
        print(f"  {one.kind}, asked by {one.asker} at {one.share} %: {one.lost}")
    return int(bool(missed))


def run(job: Job) -> list[Outcome]:
    """Fold one case into every share."""
    case = make_case(job.kind, job.asker, job.number, job.seed)
    tokens = compress(case.messages, profile=job.profile, token_budget=_AMPLE).tokens_before
    outcomes: list[Outcome] = []
    for share in job.shares:
        budget = tokens * share // 100
        view = compress(case.messages, profile=job.profile, token_budget=budget).messages
        entry = case.entry
        lost = f"case {job.number}, {entry.number} of {entry.id}, {entry.thing}, by {case.by}"
        kept = case.is_kept(view)
        outcomes.append(Outcome(job.kind, job.asker, case.by, share, kept, lost))
    return outcomes


def find_missed(outcomes: Sequence[Outcome], shares: Sequence[int]) -> list[str]:
    """Return in words which asker does not get what they ask for often enough."""
    missed: list[str] = []
    for asker in ASKERS:
        for share in shares:
            own = [o.is_kept for o in outcomes if o.asker == asker and o.share == share]
            target = _target(share)
            if asker != NOBODY and own and 100 * sum(own) < target * len(own):
                percent = 100 * sum(own) / len(own)
                missed.append(
                    f"MISSED: asked by {asker} at {share} %: {percent:.1f}% (≥ {target}%)"
                )
    return missed


def _target(share: int) -> int:
    return TARGETS[min(TARGETS, key=lambda known: (abs(known - share), known))]


def _table(outcomes: Sequence[Outcome], shares: Sequence[int]) -> str:
    cells: Mapping[tuple[str, str, str, int], list[bool]] = defaultdict(list)
    for one in outcomes:
        for kind in (one.kind, "all"):
            for by in (one.by, "both"):
                cells[one.asker, kind, by, one.share].append(one.is_kept)
    rows: list[list[str | int]] = []
    for asker in ASKERS:
        for kind in (*KINDS, "all"):
            row: list[str | int] = [asker, kind, len(cells[asker, kind, "both", shares[0]])]
            for share in shares:
                row += (_percent(cells[asker, kind, by, share]) for by in ("both", *_BYS))
            rows.append(row)
    header = ["asked by", "source", "cases"]
    for share in shares:
        header += [f"kept at {share} %", *(f"by {by}" for by in _BYS)]
    return draw(header, rows)


def _percent(kept: Sequence[bool]) -> str:
    return f"{100 * sum(kept) / len(kept):.0f}%" if kept else "–"


def _parser() -> argparse.ArgumentParser:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--shares", type=_numbers, default=(50, 30, 15), metavar="A,B", help="per cent (50,30,15)")
    add("--cases", type=int, default=20, help="of each source and asker (20)")
    add("--profile", default="standard", help="how to fold (standard)")
    add("--seed", type=int, default=17, help="other conversations (17)")
    add("--workers", type=int, default=2, help="processes at work (2)")
    add("--examples", type=int, default=0, help="losses to show (0)")
    return parser


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


if __name__ == "__main__":
    sys.exit(main())
