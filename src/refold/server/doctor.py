"""Checks what is set up for coding agents, by trying it."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from refold.errors import RefoldError, describe
from refold.report.pieces import say_count
from refold.server.agents import Places, known_agents
from refold.server.config_files import Entry, has_entry
from refold.server.install import SERVICE, Installed, read_record, start_command
from refold.server.originals import counts_beside, open_originals, read_counts
from refold.server.wrap import open_directly

State = Literal["works", "broken", "absent"]

_SECONDS: Final = 60.0
"""Timeout for anything that is tried; starting Python on a busy machine takes seconds."""
_SAMPLE: Final = "\n".join(
    f"2026-01-01 10:{n // 60:02d}:{n % 60:02d} INFO request {n} done" for n in range(200)
)
_TURN: Final = {"type": "user", "uuid": "1", "message": {"role": "user", "content": "Find it."}}
_AFTER_CALL: Final = {
    "hook_event_name": "PostToolUse",
    "tool_name": "Bash",
    "tool_response": {"stdout": _SAMPLE, "stderr": ""},
}
_AFTER_COMPACTION: Final = {
    "hook_event_name": "SessionStart",
    "source": "compact",
    "session_id": "doctor",
    "transcript_path": "{transcript}",
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


class Trial(NamedTuple):
    """What a command is sent, what its answer has in it, and what is wrong if that is missing."""

    event: Mapping[str, Any]
    wanted: str
    problem: str


_HOOKS: Final = {
    "PostToolUse": Trial(_AFTER_CALL, "updatedToolOutput", "it does not shorten a sample"),
    "SessionStart": Trial(_AFTER_COMPACTION, "Find it.", "it does not restore what was asked"),
}
_SERVER: Final = Trial(
    _INITIALIZE, "serverInfo", "the server does not answer; pip install 'refold[mcp]'"
)


class Check(NamedTuple):
    """The outcome of one check."""

    state: State
    what: str
    detail: str = ""


def examine(places: Places) -> Iterator[Check]:
    """Check the store, the agents, and everything that is on record as installed."""
    yield _check_store(places.store)
    yield from _check_counts(places.store)
    programs = {
        one.name: shutil.which(one.program) for one in known_agents().values() if one.program
    }
    for name, path in programs.items():
        if path:
            yield Check("works", name, path)
    if not any(programs.values()):
        yield Check("absent", "agents", f"none is on the PATH of {', '.join(programs)}")
    try:
        known = read_record(places.record)
    except RefoldError as error:
        yield Check("broken", "record", describe(error))
        return
    if not known:
        yield Check("absent", "settings", "nothing is installed; see: refold install --help")
    for installed in known:
        if installed.agent == SERVICE:
            yield _check_service(installed)
        for entry in installed.entries:
            yield _check_entry(installed, entry)


def _check_store(path: Path) -> Check:
    if not path.exists():
        return Check("absent", "store", f"{path} will be created when something is stored")
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
        detail = f"{counts['folded']:,} texts, {before:,} tokens became {after:,}"
        yield Check("works", "savings", detail)
    for name, amount in sorted(counts.items()):
        _, _, kind = name.partition("failures:")
        if kind:
            times = say_count(amount, "time")
            yield Check("broken", "failures", f"{kind}, {times}; the output was left as it was")


def _check_service(installed: Installed) -> Check:
    if not installed.path.exists():
        return Check("broken", SERVICE, f"{installed.path} is gone; install it again")
    if _try_proxy(installed.port):
        start = start_command(installed.path)
        return Check("broken", SERVICE, f"it does not answer; start it with: {start}")
    return Check("works", SERVICE, str(installed.path))


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
    value = entry.value
    if entry.place[0] == "hooks":
        return _try_command(shlex.split(value["hooks"][0]["command"]), _HOOKS[entry.place[-1]])
    if isinstance(value, dict) and "command" in value:
        words = value["command"]
        return _try_command(words if isinstance(words, list) else [words, *value["args"]], _SERVER)
    return _try_proxy(port) if f"127.0.0.1:{port}" in json.dumps(value) else ""


def _try_command(command: Sequence[str], trial: Trial) -> str:
    """Run *command* as an agent would, on a temporary store; return the problem, if any."""
    with tempfile.TemporaryDirectory() as folder:
        transcript = Path(folder) / "session.jsonl"
        transcript.write_text(json.dumps(_TURN) + "\n", "utf-8")
        event = {
            key: str(transcript) if value == "{transcript}" else value
            for key, value in trial.event.items()
        }
        try:
            ran = subprocess.run(
                [*command, "--store", str(Path(folder) / "doctor.db")],
                input=(json.dumps(event) + "\n").encode(),
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            return describe(error)
    return "" if trial.wanted in ran.stdout.decode(errors="replace") else trial.problem


def _try_proxy(port: int) -> str:
    url = f"http://127.0.0.1:{port}"
    try:
        with open_directly(f"{url}/healthz", _SECONDS):
            return ""
    except OSError as error:
        return f"nothing answers at {url}; start it with: refold serve ({describe(error)})"
