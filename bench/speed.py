"""Measure how fast conversations are folded and unfolded, and what that costs in memory.

Runs over a generated conversation of prose, code, JSON, logs, search hits and Chinese, and over
recorded ones where there are any: runs of agents, or else whatever there is. Everything that is
compared alternates within one run; the table shows the median, the least and the most, so that it
tells its own noise, and the CPU time of the median run. MB are megabytes of text.

examples:
  python bench/speed.py
  python bench/speed.py --other ../before/.venv/bin/python --check
  python bench/speed.py --megabytes 1 --runs 5 --data DIR --peer "node other-compressor.js"
  python bench/speed.py --megabytes 0.2 --data-megabytes 0.2 --runs 1 --instructions

A peer is any command that reads a JSON list of messages from standard input and writes JSON. Its
time is that of the whole process, less what it takes for an empty list.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import chain, zip_longest
from pathlib import Path
from statistics import median
from typing import Any, Final

from generate import Messages, generate
from speed_runners import Form, Peer, count_instructions, time_imports
from table import draw

_DATA: Final = Path(__file__).parents[2] / "shared" / "data"
_SPEEDS: Final = (*("plain", "fuzzy", "budget", "standard", "lossless", "uncompress"),)
"""The jobs of a worker that are told in MB/s."""
_MIN_SPEED: Final = {
    "plain": 5.0,
    "standard": 4.0,
    "lossless": 4.0,
}
"""Promised of the generated conversation; `_ANYWHERE` of recorded ones, too."""
_ANYWHERE: Final = frozenset({"standard", "lossless"})
_MAX_TIMES_PLAIN: Final = {"fuzzy": 1.6, "budget": 3.0}
_EARLIER: Final = 6.5
"""What the engine behind the documents took for a text, in times of finding its words: recorded
with context-compression-engine 1.5.0 on recorded runs, without a budget."""
_COUNTED: Final = ("plain", "standard", "lossless")
"""The jobs of which instructions are counted."""
_MEMORY: Final = {"memory": "peak memory", "memory of standard": "peak memory, standard"}
_MAX_TURN_MS: Final = 1.0
_MAX_IMPORT_MS: Final = 60.0
_MAX_MEMORY: Final = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure, measured several times, and what was promised of its median."""

    corpus: str
    python: str
    name: str
    unit: str
    median: float
    least: float
    most: float
    cpu_seconds: float | None = None
    """What the median run took of the processor, with what is around it."""
    promise: str = ""
    is_kept: bool = True


def main(argv: Sequence[str] | None = None) -> int:
    """Measure everything and print the table; with --check, 1 if a promise is not kept."""
    arguments = _parse(argv)
    pythons = {"this": sys.executable}
    for number, python in enumerate(arguments.other, 1):
        pythons[f"other {number}"] = python
    rows: list[Row] = []
    for corpus, conversations in _corpora(arguments):
        rows += _measure(corpus, conversations, pythons, arguments)
    rows += _import_rows(pythons, arguments)
    print(json.dumps([asdict(row) for row in rows], indent=2) if arguments.json else _table(rows))
    return int(arguments.check and not all(row.is_kept for row in rows))


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=5.0, help="of generated text (5)")
    parser.add_argument("--seed", type=int, default=7, help="for another conversation (7)")
    parser.add_argument("--runs", type=int, default=5, help="of everything (5)")
    parser.add_argument(
        "--session-messages",
        type=int,
        default=4_000,
        help="of a session before the turns that are timed (4000)",
    )
    parser.add_argument(
        "--data", type=Path, default=_DATA, help="recorded *.jsonl.gz (../shared/data, if there)"
    )
    parser.add_argument("--data-megabytes", type=float, default=5.0, help="of those at most (5)")
    parser.add_argument(
        "--other",
        action="append",
        default=[],
        metavar="PYTHON",
        help="another Python with the package, such as an earlier version of it, side by side",
    )
    parser.add_argument("--peer", metavar="COMMAND", help="another compressor, in the same run")
    parser.add_argument(
        "--cpu",
        action="store_true",
        help="tell CPU time instead of wall time: steadier where other programs run, too",
    )
    parser.add_argument(
        "--instructions",
        action="store_true",
        help="count instructions as well, with perf or valgrind: slow, but always the same",
    )
    parser.add_argument("--check", action="store_true", help="return 1 if a promise is not kept")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args(argv)


def _corpora(arguments: argparse.Namespace) -> Iterator[tuple[str, list[Messages]]]:
    if arguments.megabytes:
        yield "generated", [generate(arguments.megabytes, arguments.seed)]
    recorded = list(_recorded(arguments.data, arguments.data_megabytes))
    if recorded:
        yield "recorded", recorded


def _recorded(directory: Path, megabytes: float) -> Iterator[Messages]:
    """Yield conversations of every file in turn, so that none is missing from a small sample."""
    with ExitStack() as stack:
        runs, all_ = (sorted(directory.glob(f"{start}*.jsonl.gz")) for start in ("trajectory.", ""))
        found = runs or all_
        files = [stack.enter_context(gzip.open(file, "rt", encoding="utf-8")) for file in found]
        size = 0
        for line in chain.from_iterable(zip_longest(*files, fillvalue="{}")):
            messages = json.loads(line).get("messages")
            if messages:
                size += text_bytes(messages)
                yield messages
            if size >= megabytes * 1e6:
                return


def text_bytes(messages: Messages) -> int:
    """Return the bytes of all text in *messages*: contents and arguments, but no framing."""
    size = 0
    todo: list[Any] = [
        (message.get("content"), [call.get("function") for call in message.get("tool_calls") or ()])
        for message in messages
    ]
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            size += len(value.encode("utf-8", "surrogatepass"))
        elif isinstance(value, list | tuple):
            todo += value
        elif isinstance(value, dict):
            todo += value.values()
    return size


def _measure(
    corpus: str,
    conversations: list[Messages],
    pythons: Mapping[str, str],
    arguments: argparse.Namespace,
) -> Iterator[Row]:
    size = sum(map(text_bytes, conversations))
    count = sum(map(len, conversations))
    _say(f"{corpus}: {count:,} messages, {size / 1e6:.1f} MB, {size / count:,.0f} bytes each")
    is_long = corpus == "generated"
    with ExitStack() as stack:
        file = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "corpus.json"
        file.write_text(json.dumps(conversations), encoding="utf-8")
        options = ["--session-messages", str(arguments.session_messages)]
        options += ["--cpu"] if arguments.cpu else []
        forms = [
            stack.enter_context(Form(name, python, file, *options))
            for name, python in pythons.items()
        ]
        cpu = arguments.cpu
        peer = Peer(arguments.peer, conversations, cpu=cpu) if arguments.peer else None
        for run in range(arguments.runs):
            _say(f"{corpus}: run {run + 1} of {arguments.runs}")
            for job in ("words", *_SPEEDS, *(["turn"] if is_long else [])):
                for form in forms:
                    form.run(job)
            if peer is not None:
                peer.run()
        for form in forms:
            for job in _MEMORY:
                form.run(job)
        if arguments.instructions:
            yield from _instruction_rows(pythons, forms, corpus, file, size)
    for form in forms:
        yield from _speed_rows(form, corpus, size)
        if is_long:
            yield _row(
                corpus,
                form.name,
                "one more turn",
                "ms",
                form.milliseconds("turn"),
                at_most=_MAX_TURN_MS,
            )
        longest = max(map(text_bytes, conversations))
        for job, name in _MEMORY.items():
            most = _MAX_MEMORY if job == "memory" else None
            times = [form.seconds[job][0] / longest]
            yield _row(corpus, form.name, name, "× input", times, at_most=most)
    if peer is not None:
        yield from _peer_rows(peer, forms, corpus, size)


def _speed_rows(form: Form, corpus: str, size: int) -> Iterator[Row]:
    for job in _SPEEDS:
        speeds = [size / 1e6 / seconds for seconds in form.seconds[job]]
        is_promised = corpus == "generated" or job in _ANYWHERE
        limit = _MIN_SPEED.get(job) if is_promised else None
        cpu = median(form.cpu[job])
        yield _row(corpus, form.name, job, "MB/s", speeds, at_least=limit, cpu_seconds=cpu)
    times = zip(form.seconds["words"], form.seconds["plain"], strict=True)
    ratios = [_EARLIER * words / plain for words, plain in times]
    yield _row(corpus, form.name, "plain, times as fast as the engine before", "×", ratios)
    for job, most in _MAX_TIMES_PLAIN.items():
        ratios = [a / b for a, b in zip(form.seconds[job], form.seconds["plain"], strict=True)]
        yield _row(corpus, form.name, f"{job} ÷ plain", "×", ratios, at_most=most)


def _instruction_rows(
    pythons: Mapping[str, str], forms: Sequence[Form], corpus: str, file: Path, size: int
) -> Iterator[Row]:
    for form in forms:
        _say(f"{corpus}: counting instructions, {form.name}")
        counted = count_instructions(pythons[form.name], file, _COUNTED)
        if not counted:
            _say("neither perf nor valgrind counts instructions here")
        for job, count in counted.items():
            yield _row(corpus, form.name, f"{job}, instructions", "a byte", [count / size])


def _peer_rows(peer: Peer, forms: Sequence[Form], corpus: str, size: int) -> Iterator[Row]:
    yield _row(corpus, "peer", "plain", "MB/s", [size / 1e6 / seconds for seconds in peer.seconds])
    for form in forms:
        ratios = [a / b for a, b in zip(peer.seconds, form.seconds["plain"], strict=True)]
        yield _row(corpus, form.name, "times as fast as peer", "×", ratios)


def _import_rows(pythons: Mapping[str, str], arguments: argparse.Namespace) -> Iterator[Row]:
    _say("importing")
    for form, python in pythons.items():
        for name, times in time_imports(python, arguments.runs, cpu=arguments.cpu).items():
            limit = _MAX_IMPORT_MS if name == "import refold" else None
            yield _row("", form, name, "ms", times, at_most=limit)


def _row(
    corpus: str,
    form: str,
    name: str,
    unit: str,
    values: Sequence[float],
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    cpu_seconds: float | None = None,
) -> Row:
    middle = median(values)
    promise, is_kept = "", True
    if at_least is not None:
        promise, is_kept = f"≥ {at_least:g}", middle >= at_least
    if at_most is not None:
        promise, is_kept = f"≤ {at_most:g}", middle <= at_most
    return Row(
        corpus=corpus,
        python=form,
        name=name,
        unit=unit,
        median=middle,
        least=min(values),
        most=max(values),
        cpu_seconds=cpu_seconds,
        promise=promise,
        is_kept=is_kept,
    )


def _table(rows: Sequence[Row]) -> str:
    header = [
        *(
            "corpus",
            "python",
            "what",
            "median",
            "least",
            "most",
            "unit",
            "CPU s",
            "promised",
            "kept",
        )
    ]
    return draw(
        header,
        [
            [
                row.corpus,
                row.python,
                row.name,
                row.median,
                row.least,
                row.most,
                row.unit,
                "" if row.cpu_seconds is None else f"{row.cpu_seconds:.2f}",
                row.promise,
                ("yes" if row.is_kept else "NO") if row.promise else "",
            ]
            for row in rows
        ],
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
