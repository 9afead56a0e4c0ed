"""Time compress() on inputs made to be slow, at three sizes, and check that each comes back.

examples:
  python bench/adversarial.py
  python bench/adversarial.py --size-kb 50 --only "tiny" --only "quotes"
  python bench/adversarial.py --unprotected --json > speed.json
  python bench/adversarial.py --profile standard --budget-share 0.5
  python bench/adversarial.py --max-growth 2.2 --seconds-per-mb 0.3
  python bench/adversarial.py --derived --share 0.1 --seed 3
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import pairwise
from multiprocessing import get_context
from typing import Any, Final

from hostile import HOSTILE, Messages
from refold import compress, uncompress
from table import draw

_DOUBLINGS: Final = (1, 2, 4)
_NOISE_MS: Final = 20.0
"""Below this a growth factor says more about the machine than about the code."""
_SECOND_LOOKS: Final = 4
"""What seems to be slow is run so many times as often: other programs only ever add to a time."""
_PATIENCE_S: Final = 20.0
"""A single run longer than this is not repeated, and larger sizes are not tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """What one input cost at its sizes."""

    name: str
    milliseconds: tuple[float, ...]
    growth: float
    """Largest factor by which the time grew when the input doubled."""
    seconds_per_mb: float
    """At the largest size that was tried."""
    restored: bool
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """An input at a size, and how it is to be folded and timed."""

    name: str
    options: tuple[tuple[str, Any], ...]
    budget_share: float | None
    uses_cpu: bool
    size_kb: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came of folding an input once."""

    seconds: float
    wire_chars: int
    restored: bool


def main(argv: Sequence[str] | None = None) -> int:
    """Run the inputs and return 1 if any is slow, grows too fast or does not come back."""
    arguments = _parse(argv)
    if arguments.derived:
        return _try_derived(arguments)
    chosen = [h for h in HOSTILE if not arguments.only or any(o in h.name for o in arguments.only)]
    if not chosen:
        print(f"no input is called {', '.join(map(repr, arguments.only))}", file=sys.stderr)
        return 2
    common: dict[str, Any] = {}
    if arguments.unprotected:
        common = {"profile": "classic", "observation_threshold": 0}
    if arguments.profile:
        common["profile"] = arguments.profile
    trials = [
        Trial(
            name=hostile.name,
            options=tuple(common.items()),
            budget_share=arguments.budget_share,
            uses_cpu=arguments.cpu,
        )
        for hostile in chosen
    ]
    with ExitStack() as stack:
        workers = [stack.enter_context(_worker()) for _ in _DOUBLINGS]
        timings = list(_measure_all(trials, arguments, workers))
    if arguments.json:
        print(json.dumps([asdict(timing) for timing in timings], indent=2))
    else:
        print(_report(timings, arguments.size_kb))
    return int(any(timing.flags for timing in timings))


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    summary, _, examples = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--size-kb", type=int, default=250, help="smallest of three sizes (250)")
    parser.add_argument("--seconds-per-mb", type=float, default=2.0, help="slower is flagged (2.0)")
    parser.add_argument("--max-growth", type=float, default=2.5, help="more is flagged (2.5)")
    parser.add_argument(
        "--repeat",
        type=int,
        default=3,
        help="runs of each size, best counts; more where one seems slow (3)",
    )
    parser.add_argument(
        "--unprotected",
        action="store_true",
        help="take the protection of structure away (observation_threshold=0), so that every text "
        "reaches the summarizer",
    )
    parser.add_argument(
        "--cpu",
        action="store_true",
        help="tell CPU time instead of wall time: steadier where other programs run, too",
    )
    parser.add_argument("--profile", metavar="NAME", help="passed on to compress(profile=NAME)")
    parser.add_argument(
        "--budget-share",
        type=float,
        metavar="SHARE",
        help="fold into this share of the tokens, such as 0.5",
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="TEXT", help="inputs whose name has TEXT"
    )
    parser.add_argument(
        "--derived",
        action="store_true",
        help="instead, time every pattern of the package on inputs derived from it, at 20, 40 and "
        "80 kB of CPU time",
    )
    parser.add_argument("--share", type=float, default=1.0, help="of the derived inputs (1.0)")
    parser.add_argument("--seed", type=int, default=0, help="of what is derived (0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args(argv)


def _try_derived(arguments: argparse.Namespace) -> int:
    """Try what is derived from patterns; print and return 1 if any of it is slow."""
    from derived import try_patterns

    count = slow = 0
    names: set[str] = set()
    for tried in try_patterns(arguments.share, arguments.seed):
        count += 1
        names.add(tried.what)
        if tried.is_slow:
            slow += 1
            print(f"slow: {tried}", flush=True)
        if sys.stderr.isatty():
            print(f"\r\033[K{count} {tried.what}", end="", file=sys.stderr)
    print(f"{len(names)} patterns, {count} inputs tried, {slow} slow")
    return int(slow > 0)


def _worker() -> Executor:
    """Start a process that will do all the runs of one size.

    The allocator of a process learns from the largest block it has seen what to hand back to the
    system, and its collector from all that lives. In one process for all sizes, the largest alone
    would pay for fresh pages at every run, and the others would live on what it has left.
    """
    return ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn"))


def _measure_all(
    trials: Sequence[Trial], arguments: argparse.Namespace, workers: Sequence[Executor]
) -> Iterator[Timing]:
    for number, trial in enumerate(trials, 1):
        if sys.stderr.isatty():
            print(f"\r\033[K{number}/{len(trials)} {trial.name}", end="", file=sys.stderr)
        yield _measure(trial, arguments, workers)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)


def _measure(trial: Trial, arguments: argparse.Namespace, workers: Sequence[Executor]) -> Timing:
    sizes = [replace(trial, size_kb=arguments.size_kb * factor) for factor in _DOUBLINGS]
    best = [float("inf")] * len(sizes)
    restored = True
    flags: list[str] = []
    for attempt in range(arguments.repeat * _SECOND_LOOKS):
        for place, sized in enumerate(sizes):
            run = workers[place].submit(_run, sized, check=attempt == 0).result()
            best[place] = min(best[place], run.seconds)
            restored = restored and run.restored
            if run.seconds > _PATIENCE_S:
                sizes, best = sizes[: place + 1], best[: place + 1]
                break
        growth = max((b / a for a, b in pairwise(best) if 1000 * b > _NOISE_MS), default=0.0)
        per_mb = best[-1] / (run.wire_chars / 1e6)
        flags = ["growth"] * (growth > arguments.max_growth)
        flags += ["slow"] * (per_mb > arguments.seconds_per_mb)
        if best[-1] > _PATIENCE_S or (attempt + 1 >= arguments.repeat and not flags):
            break
    flags += ["not restored"] * (not restored)
    return Timing(
        name=trial.name,
        milliseconds=tuple(round(1000 * seconds, 2) for seconds in best),
        growth=round(growth, 2),
        seconds_per_mb=round(per_mb, 3),
        restored=restored,
        flags=tuple(flags),
    )


def _run(trial: Trial, *, check: bool) -> Run:
    """Time one run, which begins with no garbage of those before; done by a worker."""
    messages, options, wire_chars = _prepare(trial)
    clock = time.process_time if trial.uses_cpu else time.perf_counter
    gc.collect()
    began = clock()
    result = compress(messages, recency_window=0, **options)
    seconds = clock() - began
    restored = not check or uncompress(result.messages, result.verbatim).messages == messages
    return Run(seconds=seconds, wire_chars=wire_chars, restored=restored)


@lru_cache(maxsize=1)
def _prepare(trial: Trial) -> tuple[Messages, dict[str, Any], int]:
    """Make the input and the options for it; tell its size on the wire, too."""
    hostile = next(hostile for hostile in HOSTILE if hostile.name == trial.name)
    messages = hostile.make(trial.size_kb)
    options = dict(trial.options)
    if options.get("profile") in (None, hostile.options.get("profile")):
        options = {**hostile.options, **options}  # those of another profile mean nothing here
    if trial.budget_share is not None:
        tokens = compress(messages, compression_threshold=sys.maxsize).tokens_before
        options["token_budget"] = max(1, int(trial.budget_share * tokens))
    return messages, options, _wire_chars(messages)


def _wire_chars(messages: Messages) -> int:
    """Return the size on the wire, so that framing of tiny messages counts as input too."""
    return len(json.dumps(messages, ensure_ascii=False))


def _report(timings: Sequence[Timing], size_kb: int) -> str:
    sizes = [f"ms at {size_kb * factor} kB" for factor in _DOUBLINGS]
    rows = [
        [
            timing.name,
            *(_milliseconds(timing, place) for place in range(len(_DOUBLINGS))),
            timing.growth,
            timing.seconds_per_mb,
            ", ".join(timing.flags) or "ok",
        ]
        for timing in timings
    ]
    flagged = sum(bool(timing.flags) for timing in timings)
    table = draw(["input", *sizes, "growth", "s/MB", "verdict"], rows)
    return f"{table}\n\n{len(timings)} inputs, {flagged} flagged"


def _milliseconds(timing: Timing, place: int) -> float:
    return timing.milliseconds[place] if place < len(timing.milliseconds) else float("nan")


if __name__ == "__main__":
    sys.exit(main())
