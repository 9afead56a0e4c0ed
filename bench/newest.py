"""Measure whether the newest results survive a budget, on recorded runs.

DATA_DIR holds trajectory.*.jsonl.gz, one record a line, with `messages` in OpenAI's chat format. A
run is cut before a call of the agent, and what came before is folded into the system prompt and a
share of the other tokens. Counted are the values in the arguments of that call which only the
newest results have: those that came since the assistant last spoke. Cuts where these results, the
task and the last user message do not fit are left out: there, nothing older is in the way. Returns
1 if a target is missed.

examples:
  python bench/newest.py ../shared/data
  python bench/newest.py ../shared/data --shares 30 --cap 5 --examples 10
"""

from __future__ import annotations

import gzip
import json
import multiprocessing
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from records import Messages, calls_of, parse_with_files, parser_for, values_in
from refold import compress
from table import draw, share
from typed import text_of

TARGETS: Final = {50: 100, 30: 100, 15: 98}
_MODEL: Final = "gpt-4o"
"""Counted exactly: an estimate would keep a tenth of the system prompt free, too."""
_AMPLE: Final = 10**9
_CUTS_A_RUN: Final = 5
_MOST_TOKENS: Final = 12_000
_FITS_SHARE: Final = 0.8
_MARK: Final = 24
"""Tokens of the mark of everything else, in a conversation without a name."""
_MOST_CHARS: Final = 100
"""Longer values are texts."""


@dataclass(frozen=True, slots=True)
class Job:
    """One cut of a run, and the values of the next call that only the newest results have."""

    place: str
    messages: Messages
    values: tuple[str, ...]
    shares: tuple[int, ...]


def main(argv: Sequence[str] | None = None) -> int:
    """Fold everything, print a row for each share, and return 1 if a target is missed."""
    parser = parser_for(__doc__)
    parser.add_argument("--shares", type=_numbers, default=(50, 30, 15), metavar="A,B")
    parser.add_argument("--examples", type=int, default=0, help="lost values to name (0)")
    arguments, files = parse_with_files(parser, argv, "trajectory.")
    jobs: list[Job] = []
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(islice(lines, arguments.cap), 1):
                place = f"{file.name} line {number}"
                jobs += find_jobs(place, json.loads(line)["messages"], arguments.shares)
    kept: dict[int, list[bool]] = defaultdict(list)
    lost: list[str] = []
    with multiprocessing.Pool(arguments.workers) as pool:
        for job, outcomes in zip(jobs, pool.imap(run, jobs, chunksize=4), strict=True):
            for at, value, is_kept in outcomes:
                kept[at].append(is_kept)
                if not is_kept:
                    lost.append(f"  {job.place}, {len(job.messages)} messages, {at} %: {value!r}")
    rows = [
        (f"at {at} %", len(kept[at]), share(sum(kept[at]), len(kept[at])), f"≥ {_target(at)}%")
        for at in arguments.shares
    ]
    print(draw(["", "values", "kept", "target"], rows))
    print(*lost[: arguments.examples], sep="\n")
    return int(any(100 * sum(kept[at]) < _target(at) * len(kept[at]) for at in arguments.shares))


def find_jobs(place: str, messages: Messages, shares: tuple[int, ...]) -> Iterator[Job]:
    """Yield some cuts of a run, by seed, at which the next call uses the newest results."""
    cuts = [
        cut
        for cut in range(4, len(messages))
        if messages[cut].get("tool_calls") and messages[cut - 1]["role"] == "tool"
    ]
    for cut in sorted(random.Random(place).sample(cuts, min(_CUTS_A_RUN, len(cuts)))):
        start = _newest(messages[:cut])
        fresh = "\n".join(map(text_of, messages[start:cut]))
        past = "\n".join(json.dumps(message, ensure_ascii=False) for message in messages[:start])
        used = (str(v) for _, _, given in calls_of(messages[cut]) for v in values_in(given or ""))
        values = tuple(
            value
            for value in dict.fromkeys(used)
            if 3 <= len(value) <= _MOST_CHARS and _stands(value, fresh) and value not in past
        )
        if values:
            yield Job(place, messages[:cut], values, shares)


def run(job: Job) -> list[tuple[int, str, bool]]:
    """Fold one cut into every share where the newest can stay: share, value, whether it did."""
    messages = job.messages
    rest = [message for message in messages if message["role"] != "system"]
    tokens = _count(messages)
    if tokens > _MOST_TOKENS:
        return []
    system = tokens - _count(rest)
    users = [message for message in rest if message["role"] == "user"]
    needed = _count([*users[:1], *users[1:][-1:]]) + _count(messages[_newest(messages) - 1 :])
    outcomes: list[tuple[int, str, bool]] = []
    for at in job.shares:
        room = (tokens - system) * at // 100
        if needed <= min(_FITS_SHARE * room, room - _MARK):
            view = compress(messages, token_budget=system + room, model=_MODEL).messages
            text = "\n".join(map(text_of, view))
            outcomes += ((at, value, _stands(value, text)) for value in job.values)
    return outcomes


def _newest(messages: Messages) -> int:
    """Return where the results begin that came since the assistant last spoke."""
    start = len(messages)
    while start and messages[start - 1]["role"] == "tool":
        start -= 1
    return start


def _count(messages: Messages) -> int:
    return compress(messages, token_budget=_AMPLE, model=_MODEL).tokens_before


def _stands(value: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def _target(at: int) -> int:
    return TARGETS[min(TARGETS, key=lambda known: (abs(known - at), known))]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


if __name__ == "__main__":
    sys.exit(main())
