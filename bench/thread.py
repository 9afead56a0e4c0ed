"""Measure whether a folded conversation stays a conversation, on recorded runs and chats.

DATA_DIR holds trajectory.*.jsonl.gz and chat.*.jsonl.gz, one record a line, with `messages` in
OpenAI's chat format. Each run is cut before a turn of the agent at 50 and 75 per cent of its
messages, and what came before is folded into the system prompt and a share of the other tokens.
Counted are what people typed, the task, calls that changed something, how the view ends, and pieces
of shortened texts that begin or end inside a word, a cell or a string. `typed.py`, `changing.py`
and `whole_pieces.py` say what is what. Returns 1 if a target is missed.

examples:
  python bench/thread.py ../shared/data --profile standard
  python bench/thread.py ../shared/data --shares 30 --cap 5 --examples 10
  python bench/thread.py ../shared/data --cuts 50,75,100 --model gpt-4o
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from changing import Traces, find_changes
from records import Messages, parser_for
from refold import compress
from refold.options import Profile
from thread_figures import CHANGES, ENDING, NO_TRACE, PIECES, TASK, UNKNOWN, WHOLE, Sum, report
from typed import Shown, Typed, find_typed, text_of
from whole_pieces import Originals, check_pieces

_FAMILIES: Final = {
    "tau": "service",
    "mini-swe": "swe",
    "swe-agent": "swe",
    "openhands": "swe",
    "claude-code": "coding",
    "codex": "coding",
    "pi-": "coding",
    "aider": "aider",
}
"""By how the names of sources begin; others are called by their own."""
_MIN_TOKENS: Final = 1500
"""Shorter pasts are not worth folding; the fidelity kit cuts no earlier either."""
_AMPLE: Final = 10**9
"""A budget that leaves nothing to do but count."""
_HALF: Final = 0.5
_FITS_SHARE: Final = 0.6
"""An ending fits if it and what has the first claim take at most this share of the room: the rest
goes to what was typed, said and done before, which have the older claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One conversation and how it is to be folded."""

    family: str
    place: str
    """File, line and cut, for people."""
    messages: Messages
    shares: tuple[int, ...]
    profile: Profile
    model: str | None


def main(argv: Sequence[str] | None = None) -> int:
    """Fold everything, print a table for each share, and return 1 if a target is missed."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    jobs = list(find_jobs(arguments))
    sums: dict[tuple[int, str], Sum] = {}
    with multiprocessing.Pool(arguments.workers) as pool:
        for job, found in zip(jobs, pool.imap(run, jobs, chunksize=2), strict=True):
            for at, one in found.items():
                sums.setdefault((at, job.family), Sum()).add(one)
                sums.setdefault((at, "all"), Sum()).add(one)
    if not sums:
        parser.error(f"no run of {_MIN_TOKENS} tokens or more in {arguments.data_dir}")
    is_missed = False
    for at in arguments.shares:
        rows = {family: one for (when, family), one in sums.items() if when == at}
        is_missed |= report(at, rows, arguments.examples)
    return int(is_missed)


def find_jobs(arguments: argparse.Namespace) -> Iterator[Job]:
    """Yield every run at every cut."""
    for file in sorted(arguments.data_dir.glob("*.jsonl.gz")):
        if not file.name.startswith(("trajectory.", "chat.")):
            continue
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(islice(lines, arguments.cap), 1):
                messages = json.loads(line)["messages"]
                for cut in find_cuts(messages, arguments.cuts):
                    yield Job(
                        family=family_of(file),
                        place=f"{file.name} line {number}, first {cut} messages",
                        messages=messages[:cut],
                        shares=arguments.shares,
                        profile=arguments.profile,
                        model=arguments.model,
                    )


def family_of(file: Path) -> str:
    """Return the family of runs that a file holds."""
    source = file.name.partition(".")[2].removesuffix(".jsonl.gz")
    families = (name for start, name in _FAMILIES.items() if source.startswith(start))
    return next(families, source)


def find_cuts(messages: Messages, percentages: Sequence[int]) -> list[int]:
    """Return where to cut: before a turn of the agent, which comes next; 100 is the whole run."""
    cuts: list[int] = []
    for percent in percentages:
        cut = len(messages) * percent // 100
        while cut < len(messages) and messages[cut]["role"] != "assistant":
            cut += 1
        if cut > 0 and (cut < len(messages) or percent == 100) and cut not in cuts:
            cuts.append(cut)
    return cuts


def run(job: Job) -> dict[int, Sum]:
    """Fold one conversation into every share and look at the views; nothing if it is short."""
    rest = [message for message in job.messages if message["role"] != "system"]
    tokens, system = _count(job, job.messages), _count(job, job.messages) - _count(job, rest)
    if tokens - system < _MIN_TOKENS:
        return {}
    originals = Originals(job.messages)
    sums: dict[int, Sum] = {}
    for at in job.shares:
        room = (tokens - system) * at // 100
        result = compress(
            job.messages, profile=job.profile, token_budget=system + room, model=job.model
        )
        sums[at] = _look(job, result.messages, room, originals)
    return sums


def _count(job: Job, messages: Messages) -> int:
    if not messages:
        return 0
    result = compress(messages, profile=job.profile, token_budget=_AMPLE, model=job.model)
    return result.tokens_before


def _look(job: Job, view: Messages, room: int, originals: Originals) -> Sum:
    found = Sum(runs=1)
    typed = find_typed(job.messages)
    shown = Shown(view)
    _look_at_typed(job, typed, shown, found)
    if typed and _count(job, [job.messages[typed[0].index]]) <= _HALF * room:
        is_whole = shown.has_whole(typed[0])
        found.note(TASK, is_whole, faults=[] if is_whole else [f"{job.place}: task not whole"])
    _look_at_changes(job, view, found)
    problem = _ending_problem(job, view, typed, room)
    found.note(ENDING, not problem, faults=[f"{job.place}: {problem}"] if problem else [])
    tally = check_pieces(originals, view)
    faults = (
        f"{job.place}: a piece {fault.edge} inside a {fault.inside}: {fault.fragment[:100]!r}"
        for fault in tally.faults
    )
    found.note(PIECES, len(tally.faults), tally.fragments, faults)
    found.note(UNKNOWN, tally.unknown, tally.fragments)
    return found


def _look_at_typed(job: Job, typed: Sequence[Typed], shown: Shown, found: Sum) -> None:
    for one in typed:
        if not one.is_short:
            continue
        lost = not shown.has_trace(one)
        fault = f"{job.place}: message {one.index}: {one.text[:100]!r}"
        found.note(NO_TRACE, lost, faults=[fault] * lost)
        found.note(WHOLE, shown.has_whole(one))


def _look_at_changes(job: Job, view: Messages, found: Sum) -> None:
    traces = Traces(view)
    for change in find_changes(job.messages):
        lost = not traces.has(change)
        what = f"{change.name} of {' or '.join(change.subjects[:3])}"
        fault = f"{job.place}: message {change.index}: {what[:100]}"
        found.note(CHANGES, lost, faults=[fault] * lost)


def _ending_problem(job: Job, view: Messages, typed: Sequence[Typed], room: int) -> str:
    """Say how the view ends otherwise than the input did; empty if it does not.

    A user's words and results that the agent has not read yet must be as they were if they fit.
    """
    messages = job.messages
    last = messages[-1]
    fresh = 1
    while messages[-fresh]["role"] == "tool" and fresh < len(messages):
        fresh += 1  # all results of the last calls, and the message that made them
    claims = set(range(len(messages) - fresh, len(messages)))
    claims |= {one.index for one in (*typed[:1], *typed[-1:])}
    claims |= {next((n for n, m in enumerate(messages) if m["role"] == "user"), 0)}
    first = [messages[index] for index in sorted(claims)]
    if not view or (view[-1]["role"] == "assistant") != (last["role"] == "assistant"):
        ending = view[-1]["role"] if view else "nothing"
        return f"ends with {ending} instead of {last['role']}"
    if last["role"] not in ("user", "tool") or _count(job, first) > _FITS_SHARE * room:
        return ""
    count = fresh - (last["role"] == "tool")
    if not all(map(_is_whole, view[-count:], messages[-count:])):
        return f"the last {last['role']} message is not as it was, though it fits"
    return ""


def _is_whole(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Tell whether a message is as it was, or the same data in another spelling."""
    if any(new.get(key) != old.get(key) for key in ("role", "tool_call_id")):
        return False
    text = text_of(new)
    return text == text_of(old) or text.startswith("[reformatted")


def _parser() -> argparse.ArgumentParser:
    parser = parser_for(__doc__)
    add = parser.add_argument
    add("--shares", type=_numbers, default=(50, 30, 15), metavar="A,B", help="per cent (50,30,15)")
    add("--cuts", type=_numbers, default=(50, 75), metavar="A,B", help="per cent (50,75)")
    add("--profile", default="standard", help="how to fold (standard)")
    add("--model", default=None, help="count as this model does (estimate)")
    add("--examples", type=int, default=0, help="faults of each figure to show (0)")
    return parser


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


if __name__ == "__main__":
    sys.exit(main())
