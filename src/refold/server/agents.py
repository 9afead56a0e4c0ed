"""The coding agents that refold knows, as `agents.toml` has them: how each takes up refold."""

from __future__ import annotations

import shlex
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from refold.errors import ConfigError
from refold.private_files import data_file, home_folder
from refold.shipped import read_shipped

Part = Literal["hook", "mcp", "proxy"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)


class File(NamedTuple):
    """A settings file: below the home folder, or in the folder that a variable names."""

    folder: str
    name: str
    variable: str = ""
    project: str = ""
    """Its path in a project; empty if projects have none."""


class Setting(NamedTuple):
    """What `refold install` writes for a part: a value, or one more item of a list."""

    part: Part
    file: File
    place: tuple[str, ...]
    value: Any
    is_item: bool


class Variable(NamedTuple):
    """An environment variable that `refold wrap` sets."""

    name: str
    value: str
    api: str = ""
    only_if: str = ""

    def fits(self, env: Mapping[str, str]) -> bool:
        """Return whether it is to be set for a program with the environment *env*."""
        other, _, wanted = self.only_if.partition("=")
        if other and (not env.get(other) or wanted not in ("", env[other])):
            return False
        return bool(self.api) or not env.get(self.name)


class Refusal(NamedTuple):
    """A variable with which no proxy works, and why."""

    variable: str
    why: str
    unless: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """What refold knows of one agent; the fields are those of `agents.toml`."""

    name: str
    title: str
    program: str = ""
    tried: str = ""
    variables: tuple[Variable, ...] = ()
    arguments: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    by_hand: str = ""
    refused: tuple[Refusal, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that `refold install` can write for it."""
        return tuple(part for part in PARTS if part in {one.part for one in self.settings})

    @property
    def summary(self) -> tuple[str, str, str, str]:
        """Its row in a table: name, what is installed, whether wrap reaches it, who says so."""
        wraps = "yes" if self.variables or self.arguments else "no"
        tried = self.tried or "by its documentation"
        return self.name, ", ".join(self.parts) or "by hand", wraps, tried

    def check_proxy(self, env: Mapping[str, str], *, is_wrapped: bool) -> None:
        """Raise `ConfigError` if no proxy works for it in the environment *env*."""
        for variable, why, unless in self.refused:
            is_on = env.get(variable, "0").lower() not in ("", "0", "false")
            if is_on and not (is_wrapped and env.get(unless)):
                raise ConfigError(f"{variable} is set: {why}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where the agents of this user, or of a project, have their settings; and our own files."""

    platform: str
    env: Mapping[str, str]
    home: Path
    store: Path
    record: Path
    """The record of what was installed."""
    project: Path | None = None
    """The project that the files of the agents belong to; `None` if they are the user's."""

    def path_of(self, file: File) -> Path:
        """Return where a settings file is."""
        if self.project is not None and file.project:
            return self.project / file.project
        named = self.env.get(file.variable)
        return (Path(named) if named else self.home / file.folder) / file.name


def find_places(platform: str, env: Mapping[str, str], project: Path | None = None) -> Places:
    """Return the places of this user, or of one *project* as far as agents support that."""
    store = data_file(platform, env)
    return Places(
        platform=platform,
        env=env,
        home=home_folder(platform, env),
        store=store,
        record=store.with_name("installed.json"),
        project=project,
    )


def refold_command(*arguments: str) -> list[str]:
    """Return the command that runs this very installation of refold.

    It has the full path, since agents do not pass on the PATH, and -P, so that no file in the
    agent's working directory is imported as a module.
    """
    return [sys.executable, "-P", "-m", "refold", *arguments]


def fill(value: Any, url: str, profile: str = "lossless") -> Any:
    """Return a *value* of the table for this machine."""
    match value:
        case str():
            value = value.replace("{url}", url).replace("{profile}", profile)
            value = value.replace("{refold}", shlex.join(refold_command()))
            return value.replace("{python}", sys.executable)
        case dict():
            return {key: fill(inner, url, profile) for key, inner in value.items()}
        case list() | tuple():
            return [fill(inner, url, profile) for inner in value]
    return value


@cache
def known_agents() -> Mapping[str, Agent]:
    """Return all agents by name, in the order of the table."""
    agents = {}
    for name, row in _table()["agents"].items():
        lists = {
            "variables": tuple(Variable(**one) for one in row.get("variables", ())),
            "arguments": tuple(row.get("arguments", ())),
            "settings": tuple(map(_read_setting, row.get("settings", ()))),
            "refused": tuple(Refusal(**one) for one in row.get("refused", ())),
        }
        agents[name] = Agent(name=name, **{**row, **lists})
    return agents


def find_file(name: str) -> File:
    """Return a settings file by its name in the table."""
    return File(**_table()["files"][name])


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(read_shipped("refold.server", "agents.toml").decode())


def _read_setting(row: Mapping[str, Any]) -> Setting:
    value = row.get("value", row.get("item"))
    if "server" in row:
        command, *arguments = "{python}", "-P", "-m", "refold", "mcp"
        value = {"command": command, "args": arguments, **row["server"]}
    place = tuple(row["place"].split("."))
    return Setting(row["part"], find_file(row["file"]), place, value, "item" in row)
