"""A model that follows a script: it reads logs one by one, then says what it found in them.

Its answer depends on nothing but what it was shown. It needs lines that an excerpt or a fold
leaves out; where they are not shown, and there is a tool for it, the model fetches them: from one
result by its handle, from a fold in plain words, or by its handle where the tool does not know the
conversation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LOGS = 10
_ASKED = 3
_SECOND = 57
_ERROR = re.compile(r"refused by (db-\d+)")
_LINE = re.compile(rf"00:{_SECOND},\d+ (?:INFO )?worker-\d (?:request )?(\d+)")
"""As it stands in a log, or said in fewer words without loss."""
_HANDLE = re.compile(r"#[a-z]{5,36}\b")
_READ = re.compile(r"cat (\d+)\.log")
_FOLD = re.compile(r"messages, shortened (#[a-z]{5,36})\]")
_FOLD_LINES = "1214-1226"
"""Where the line stands in a fold of whole logs and their calls, of 386 lines a log."""
_RETRIEVE = ("refold_retrieve", "retrieve_original")
_QUERIES = ("ERROR worker was refused by db", f"cat {_ASKED}.log: the request at 10:00:{_SECOND}")


@dataclass(frozen=True)
class Call:
    tool: str
    arguments: dict[str, object]


@dataclass(frozen=True)
class Answer:
    text: str


def write_logs(folder: Path, lines: int) -> None:
    """Write the logs that the model is going to read, of so many *lines* each."""
    for n in range(LOGS):
        rows = [
            f"2026-11-16 10:{k // 60:02d}:{k % 60:02d},{k * 37 % 1000:03d} INFO worker-{k % 7} "
            f"request {_request(n, k)} done in {k * 13 % 400} ms"
            for k in range(lines)
        ]
        rows.insert(
            lines // 3 + n, f"2026-11-16 10:02:1{n},001 ERROR worker-3 was refused by db-{n}"
        )
        (folder / f"{n}.log").write_text("\n".join(rows) + "\n")


def _request(log: int, second: int) -> int:
    return 1_000_000 * (log + 1) + second * 7919


def expected() -> str:
    """Return the answer of a model that was shown everything."""
    names = ", ".join(f"db-{n}" for n in range(LOGS))
    return f"refused: {names}; request {_request(_ASKED, _SECOND)}"


def next_step(shell: str, tools: Sequence[str], said: str, results: Sequence[str]) -> Call | Answer:
    """Return what the model does when all that is *said* so far has these *results* in it."""
    logs = len(set(_READ.findall(said)) & set(map(str, range(LOGS))))
    if logs < LOGS:
        return Call(shell, {"command": f"cat {logs}.log"})
    refused = sorted(set(_ERROR.findall(said)))
    asked = next((n for n in _LINE.findall(said) if n.startswith(str(_ASKED + 1))), "")
    retrieve = next((tool for tool in tools if tool.endswith(_RETRIEVE)), "")
    handles = _HANDLE.findall(results[_ASKED]) if len(results) == LOGS else []
    if retrieve and not asked and handles:
        return Call(retrieve, {"handle": handles[-1], "lines": f"{_SECOND}-{_SECOND + 4}"})
    folds = _FOLD.findall(said)
    if retrieve.endswith("refold_retrieve") and not asked and folds and _FOLD_LINES not in said:
        return Call(retrieve, {"handle": folds[0], "lines": _FOLD_LINES})
    for is_shown, query in zip((len(refused) == LOGS, asked), _QUERIES, strict=True):
        if retrieve.endswith("retrieve_original") and not is_shown and query not in said:
            return Call(retrieve, {"query": query})
    return Answer(f"refused: {', '.join(refused)}; request {asked or 'unknown'}")
