"""Time compress() on inputs made to be slow, at three sizes, and check that each comes back.

examples:
  python bench/adversarial.py
  python bench/adversarial.py --size-kb 50 --only "tiny" --only "quotes"
  python bench/adversarial.py --unprotected --json > speed.json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, Final

from hostile import HOSTILE, Hostile, Messages
from refold import compress, uncompress
from table import draw

_DOUBLINGS: Final = (1, 2, 4)
_MAX_GROWTH: Final = 2.5
_NOISE_MS: Final = 20.0
"""Below this a growth factor says more about the machine than about the code."""
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the inputs and return 1 if any is slow, grows too fast or does not come back."""
    arguments = _parse(argv)
    chosen = [h for h in HOSTILE if not arguments.only or any(o in h.name for o in arguments.only)]
    if not chosen:
        print(f"no input is called {', '.join(map(repr, arguments.only))}", file=sys.stderr)
        return 2
    if arguments.unprotected:
        chosen = [replace(h, options={**h.options, "observation_threshold": 0}) for h in chosen]
    timings = list(_measure_all(chosen, arguments))
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
    parser.add_argument("--repeat", type=int, default=3, help="runs of each size, best counts (3)")
    parser.add_argument(
        "--unprotected",
        action="store_true",
        help="take the protection of structure away (observation_threshold=0), so that every text "
        "reaches the summarizer",
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="TEXT", help="inputs whose name has TEXT"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args(argv)


def _measure_all(chosen: Sequence[Hostile], arguments: argparse.Namespace) -> Iterator[Timing]:
    for number, hostile in enumerate(chosen, 1):
        if sys.stderr.isatty():
            print(f"\r\033[K{number}/{len(chosen)} {hostile.name}", end="", file=sys.stderr)
        yield _measure(hostile, arguments.size_kb, arguments.repeat, arguments.seconds_per_mb)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)


def _measure(hostile: Hostile, size_kb: int, repeat: int, limit: float) -> Timing:
    inputs = [hostile.make(size_kb * factor) for factor in _DOUBLINGS]
    best = [float("inf")] * len(inputs)
    restored = True
    for attempt in range(repeat):
        for place, messages in enumerate(inputs):
            seconds, came_back = _time(messages, hostile.options, check=attempt == 0)
            best[place] = min(best[place], seconds)
            restored = restored and came_back
            if seconds > _PATIENCE_S:
                inputs, best = inputs[: place + 1], best[: place + 1]
                break
        if best[-1] > _PATIENCE_S:
            break
    growth = max((b / a for a, b in pairwise(best) if 1000 * b > _NOISE_MS), default=0.0)
    per_mb = best[-1] / (_wire_chars(inputs[-1]) / 1e6)
    flags = []
    if growth > _MAX_GROWTH:
        flags.append("growth")
    if per_mb > limit:
        flags.append("slow")
    if not restored:
        flags.append("not restored")
    return Timing(
        name=hostile.name,
        milliseconds=tuple(round(1000 * seconds, 2) for seconds in best),
        growth=round(growth, 2),
        seconds_per_mb=round(per_mb, 3),
        restored=restored,
        flags=tuple(flags),
    )


def _time(messages: Messages, options: Any, *, check: bool) -> tuple[float, bool]:
    began = time.perf_counter()
    result = compress(messages, recency_window=0, **options)
    seconds = time.perf_counter() - began
    if not check:
        return seconds, True
    return seconds, uncompress(result.messages, result.verbatim).messages == messages


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
