"""Settings of coding agents: what refold writes into them, and how it is undone.

What was written is on record, in the user's data folder, with what was there before. As long as a
file is as we wrote it, uninstalling restores it byte for byte. If it was edited since, only our
entries are removed, with a note. The settings of a project are whatever somebody has put into a
repository, so a link among them is refused; the user's own links are followed and stay links.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, Literal, get_args

from refold.errors import ConfigError, StoreError
from refold.private_files import OWNER_ONLY, data_file, home_folder, replacing
from refold.server.config_files import Entry, add_entries, remove_entries

Agent = Literal["claude", "codex"]
Part = Literal["hook", "mcp", "proxy"]

AGENTS: Final[tuple[Agent, ...]] = get_args(Agent)
PARTS: Final[tuple[Part, ...]] = get_args(Part)
HOOK_SECONDS: Final = 30
"""Claude Code's timeout for the hook."""
_EVENT: Final = ("hooks", "PostToolUse")
_RETRIEVE: Final = "mcp__refold__refold_retrieve"
_NO_HOOK: Final = (
    "the hooks of codex cannot change what a tool returned; use --proxy, --mcp, "
    "or run it with: refold wrap -- codex"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The files of the agents, and ours."""

    claude_settings: Path
    claude_servers: Path
    codex_config: Path
    record: Path
    """The record of what was installed."""
    store: Path
    project: Path | None = None
    """The project that the files of the agents belong to; `None` if they are the user's."""

    @property
    def written(self) -> tuple[Path, ...]:
        """The files that `install` may change."""
        return self.claude_settings, self.claude_servers, self.codex_config


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """One file that was written: for which agent, which parts, and what it was before."""

    path: Path
    agent: Agent
    parts: tuple[Part, ...]
    port: int
    entries: tuple[Entry, ...]
    digest: str
    """The digest of the file as we wrote it."""
    before: str | None
    """The file as it was before; `None` if there was none."""
    project: Path | None
    """The project that it belongs to; `None` if it is the user's."""


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one file."""

    path: Path
    what: str


def find_places(platform: str, env: Mapping[str, str], project: Path | None = None) -> Places:
    """Return the files of this user, or of one *project* as far as agents support that."""
    home = home_folder(platform, env)
    claude = env.get("CLAUDE_CONFIG_DIR")
    store = data_file(platform, env)
    settings = Path(claude) if claude else home / ".claude"
    return Places(
        claude_settings=(project / ".claude" if project else settings) / "settings.json",
        claude_servers=(
            project / ".mcp.json"
            if project
            else (Path(claude) if claude else home) / ".claude.json"
        ),
        codex_config=(
            project / ".codex" if project else Path(env.get("CODEX_HOME") or home / ".codex")
        )
        / "config.toml",
        record=store.with_name("installed.json"),
        store=store,
        project=project,
    )


def own_command(*arguments: str) -> list[str]:
    """Return the command that runs this very installation of refold.

    It has the full path, since agents do not pass on the PATH, and -P, so that no file in the
    agent's working directory is imported as a module.
    """
    return [sys.executable, "-P", "-m", "refold", *arguments]


def codex_provider(url: str) -> dict[str, str]:
    """Return the settings of a codex model provider that is the proxy at *url*."""
    return {
        "name": "refold",
        "base_url": f"{url}/v1",
        "env_key": "OPENAI_API_KEY",
        "wire_api": "responses",
    }


def install(
    agent: Agent, parts: Iterable[Part], places: Places, *, port: int
) -> tuple[list[Done], tuple[Part, ...]]:
    """Add *parts* to those in the settings of *agent*; return what was done, and all parts.

    Raises:
        ConfigError: the agent has no such part, a file cannot be read, or the place of an entry is
            taken. Then nothing was written.
        StoreError: a file cannot be written.
    """
    known = read_record(places.record)
    ours = [one for one in known if one.agent == agent and one.path in places.written]
    wanted = {*parts, *(part for one in ours for part in one.parts)}
    all_parts = tuple(part for part in PARTS if part in wanted)
    entries = _entries_for(agent, all_parts, places, port=port)
    written = {one.path: one for one in ours}
    new: list[tuple[Installed, bytes]] = []
    for path, put in entries.items():
        with _naming(path):
            base, _ = _base(path, places.project, written.get(path))
            data = add_entries(base or "", put, is_toml=path.suffix == ".toml").encode()
        made = Installed(
            path=path,
            agent=agent,
            parts=all_parts,
            port=port,
            entries=tuple(put),
            digest=_digest(data),
            before=base,
            project=places.project,
        )
        new.append((made, data))
    for made, data in new:
        with _naming(made.path):
            # The record first: removing what is on record but not there does no harm.
            known = [one for one in known if one.path != made.path] + [made]
            _write_record(places.record, known)
            _write(made.path, data)
    done = [Done(made.path, "written" if made.before is None else "changed") for made, _ in new]
    return done, all_parts


def uninstall(agents: Sequence[Agent], places: Places) -> list[Done]:
    """Undo what was written into the settings of *agents*.

    Raises:
        ConfigError: a file can no longer be read; it stays as it is, and on record. All others are
            done by then.
        StoreError: a file cannot be written.
    """
    known = read_record(places.record)
    done, problems = [], []
    for one in [one for one in known if one.agent in agents]:
        try:
            with _naming(one.path):
                done.append(Done(one.path, _undo(one)))
        except ConfigError as error:
            problems.append(str(error))
            continue
        known.remove(one)
        _write_record(places.record, known)
    if problems:
        raise ConfigError("; ".join(problems))
    return done


def _undo(one: Installed) -> str:
    """Take out of a file what was put in; return what was done."""
    base, is_exact = _base(one.path, one.project, one)
    is_left_empty = one.before is None and not is_exact and (base or "").strip() in ("", "{}")
    if base is None or is_left_empty:
        Path(os.path.realpath(one.path)).unlink(missing_ok=True)
        return "removed"
    _write(one.path, base.encode())
    return "restored" if is_exact else "edited since: took out only what refold put in"


def read_record(path: Path) -> list[Installed]:
    """Return what is on record as installed.

    Raises:
        ConfigError: the record cannot be read.
    """
    with _naming(path):
        if path.is_symlink():
            raise ConfigError("it is a link, and what is behind it may be somebody else's")
        if not path.exists():
            return []
        try:
            return [_read_installed(one) for one in json.loads(path.read_bytes())]
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"it is no record of what is installed: {error!r}") from error


def _entries_for(
    agent: Agent, parts: Sequence[Part], places: Places, *, port: int
) -> dict[Path, list[Entry]]:
    """Return the entries of *parts*, by the file that they go into.

    Raises:
        ConfigError: the agent has no such part.
    """
    if agent == "codex":
        return {places.codex_config: _codex(parts, port)}
    entries: dict[Path, list[Entry]] = {}
    settings = _claude_settings(parts, port)
    if settings:
        entries[places.claude_settings] = settings
    if "mcp" in parts:
        command, *arguments = own_command("mcp")
        # Makes Claude Code wait for the server: a tool that appears later breaks the prompt cache.
        server = {"type": "stdio", "command": command, "args": arguments, "alwaysLoad": True}
        entries[places.claude_servers] = [Entry(("mcpServers", "refold"), server)]
    return entries


def _claude_settings(parts: Sequence[Part], port: int) -> list[Entry]:
    entries = []
    if "hook" in parts:
        # Excerpts are for models that can fetch the rest.
        profile = "standard" if "mcp" in parts else "lossless"
        command = shlex.join(own_command("hook", "post-tool-use", "--profile", profile))
        hook = {"type": "command", "command": command, "timeout": HOOK_SECONDS}
        entries.append(Entry(_EVENT, {"matcher": "*", "hooks": [hook]}, is_item=True))
    if "mcp" in parts:
        entries.append(Entry(("permissions", "allow"), _RETRIEVE, is_item=True))
    if "proxy" in parts:
        entries.append(Entry(("env", "ANTHROPIC_BASE_URL"), f"http://127.0.0.1:{port}"))
    return entries


def _codex(parts: Sequence[Part], port: int) -> list[Entry]:
    entries = []
    if "hook" in parts:
        raise ConfigError(_NO_HOOK)
    if "proxy" in parts:
        entries.append(Entry(("model_provider",), "refold"))
        provider = codex_provider(f"http://127.0.0.1:{port}")
        entries.append(Entry(("model_providers", "refold"), provider))
    if "mcp" in parts:
        command, *arguments = own_command("mcp")
        entries.append(Entry(("mcp_servers", "refold"), {"command": command, "args": arguments}))
    return entries


def _base(path: Path, project: Path | None, written: Installed | None) -> tuple[str | None, bool]:
    """Return the file without our entries, `None` if there is none; and whether that is exact.

    Raises:
        ConfigError: it cannot be read, or it is not where it seems to be.
    """
    inside = takewhile(lambda place: place != project, (path, *path.parents))
    for place in inside if project else ():
        if place.is_symlink():
            raise ConfigError(f"{place} is a link, which may lead out of the project")
    if not path.exists():
        return None, True
    if not path.is_file():
        raise ConfigError("it is no regular file")
    data = path.read_bytes()
    now = data.decode()
    if written is None or now == written.before:
        return now, True
    if _digest(data) == written.digest:
        return written.before, True
    is_toml, before = path.suffix == ".toml", written.before or ""
    return remove_entries(now, written.entries, before=before, is_toml=is_toml), False


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _read_installed(data: Any) -> Installed:
    entries = tuple(
        Entry(tuple(entry["place"]), entry["value"], entry["is_item"]) for entry in data["entries"]
    )
    project = data["project"] and Path(data["project"])
    given = Installed(**{**data, "path": Path(data["path"]), "parts": tuple(data["parts"])})
    return replace(given, entries=entries, project=project)


def _write_record(path: Path, known: Sequence[Installed]) -> None:
    if not known:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(json.dumps([asdict(one) for one in known], default=str, indent=2))


def _write(path: Path, data: bytes) -> None:
    """Replace a file atomically; a link to it stays a link, and its mode stays."""
    target = Path(os.path.realpath(path))
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else OWNER_ONLY
    with replacing(target, mode=mode) as temporary:
        temporary.write_bytes(data)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Add to errors which file they are about."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    except UnicodeError as error:
        raise ConfigError(f"{path}: it is not UTF-8") from error
    except RecursionError as error:
        raise ConfigError(f"{path}: it is nested too deeply") from error
    except OSError as error:
        raise StoreError(f"cannot read or write {str(path)!r}: {error.strerror}") from error
