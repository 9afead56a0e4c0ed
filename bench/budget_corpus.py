"""Squeeze every recorded agent run into a share of its tokens and check what a budget promises.

DATA_DIR holds trajectory.*.jsonl.gz files, one record a line, with `messages` (OpenAI chat) and
sometimes `native` (Anthropic blocks or Responses items). At each share a run must fit, or the
messages that no budget may touch must be the reason; tool calls and results must still find each
other, instructions and the last question must still be there, everything must come back byte for
byte, and no run may ever cost more tokens than before.

examples:
  python bench/budget_corpus.py data
  python bench/budget_corpus.py data --shares 50,10 --cap 5 --model gpt-4o
  python bench/budget_corpus.py data --profile agent
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from refold import Result, compress, uncompress
from table import draw

Messages = list[dict[str, Any]]

_LINE_TOKENS: Final = 48
"""What the line costs that a stretch is folded into, at most."""
_SYSTEM: Final = ("system", "developer")
_WORDS: Final = ("first_task", "last_user_message")
"""Why the user's own words stay; profile `agent` shows parts of them if they are too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One conversation and the shares of its tokens that it must fit into."""

    source: str
    record: str
    messages: Messages
    shares: tuple[int, ...]
    model: str | None
    profile: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one conversation fared with one budget."""

    source: str
    share: int
    tokens_before: int = 0
    tokens_after: int = 0
    fits: bool = False
    rung: str = "nothing"
    """The last rung that was climbed."""
    blame: str = ""
    """When it does not fit: why the largest messages in the way must not be touched."""
    violations: tuple[str, ...] = ()


@dataclass(slots=True)
class Sum:
    """The outcomes of one source at one share, added up."""

    runs: int = 0
    fits: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    blames: Counter[str] = field(default_factory=Counter[str])
    rungs: Counter[str] = field(default_factory=Counter[str])
    violations: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count one more conversation."""
        self.runs += 1
        self.fits += outcome.fits
        self.tokens_before += outcome.tokens_before
        self.tokens_after += outcome.tokens_after
        self.rungs[outcome.rung] += 1
        self.violations.extend(outcome.violations)
        if outcome.blame:
            self.blames[outcome.blame] += 1


def main(argv: Sequence[str] | None = None) -> int:
    """Squeeze everything, print a table per share, and return 1 if a promise was broken."""
    arguments = _parse(argv)
    files = sorted(arguments.data_dir.glob("trajectory.*.jsonl.gz"))
    if not files:
        print(f"no trajectory.*.jsonl.gz in {arguments.data_dir}", file=sys.stderr)
        return 2
    sums: dict[tuple[int, str], Sum] = {}
    jobs = _jobs(files, arguments)
    with multiprocessing.Pool(arguments.workers) as pool:
        for outcomes in pool.imap_unordered(run, jobs, chunksize=2):
            for outcome in outcomes:
                sums.setdefault((outcome.share, outcome.source), Sum()).add(outcome)
    print(_report(sums))
    return int(any(total.violations for total in sums.values()))


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data_dir", type=Path, metavar="DATA_DIR", help="directory of *.jsonl.gz")
    parser.add_argument(
        "--shares",
        type=lambda value: tuple(map(int, value.split(","))),
        default=(50, 30, 20, 10),
        metavar="A,B",
        help="per cent of the tokens to fit into (50,30,20,10)",
    )
    parser.add_argument("--cap", type=int, default=None, help="records of each file at most (all)")
    parser.add_argument("--model", default=None, help="count as this model does (estimate)")
    parser.add_argument(
        "--profile",
        choices=("balanced", "agent"),
        default="balanced",
        help="how to fold; agent may excerpt a task that takes most of the room (balanced)",
    )
    parser.add_argument("--workers", type=int, default=2, help="processes at work (2)")
    return parser.parse_args(argv)


def _jobs(files: Sequence[Path], arguments: argparse.Namespace) -> Iterator[Job]:
    for file in files:
        source = file.name.removeprefix("trajectory.").removesuffix(".jsonl.gz")
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if arguments.cap is not None and number > arguments.cap:
                    break
                for shape, messages in _conversations(json.loads(line)):
                    yield Job(
                        source=source + shape,
                        record=f"{file.name} line {number}{shape}",
                        messages=messages,
                        shares=arguments.shares,
                        model=arguments.model,
                        profile=arguments.profile,
                    )


def _conversations(record: Mapping[str, Any]) -> Iterator[tuple[str, Messages]]:
    """Yield every form in which a record holds a conversation."""
    if record.get("messages"):
        yield "", record["messages"]
    if isinstance(record.get("native"), list):
        yield f" ({record.get('native_format', 'native')})", record["native"]


def run(job: Job) -> list[Outcome]:
    """Squeeze one conversation into every share."""
    total = compress(job.messages, model=job.model, recency_window=len(job.messages)).tokens_before
    return [_squeeze(job, share, total * share // 100) for share in job.shares]


def _squeeze(job: Job, share: int, budget: int) -> Outcome:
    place = f"{job.record} at {share}%"
    try:
        result = compress(job.messages, token_budget=budget, model=job.model, profile=job.profile)
    except Exception as error:  # noqa: BLE001 - a crash is one more violation to report
        problem = f"{place}: {type(error).__name__}: {str(error)[:200]}"
        return Outcome(source=job.source, share=share, violations=(problem,))
    assert result.budget is not None
    fits = result.budget.fits
    return Outcome(
        source=job.source,
        share=share,
        tokens_before=result.tokens_before,
        tokens_after=result.tokens_after,
        fits=fits,
        rung=result.budget.rungs[-1] if result.budget.rungs else "nothing",
        blame="" if fits else _blame(result),
        violations=tuple(f"{place}: {what}" for what in _violations(job, result, budget)),
    )


def _blame(result: Result) -> str:
    """Name the reasons that hold most of the tokens in the way."""
    assert result.budget is not None
    weights: Counter[str] = Counter()
    for obstacle in result.budget.obstacles:
        weights[obstacle.reason] += obstacle.tokens
    return " + ".join(reason for reason, _ in weights.most_common(2)) or "nobody"


def _violations(job: Job, result: Result, budget: int) -> Iterator[str]:
    assert result.budget is not None
    restored = uncompress(result.messages, result.verbatim)
    if json.dumps(restored.messages) != json.dumps(job.messages):
        yield f"not restored byte for byte, {len(restored.missing_ids)} originals missing"
    if result.tokens_after > result.tokens_before:
        yield f"{result.tokens_before} tokens became {result.tokens_after}"
    if result.token_count != result.budget.token_count:
        yield "the budget report counts other tokens than the figures"
    if result.budget.fits != (result.token_count <= budget):
        yield "fits is not what the figures say"
    shown = Counter(map(json.dumps, result.messages))
    for name, message in _promised(job.messages, has_words=job.profile == "balanced"):
        if json.dumps(message) not in shown:
            yield f"{name} is gone"
    yield from _broken_pairs(job.messages, result.messages)
    if not result.budget.fits and (excess := budget - _floor(job, result)) >= 0:
        yield f"does not fit {budget}, though the protected part leaves {excess} tokens"


def _promised(messages: Messages, *, has_words: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the messages that must survive any budget; the user's words only if *has_words*."""
    turns = [message.get("payload", message) for message in messages]
    asked = [
        message
        for message, turn in zip(messages, turns, strict=True)
        if turn.get("role") == "user" and turn.get("content") and not list(_tool_ids(turn))
    ]
    for message, turn in zip(messages, turns, strict=True):
        if turn.get("role") in _SYSTEM:
            yield "the system prompt", message
    if asked and has_words:
        yield "the task", asked[0]
        yield "the last user message", asked[-1]


def _floor(job: Job, result: Result) -> int:
    """Return the tokens of what must stay, and of a line for every stretch between."""
    assert result.budget is not None
    may_yield = _WORDS if job.profile == "agent" else ()
    firm = [o for o in result.budget.obstacles if o.reason not in may_yield]
    kept = {obstacle.message_index for obstacle in firm}
    pinned: set[int] = set()
    for block in _blocks(job.messages):
        if kept & set(block):  # pairs live together, so they can only be cut short
            pinned.update(set(block) - kept)
    fixed = sum(obstacle.tokens for obstacle in firm)
    for index in pinned:
        fixed += compress([job.messages[index]], model=job.model).tokens_before
    stretches, is_open = 0, False
    for index in range(len(job.messages)):
        is_free = index not in kept and index not in pinned
        stretches += is_free and not is_open
        is_open = is_free
    return fixed + _LINE_TOKENS * stretches


def _blocks(messages: Messages) -> Iterator[range]:
    """Yield the stretches from a tool call to its last answer."""
    called: dict[str, int] = {}
    for index, message in enumerate(messages):
        for kind, id_ in _tool_ids(message):
            if kind == "call":
                called[id_] = index
            elif id_ in called:
                yield range(called[id_], index + 1)


def _broken_pairs(before: Messages, after: Messages) -> Iterator[str]:
    """Say which tool calls and results do not find each other any more."""
    answered = {id_ for kind, id_ in _ids_of(before) if kind == "result"}
    called: set[str] = set()
    waiting: set[str] = set()
    for kind, id_ in _ids_of(after):
        if kind == "call":
            called.add(id_)
            waiting.add(id_)
        elif id_ not in called:
            yield f"result of {id_} without its call"
        else:
            waiting.discard(id_)
    if lost := waiting & answered:
        yield f"calls without their result: {', '.join(sorted(lost))}"


def _ids_of(messages: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for message in messages:
        yield from _tool_ids(message)


def _tool_ids(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the ids by which calls and results find each other, in order, whatever the format."""
    if isinstance(value, list):
        for item in value:
            yield from _tool_ids(item)
        return
    if not isinstance(value, dict):
        return
    kind = str(value.get("type", ""))
    if isinstance(value.get("call_id"), str):
        yield ("result" if kind.endswith("_output") else "call"), value["call_id"]
    for name in ("tool_call_id", "tool_use_id"):
        if isinstance(value.get(name), str):
            yield "result", value[name]
    if kind in ("tool_use", "function") and isinstance(value.get("id"), str):
        yield "call", value["id"]
    for name in ("content", "tool_calls", "message", "payload"):
        yield from _tool_ids(value.get(name))


def _report(sums: Mapping[tuple[int, str], Sum]) -> str:
    sections: list[str] = []
    for share in sorted({share for share, _ in sums}, reverse=True):
        rows = [(name, total) for (at, name), total in sorted(sums.items()) if at == share]
        whole = _add_up([total for _, total in rows])
        header = [
            f"source, budget {share} %",
            "runs",
            "fit",
            "do not",
            "tokens before",
            "after %",
            "violations",
            "in the way",
        ]
        sections.append(draw(header, [_row(*row) for row in (*rows, ("all", whole))]))
        rungs = ", ".join(f"{rung} {count}" for rung, count in whole.rungs.most_common())
        sections.append(f"last rung: {rungs}")
        sections.extend(whole.violations)
    return "\n\n".join(sections)


def _add_up(totals: Sequence[Sum]) -> Sum:
    whole = Sum()
    for total in totals:
        whole.runs += total.runs
        whole.fits += total.fits
        whole.tokens_before += total.tokens_before
        whole.tokens_after += total.tokens_after
        whole.blames.update(total.blames)
        whole.rungs.update(total.rungs)
        whole.violations.extend(total.violations)
    return whole


def _row(source: str, total: Sum) -> list[str | int | float]:
    blames = ", ".join(f"{reason} ({count})" for reason, count in total.blames.most_common())
    return [
        source,
        total.runs,
        total.fits,
        total.runs - total.fits,
        total.tokens_before,
        100 * total.tokens_after / total.tokens_before if total.tokens_before else 0.0,
        len(total.violations),
        blames,
    ]


if __name__ == "__main__":
    sys.exit(main())
