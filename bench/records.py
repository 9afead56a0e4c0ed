"""Recorded conversations for the corpus benches, and what must survive in every one of them."""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from refold.result import Obstacle

Messages = list[dict[str, Any]]

LINE_TOKENS: Final = 48
"""What the line costs that a stretch is folded into, at most."""
_ENDING: Final = ".jsonl.gz"
_SYSTEM: Final = ("system", "developer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One conversation of a file, in one of the forms in which it was recorded."""

    source: str
    """The name of the file without its ending, and the form."""
    place: str
    """File and line, for people."""
    messages: Messages
    is_output: bool = False
    """Whether it is only the raw output of a tool, put into a conversation."""


def parser_for(doc: str | None) -> argparse.ArgumentParser:
    """Make a parser with what all benches over recorded conversations take; *doc* is its help."""
    summary, _, rest = (doc or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data_dir", type=Path, metavar="DATA_DIR", help="directory of *.jsonl.gz")
    parser.add_argument("--cap", type=int, default=None, help="records of each file at most (all)")
    parser.add_argument("--workers", type=int, default=2, help="processes at work (2)")
    return parser


def parse_with_files(
    parser: argparse.ArgumentParser, argv: Sequence[str] | None, prefix: str = ""
) -> tuple[argparse.Namespace, list[Path]]:
    """Parse, and find the files that begin with *prefix*; without any, end with status 2."""
    arguments = parser.parse_args(argv)
    files = sorted(arguments.data_dir.glob(f"{prefix}*{_ENDING}"))
    if not files:
        parser.error(f"no {prefix}*{_ENDING} in {arguments.data_dir}")
    return arguments, files


def read_records(files: Sequence[Path], cap: int | None) -> Iterator[Recorded]:
    """Yield every conversation in every form, of each file at most *cap* records."""
    for file in files:
        source = file.name.removeprefix("trajectory.").removesuffix(_ENDING)
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(islice(lines, cap), 1):
                for shape, messages, is_output in _conversations(json.loads(line)):
                    yield Recorded(
                        source=source + shape,
                        place=f"{file.name} line {number}{shape}",
                        messages=messages,
                        is_output=is_output,
                    )


def _conversations(record: Mapping[str, Any]) -> Iterator[tuple[str, Messages, bool]]:
    """Yield every form in which a record holds a conversation."""
    if record.get("messages"):
        yield "", record["messages"], False
    if isinstance(record.get("native"), list):
        yield f" ({record.get('native_format', 'native')})", record["native"], False
    if isinstance(record.get("text"), str):
        yield " (text)", _around(record["text"]), True


def _around(output: str) -> Messages:
    """Wrap the raw output of a tool into the smallest conversation that can hold it."""
    call = {"id": "call_1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    return [
        {"role": "user", "content": "Run it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": output},
    ]


def tool_ids(value: Any) -> Iterator[tuple[str, str]]:
    """Yield "call" or "result" and the id by which both find each other, whatever the format."""
    if isinstance(value, list):
        for item in value:
            yield from tool_ids(item)
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
        yield from tool_ids(value.get(name))


def calls_of(message: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield id, name and arguments of every call of a message in OpenAI's chat format."""
    for call in message.get("tool_calls") or ():
        function = call["function"]
        yield call["id"], function["name"], function["arguments"]


def values_in(arguments: str) -> Iterator[object]:
    """Yield the values among the arguments of a call in their order; no JSON is itself one."""
    try:
        values = [json.loads(arguments)]
    except (ValueError, RecursionError):
        yield arguments
        return
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values += reversed(value.values())
        elif isinstance(value, list):
            values += reversed(value)
        else:
            yield value


def broken_pairs(before: Messages, after: Messages) -> Iterator[str]:
    """Say which tool calls and results do not find each other any more."""
    answered = {id_ for kind, id_ in tool_ids(before) if kind == "result"}
    called: set[str] = set()
    waiting: set[str] = set()
    for kind, id_ in tool_ids(after):
        if kind == "call":
            called.add(id_)
            waiting.add(id_)
        elif id_ not in called:
            yield f"result of {id_} without its call"
        else:
            waiting.discard(id_)
    if lost := waiting & answered:
        yield f"calls without their result: {', '.join(sorted(lost))}"


def lost_promises(before: Messages, after: Messages, *, has_words: bool = True) -> Iterator[str]:
    """Name what must survive any budget and is gone; the user's words only if *has_words*."""
    shown = set(map(json.dumps, after))
    for name, message in _promised(before, has_words=has_words):
        if json.dumps(message) not in shown:
            yield f"{name} is gone"


def _promised(messages: Messages, *, has_words: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    turns = [message.get("payload", message) for message in messages]
    asked = [
        message
        for message, turn in zip(messages, turns, strict=True)
        if turn.get("role") == "user" and turn.get("content") and not list(tool_ids(turn))
    ]
    for message, turn in zip(messages, turns, strict=True):
        if turn.get("role") in _SYSTEM:
            yield "the system prompt", message
    if asked and has_words:
        yield "the task", next(filter(_is_typed, asked), asked[0])
        yield "the last user message", asked[-1]


def _is_typed(message: dict[str, Any]) -> bool:
    """Tell what somebody typed from notes that Codex adds in the user's name."""
    if "type" not in message:  # no record of a session file: all of it is the user's
        return True
    spelled = json.dumps(message.get("payload", message)["content"])
    words = spelled.partition('"text": "')[2] or spelled[1:]
    return not words.startswith(("<", "# AGENTS.md"))


def blame(obstacles: Iterable[Obstacle]) -> str:
    """Name the reasons that hold most of the tokens in the way."""
    weights: Counter[str] = Counter()
    for obstacle in obstacles:
        weights[obstacle.reason] += obstacle.tokens
    return " + ".join(reason for reason, _ in weights.most_common(2)) or "nobody"
