"""Conversations that were made to be slow: long runs, shared lines, many tiny pieces."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Messages = list[dict[str, Any]]

_SEED: Final = 7
_CHARS_PER_KB: Final = 1_000
_SPELLED: Final = str.maketrans("0123456789", "ghijklmnop")
"""Letters for digits, so that a number is a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hostile:
    """One nasty input that can be made in any size."""

    name: str
    make: Callable[[int], Messages]
    """Takes a size in kilobytes; twice the size is twice the work for linear code."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


def _run(unit: str, end: str = "") -> Callable[[int], Messages]:
    """Make one message that repeats *unit* without end, or up to *end*."""

    def make(size_kb: int) -> Messages:
        chars = size_kb * _CHARS_PER_KB
        return _one(unit * (chars // len(unit) + 1) + end)

    return make


def _one(text: str) -> Messages:
    return [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]


def _base64(size_kb: int) -> Messages:
    raw = random.Random(_SEED).randbytes(size_kb * _CHARS_PER_KB * 3 // 4)
    return _one(base64.b64encode(raw).decode("ascii"))


def _csv(size_kb: int) -> Messages:
    numbers = random.Random(_SEED)
    cells = (str(numbers.randrange(100_000)) for _ in range(size_kb * _CHARS_PER_KB // 6))
    return _one(",".join(cells))


def _words(size_kb: int) -> Messages:
    words = random.Random(_SEED)
    letters = "abcdefghijklmnopqrstuvwxyz"
    count = size_kb * _CHARS_PER_KB // 6
    return _one(" ".join("".join(words.choices(letters, k=5)) for _ in range(count)))


def _deep_json(size_kb: int) -> Messages:
    depth = size_kb * _CHARS_PER_KB // 12
    return _one('{"key":[' * depth + "1" + "]}" * depth)


def _lines(size_kb: int) -> Messages:
    count = size_kb * _CHARS_PER_KB // 30
    return _one("\n".join(f"src/part{n % 50}.py:{n}: item {n}" for n in range(count)))


def _near_copies(size_kb: int) -> Messages:
    """Share a header of ten lines and a third of the rest; every text is a little different."""
    header = "\n".join(f"== build machine, common header line {n} ==" for n in range(10))
    return [
        {
            "role": "assistant",
            "content": header
            + "\n"
            + "\n".join(f"row {n % 7 if n % 3 else number} of table {n}" for n in range(20)),
        }
        for number in range(size_kb * 32 // 20)
    ]


def _tiny_messages(size_kb: int) -> Messages:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": f"ok {n}"} for n in range(50 * size_kb)]


def _short_prose(size_kb: int) -> Messages:
    """Alternate turns just long enough to be summarized, none of which can share a summary."""
    text = "The harbor office counted the crates of table {} again. " * 6
    roles = ("user", "assistant")
    return [
        {"role": roles[n % 2], "content": text.replace("{}", str(n))} for n in range(4 * size_kb)
    ]


def _one_speaker(size_kb: int) -> Messages:
    """Let one speaker say everything, so that all of it merges into one summary."""
    text = "The harbor office counted the crates of pier {} before the gate closed. " * 3
    return [{"role": "user", "content": text.replace("{}", str(n))} for n in range(4 * size_kb)]


def _corrections(size_kb: int) -> Messages:
    return [
        {
            "role": "user",
            "content": f"Actually, put the crates of pier {n} and table{n % 97}Index into the "
            "north shed for the winter season, because the old one by the mill has no lock. "
            "The harbor office wants the list before the gate closes tonight.",
        }
        for n in range(4 * size_kb)
    ]


def _shared_names(size_kb: int) -> Messages:
    return [
        {
            "role": ("user", "assistant")[n % 2],
            "content": f"The helper parseTideTable calls load_crate_{n % 500} and HarborLog, then "
            f"waits for slot{n}Index in src/dock{n % 40}.py:{n}: before the gate closes tonight.",
        }
        for n in range(4 * size_kb)
    ]


def _copies(size_kb: int) -> Messages:
    text = "The harbor office counted the crates of the north pier again. " * 4
    return [
        {"role": ("user", "assistant")[n % 2], "content": f"{text}{n % 100}"}
        for n in range(4 * size_kb)
    ]


def _log(choices: int) -> Callable[[int], Messages]:
    """Make a log, as a tool's result, in which every word of a line is one of so many."""

    def make(size_kb: int) -> Messages:
        numbers = random.Random(_SEED)
        words = [[f"w{at}{n}".translate(_SPELLED) for n in range(choices)] for at in range(10)]
        lines = (
            f"10:{n // 60 % 60:02}:{n % 60:02} {' '.join(map(numbers.choice, words))}"
            for n in range(size_kb * _CHARS_PER_KB // 50)
        )
        call = {"id": "c1", "type": "function", "function": {"name": "tail", "arguments": "{}"}}
        return [
            {"role": "user", "content": "What does the log say?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "\n".join(lines)},
            *({"role": "user", "content": f"And then, {n}?"} for n in range(6)),
        ]

    return make


def _result(unit: str) -> Callable[[int], Messages]:
    """Repeat *unit* as a tool's result, so that a budget looks for what its lines are."""

    def make(size_kb: int) -> Messages:
        text: str = _run(unit)(size_kb)[0]["content"]
        asked, call, result, *rest = _log(2)(0)
        return [asked, call, {**result, "content": text}, *rest]

    return make


_RULES: Final[dict[str, Any]] = {"profile": "classic"}
HOSTILE: Final[tuple[Hostile, ...]] = (
    Hostile(name="one letter", make=_run("a")),
    Hostile(name="hyphen run ab-", make=_run("ab-")),
    Hostile(name="underscore run ab_", make=_run("ab_")),
    Hostile(name="base64 unbroken", make=_base64),
    Hostile(name="one CSV line", make=_csv),
    Hostile(name="no punctuation", make=_words),
    Hostile(name="tiny sentences", make=_run("A. ")),
    Hostile(name="deep JSON", make=_deep_json),
    Hostile(name="open brackets", make=_run("[")),
    Hostile(name="dots", make=_run(".")),
    Hostile(name="dot space", make=_run(". ")),
    Hostile(name="double quotes", make=_run('"')),
    Hostile(name="quoted words", make=_run('"abc def ')),
    Hostile(name="curly quotes", make=_run("“")),
    Hostile(name="greater-than", make=_run(">")),
    Hostile(name="dollars", make=_run("$")),
    Hostile(name="dollar words", make=_run("$a ")),
    Hostile(name="slash run /a", make=_run("/a")),
    Hostile(name="dotted run a.", make=_run("a.")),
    Hostile(name="initials A.", make=_run("A.")),
    Hostile(name="qualified run a::", make=_result("a::")),
    Hostile(name="disguised initials", make=_run("A.\u017f.A.\u212a.\u0130.\u0131.")),
    Hostile(name="one disguised initial", make=_run("A.", "\u017f")),
    Hostile(name="mail run a@", make=_run("a@")),
    Hostile(name="mail run a@b.", make=_run("a@b.")),
    Hostile(name="http://", make=_run("http://")),
    Hostile(name="newlines", make=_run("\n")),
    Hostile(name="letter lines", make=_run("a\n")),
    Hostile(name="capital lines", make=_run("A\n")),
    Hostile(name="capitalized words", make=_run("Aa ", end="AaB")),
    Hostile(name="indented lines", make=_run("    a\n")),
    Hostile(name="key lines", make=_run("a: b\n")),
    Hostile(name="spaces", make=_run(" ")),
    Hostile(name="tabs and newlines", make=_run("\t\n ")),
    Hostile(name="dotted digits", make=_run("1.")),
    Hostile(name="digits and commas", make=_run("12,")),
    Hostile(name="digits", make=_run("7")),
    Hostile(name="digits in groups", make=_run("’123", "a")),
    Hostile(name="hex", make=_run("deadbeef0")),
    Hostile(name="backticks", make=_run("`")),
    Hostile(name="fence lines", make=_run("```\n")),
    Hostile(name="late fences", make=_run("x ```py\n")),
    Hostile(name="tilde lines", make=_run("~~~\na\n")),
    Hostile(name="camelCase run", make=_run("aB")),
    Hostile(name="camelCase words", make=_run("fooBar ")),
    Hostile(name="emoji ZWJ", make=_run("\U0001f469\u200d\U0001f467\u200d")),
    Hostile(name="flags", make=_run("\U0001f1e6\U0001f1fa")),
    Hostile(name="combining marks", make=_run("e\u0301\u0302")),
    Hostile(name="CJK, no punctuation", make=_run("港口的木箱今天又數了一遍")),
    Hostile(name="[summary: run", make=_run("[summary: ")),
    Hostile(name="[cce:dup run", make=_run("[cce:dup of ")),
    Hostile(name="[shortened run", make=_run("[shortened #")),
    Hostile(name="[messages run", make=_run("[24 messages, shortened ")),
    Hostile(name="[same as the run", make=_run("[same as the #kdbfqamt")),
    Hostile(name="SELECT run", make=_run("select from ")),
    Hostile(name="thus run", make=_run("thus hence ")),
    Hostile(name="key-like run", make=_run("sk-ab1-")),
    Hostile(name="traceback run", make=_run("  at a.b(\n")),
    Hostile(name="table rows", make=_run("| a | b |\n")),
    Hostile(name="names of cells", make=_run("\nrows of status:\n")),
    Hostile(name="grep lines", make=_lines),
    Hostile(name="log lines, all alike", make=_log(3)),
    Hostile(name="log lines, none alike", make=_log(5_000)),
    Hostile(name="copies", make=_copies),
    Hostile(name="near copies", make=_near_copies, options=_RULES | {"fuzzy_dedup": True}),
    Hostile(name="tiny messages", make=_tiny_messages),
    Hostile(name="short prose turns", make=_short_prose),
    Hostile(name="one speaker", make=_one_speaker),
    Hostile(
        name="corrections",
        make=_corrections,
        options=_RULES | {"contradiction_detection": True},
    ),
    Hostile(
        name="shared identifiers",
        make=_shared_names,
        options=_RULES | {"importance_scoring": True},
    ),
)
"""Every nasty input that is tried; one row each."""
