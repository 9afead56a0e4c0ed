"""A model that follows a script: it reads logs one by one, then says what it found in them.

Its answer depends on nothing but what it was shown. It needs one line that an excerpt leaves out;
where that is not shown, and there is a tool for it, the model fetches it by its handle.
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
_RETRIEVE = ("refold_retrieve", "retrieve_original")


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


def next_step(shell: str, tools: Sequence[str], results: Sequence[str]) -> Call | Answer:
    """Return what the model does, having got these *results* of its calls so far."""
    if len(results) < LOGS:
        return Call(shell, {"command": f"cat {len(results)}.log"})
    shown = [number for text in results for number in _LINE.findall(text)]
    found = [number for number in shown if number.startswith(str(_ASKED + 1))]
    retrieve = next((tool for tool in tools if tool.endswith(_RETRIEVE)), "")
    handles = _HANDLE.findall(results[_ASKED])
    if not found and retrieve and handles and len(results) == LOGS:
        return Call(retrieve, {"handle": handles[-1], "lines": f"{_SECOND}-{_SECOND + 4}"})
    refused = sorted({name for text in results for name in _ERROR.findall(text)})
    return Answer(f"refused: {', '.join(refused)}; request {found[0] if found else 'unknown'}")
