"""What refold writes into the settings of agents, and how it is undone.

What was written is on record, in the user's data folder, with what was there before. As long as a
file is as we wrote it, uninstalling restores it byte for byte. If it was edited since, only our
entries are removed, with a note. The settings of a project are whatever somebody has put into a
repository, so a link among them is refused; the user's own links are followed and stay links.
"""

from __future__ import annotations

import json
import os
import plistlib
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, NamedTuple

from refold.errors import ConfigError, StoreError
from refold.private_files import OWNER_ONLY, replacing
from refold.server.agents import PARTS, Agent, Part, Places, fill, refold_command
from refold.server.config_files import Entry, add_entries, remove_entries

SERVICE: Final = "service"
"""The name on record of the service that keeps the proxy running."""
_UNIT: Final = """\
[Unit]
Description=refold: folds what coding agents send to a provider

[Service]
ExecStart={command}
Restart=on-failure

[Install]
WantedBy=default.target
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """One file that was written: for which agent, which parts, and what it was before."""

    path: Path
    agent: str
    """The name of the agent, or `SERVICE`."""
    port: int
    digest: str
    """The digest of the file as we wrote it."""
    parts: tuple[Part, ...] = ()
    entries: tuple[Entry, ...] = ()
    """What was put in; none if the whole file is ours."""
    before: str | None = None
    """The file as it was before; `None` if there was none."""
    project: Path | None = None
    """The project that it belongs to; `None` if it is the user's."""


class Done(NamedTuple):
    """What became of one file."""

    path: Path
    what: str


def install(
    agent: Agent, parts: Iterable[Part], places: Places, *, port: int
) -> tuple[list[Done], tuple[Part, ...]]:
    """Add *parts* to those in the settings of *agent*; return what was done, and all parts.

    Raises:
        ConfigError: the agent has no such part, a file cannot be read, or the place of an entry is
            taken. Then nothing was written.
        StoreError: a file cannot be written.
    """
    url = f"http://127.0.0.1:{port}"
    known = read_record(places.record)
    mine = {places.path_of(one.file) for one in agent.settings}
    ours = {one.path: one for one in known if one.agent == agent.name and one.path in mine}
    wanted = {*parts, *(part for one in ours.values() for part in one.parts)}
    all_parts = tuple(part for part in PARTS if part in wanted)
    for part in all_parts:
        if part not in agent.parts:
            others = " and ".join(f"--{one}" for one in agent.parts)
            hint = f", but {others}" if others else ""
            hint += f": {fill(agent.by_hand, url)}" if agent.by_hand else ""
            raise ConfigError(f"{agent.name} has no --{part}{hint}")
    if "proxy" in all_parts:
        agent.check_proxy(places.env, is_wrapped=False)
    settings = [one for one in agent.settings if one.part in all_parts]
    if places.project and not all(one.file.project for one in settings):
        raise ConfigError(f"{agent.name} has no such settings for a project")
    # Excerpts are for models that can fetch the rest.
    profile = "standard" if "mcp" in all_parts else "lossless"
    entries: dict[Path, list[Entry]] = {}
    for one in settings:
        entry = Entry(one.place, fill(one.value, url, profile), one.is_item)
        entries.setdefault(places.path_of(one.file), []).append(entry)
    new: list[tuple[Installed, bytes]] = []
    for path, put in entries.items():
        with _naming(path):
            base, _ = _base(path, places.project, ours.get(path))
            data = add_entries(base or "", put, is_toml=path.suffix == ".toml").encode()
        made = Installed(
            path=path,
            agent=agent.name,
            parts=all_parts,
            port=port,
            entries=tuple(put),
            digest=_digest(data),
            before=base,
            project=places.project,
        )
        new.append((made, data))
    return _write_all(new, known, places), all_parts


def install_service(places: Places, *, port: int) -> Done:
    """Write a service that keeps the proxy running; see `start_command`.

    Raises:
        ConfigError: this system has no such services, or there is another one in its place.
        StoreError: the file cannot be written.
    """
    path, data = _service(places, port)
    known = read_record(places.record)
    ours = next((one for one in known if one.agent == SERVICE and one.path == path), None)
    with _naming(path):
        base, _ = _base(path, None, ours)
        if base is not None:
            raise ConfigError("there is a service of that name that refold did not write")
    made = Installed(path=path, agent=SERVICE, port=port, digest=_digest(data))
    return _write_all([(made, data)], known, places)[0]


def uninstall(names: Collection[str], places: Places) -> list[Done]:
    """Undo what was written for the agents, or the service, called *names*.

    Raises:
        ConfigError: a file can no longer be read; it stays as it is, and on record. All others are
            done by then.
        StoreError: a file cannot be written.
    """
    known = read_record(places.record)
    done, problems = [], []
    for one in [one for one in known if one.agent in names]:
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


def start_command(path: Path) -> str:
    """Return the command that starts the service in the file at *path*, now and at every login."""
    if path.suffix == ".plist":
        return f"launchctl bootstrap gui/{os.getuid()} {path}"
    return f"systemctl --user enable --now {path.stem}"


def stop_command(path: Path) -> str:
    """Return the command that stops the service that was in the file at *path*."""
    if path.suffix == ".plist":
        return f"launchctl bootout gui/{os.getuid()}/{path.stem}"
    return f"systemctl --user disable --now {path.stem}"


def _service(places: Places, port: int) -> tuple[Path, bytes]:
    """Return where the file of the service is, and what is in it."""
    command = refold_command("serve", "--port", str(port))
    if places.platform == "darwin":
        path = places.home / "Library" / "LaunchAgents" / "refold.plist"
        agent = {"Label": path.stem, "ProgramArguments": command, "RunAtLoad": True}
        return path, plistlib.dumps({**agent, "KeepAlive": {"SuccessfulExit": False}})
    if places.platform.startswith("linux"):
        folder = places.env.get("XDG_CONFIG_HOME") or places.home / ".config"
        path = Path(folder) / "systemd" / "user" / "refold.service"
        # Quoted for systemd, to which % and $ mean something even then.
        words = [json.dumps(word, ensure_ascii=False) for word in command]
        line = " ".join(words).replace("%", "%%").replace("$", "$$")
        return path, _UNIT.format(command=line).encode()
    raise ConfigError(f"no service can be written on {places.platform}: run refold serve")


def _undo(one: Installed) -> str:
    """Take out of a file what was put in; return what was done."""
    base, is_exact = _base(one.path, one.project, one)
    if one.agent == SERVICE and not is_exact:
        return "edited since: left as it is; remove it by hand"
    is_left_empty = one.before is None and not is_exact and (base or "").strip() in ("", "{}")
    if base is None or is_left_empty:
        Path(os.path.realpath(one.path)).unlink(missing_ok=True)
        return "removed"
    _write(one.path, base.encode())
    return "restored" if is_exact else "edited since: removed only what refold had added"


def read_record(path: Path) -> list[Installed]:
    """Return what is on record as installed.

    Raises:
        ConfigError: the record cannot be read.
    """
    with _naming(path):
        if path.is_symlink():
            raise ConfigError("it is a link, and its target may belong to somebody else")
        if not path.exists():
            return []
        try:
            return [_read_installed(one) for one in json.loads(path.read_bytes())]
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"it is not a record of what is installed: {error!r}") from error


def _read_installed(data: Any) -> Installed:
    entries = tuple(
        Entry(tuple(entry["place"]), entry["value"], entry["is_item"]) for entry in data["entries"]
    )
    project = data["project"] and Path(data["project"])
    known = Installed(**{**data, "path": Path(data["path"]), "parts": tuple(data["parts"])})
    return replace(known, entries=entries, project=project)


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
        raise ConfigError("it is not a regular file")
    data = path.read_bytes()
    now = data.decode()
    if written is None or now == written.before:
        return now, True
    if _digest(data) == written.digest:
        return written.before, True
    if not written.entries:
        return now, False
    is_toml, before = path.suffix == ".toml", written.before or ""
    return remove_entries(now, written.entries, before=before, is_toml=is_toml), False


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _write_all(
    new: Iterable[tuple[Installed, bytes]], known: list[Installed], places: Places
) -> list[Done]:
    done = []
    for made, data in new:
        with _naming(made.path):
            # The record first: removing what is on record but not there does no harm.
            known = [one for one in known if one.path != made.path] + [made]
            _write_record(places.record, known)
            _write(made.path, data)
        done.append(Done(made.path, "written" if made.before is None else "changed"))
    return done


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
