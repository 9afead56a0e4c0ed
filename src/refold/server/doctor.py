"""Checks what is set up for coding agents, by trying it."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from refold.errors import RefoldError, describe
from refold.report.pieces import say_count
from refold.server.agents import AGENTS, Installed, Places, read_record
from refold.server.config_files import Entry, has_entry
from refold.server.originals import counts_beside, open_originals, read_counts
from refold.server.wrap import open_directly

State = Literal["works", "broken", "absent"]

_SECONDS: Final = 60.0
"""Timeout for anything that is tried; starting Python on a busy machine takes seconds."""
_SAMPLE: Final = "\n".join(
    f"2026-01-01 10:{n // 60:02d}:{n % 60:02d} INFO request {n} done" for n in range(200)
)
_EVENT: Final = {
    "hook_event_name": "PostToolUse",
    "tool_name": "Bash",
    "tool_response": {"stdout": _SAMPLE, "stderr": ""},
}
_INITIALIZE: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "refold doctor", "version": "1"},
    },
}


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check."""

    state: State
    what: str
    said: str = ""


def examine(places: Places) -> Iterator[Check]:
    """Check the store, the agents, and everything that is on record as installed."""
    yield _check_store(places.store)
    yield from _check_counts(places.store)
    for agent in AGENTS:
        found = shutil.which(agent)
        yield Check("works" if found else "absent", agent, found or "is not on the PATH")
    try:
        known = read_record(places.record)
    except RefoldError as error:
        yield Check("broken", "record", describe(error))
        return
    if not known:
        yield Check("absent", "settings", "nothing is installed; see: refold install --help")
    for installed in known:
        for entry in installed.entries:
            yield _check_entry(installed, entry)


def _check_store(path: Path) -> Check:
    if not path.exists():
        return Check("absent", "store", f"{path} will be made when something is kept")
    try:
        with open_originals(path) as store:
            store.put({})
            return Check("works", "store", f"{path}, {len(store):,} originals")
    except RefoldError as error:
        return Check("broken", "store", describe(error))


def _check_counts(store: Path) -> Iterator[Check]:
    counts = read_counts(counts_beside(store))
    if counts.get("folded"):
        before, after = counts["tokens_before"], counts["tokens_after"]
        said = f"{counts['folded']:,} texts, {before:,} tokens became {after:,}"
        yield Check("works", "savings", said)
    for name, amount in sorted(counts.items()):
        _, _, kind = name.partition("failures:")
        if kind:
            times = say_count(amount, "time")
            yield Check("broken", "failures", f"{kind}, {times}; the output stayed whole")


def _check_entry(installed: Installed, entry: Entry) -> Check:
    """Check that an entry is still in its file, and try what it sets up."""
    name = f"{installed.agent} {'.'.join(entry.place)}"
    try:
        is_toml = installed.path.suffix == ".toml"
        is_there = has_entry(installed.path.read_text("utf-8"), entry, is_toml=is_toml)
    except (OSError, UnicodeDecodeError, RefoldError) as error:
        return Check("broken", name, describe(error))
    if not is_there:
        return Check("broken", name, f"is not in {installed.path} any more; install it again")
    problem = _try(entry, installed.port)
    return Check("broken", name, problem) if problem else Check("works", name, str(installed.path))


def _try(entry: Entry, port: int) -> str:
    """Return the problem with what *entry* sets up; empty if it works."""
    match entry.place:
        case ("hooks", _):
            command = shlex.split(entry.value["hooks"][0]["command"])
            problem = "it does not shorten a sample"
            return _try_command(command, json.dumps(_EVENT), "updatedToolOutput", problem)
        case ("mcpServers" | "mcp_servers", _):
            command = [entry.value["command"], *entry.value["args"]]
            problem = "the server does not answer; pip install 'refold[mcp]'"
            return _try_command(command, json.dumps(_INITIALIZE) + "\n", "serverInfo", problem)
        case ("env" | "model_providers", _):
            return _try_proxy(f"http://127.0.0.1:{port}")
    return ""


def _try_command(command: Sequence[str], stdin: str, wanted: str, problem: str) -> str:
    """Run *command* as an agent would, on a temporary store; return the problem, if any."""
    with tempfile.TemporaryDirectory() as folder:
        own = [*command, "--store", str(Path(folder) / "doctor.db")]
        try:
            ran = subprocess.run(
                own, input=stdin.encode(), capture_output=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            return describe(error)
    return "" if wanted in ran.stdout.decode(errors="replace") else problem


def _try_proxy(url: str) -> str:
    try:
        with open_directly(f"{url}/healthz", _SECONDS):
            return ""
    except OSError as error:
        return f"nothing answers at {url}; start it with: refold serve ({describe(error)})"
