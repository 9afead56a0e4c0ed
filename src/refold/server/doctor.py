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
    try:
        if places.store.exists():
            with open_originals(places.store) as store:
                store.put({})
                yield Check("works", "store", f"{places.store}, {len(store):,} originals")
        else:
            detail = f"{places.store} will be created when something is stored"
            yield Check("absent", "store", detail)
    except RefoldError as error:
        yield Check("broken", "store", describe(error))

    counts = read_counts(counts_beside(places.store))
    if counts.get("folded"):
        before, after = counts["tokens_before"], counts["tokens_after"]
        detail = f"{counts['folded']:,} texts, {before:,} tokens became {after:,}"
        yield Check("works", "savings", detail)
    for name, amount in sorted(counts.items()):
        if name.startswith("failures:"):
            times = say_count(amount, "time")
            detail = f"{name.removeprefix('failures:')}, {times}; the output was left as it was"
            yield Check("broken", "failures", detail)

    agents = [one for one in known_agents().values() if one.program]
    paths = {one.name: shutil.which(one.program) for one in agents}
    yield from (Check("works", name, path) for name, path in paths.items() if path)
    if not any(paths.values()):
        yield Check("absent", "agents", f"none is on the PATH of {', '.join(paths)}")

    try:
        known = read_record(places.record)
    except RefoldError as error:
        yield Check("broken", "record", describe(error))
        return
    if not known:
        yield Check("absent", "settings", "nothing is installed; see: refold install --help")
    for installed in known:
        tried = [(".".join(one.place), _try(installed, one)) for one in installed.entries]
        if installed.agent == SERVICE:
            tried = [("", _try_service(installed))]
        for place, problem in tried:
            name = f"{installed.agent} {place}".strip()
            yield Check("broken" if problem else "works", name, problem or str(installed.path))


def _try_service(installed: Installed) -> str:
    if not installed.path.exists():
        return f"{installed.path} is gone; install it again"
    start = f"it does not answer; start it with: {start_command(installed.path)}"
    return start if _try_proxy(installed.port) else ""


def _try(installed: Installed, entry: Entry) -> str:
    """Return the problem with an entry and what it sets up; empty if it works."""
    path, value = installed.path, entry.value
    try:
        if not has_entry(path.read_text("utf-8"), entry, is_toml=path.suffix == ".toml"):
            return f"is not in {path} any more; install it again"
    except (OSError, UnicodeDecodeError, RefoldError) as error:
        return describe(error)
    if entry.place[0] == "hooks":
        return _try_command(shlex.split(value["hooks"][0]["command"]), _HOOKS[entry.place[-1]])
    if isinstance(value, dict) and "command" in value:
        words = value["command"]
        return _try_command(words if isinstance(words, list) else [words, *value["args"]], _SERVER)
    is_proxy = f"127.0.0.1:{installed.port}" in json.dumps(value)
    return _try_proxy(installed.port) if is_proxy else ""


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
