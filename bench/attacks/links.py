"""Settings of agents: nothing is written behind a link, and all that was written is undone."""

from __future__ import annotations

import json
import random
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from attacks.base import Area, Check
from refold import ConfigError, RefoldError
from refold.server.agents import Agent, Part, Places, find_file, find_places, known_agents
from refold.server.install import install, uninstall

_LINKS: Final = (
    ".claude",
    ".claude/settings.json",
    ".claude/settings.json.refold-backup",
    ".mcp.json",
    ".mcp.json.refold-backup",
    ".codex",
    ".codex/config.toml",
    ".codex/config.toml.refold-backup",
)
_TARGETS: Final = (".bashrc", ".claude/settings.json", ".claude", ".codex/config.toml", "nothing")
_AGENTS: Final = tuple(one for one in known_agents().values() if one.settings)
_SETTINGS: Final = b'{"model": "opus",\r\n "env": {}, "hooks": {"PostToolUse": [ ]}, "x": 1.50}'


def run(scale: float, seed: int) -> Area:
    """Install and uninstall in made projects and homes, some of them hostile."""
    rng = random.Random(seed)
    outside = Check("nothing outside a project changes")
    exact = Check("what was written is undone exactly")
    kept = Check("what was edited since is kept")
    for _ in range(max(20, int(2_000 * scale))):
        with tempfile.TemporaryDirectory() as name:
            _lead_astray(Path(name).resolve(), rng, outside)
        with tempfile.TemporaryDirectory() as name:
            _undo(Path(name).resolve(), rng, exact)
        with tempfile.TemporaryDirectory() as name:
            _edit(Path(name).resolve(), rng, kept)
    return Area("links", [outside, exact, kept])


def _lead_astray(root: Path, rng: random.Random, check: Check) -> None:
    """Put links into a project, before it is installed or after, and see what they lead to."""
    home, project = root / "home", root / "project"
    for path, data in (
        (".bashrc", b"mine"),
        (".claude/settings.json", _SETTINGS),
        (".codex/config.toml", b'model = "mine"\n'),
    ):
        _put(home / path, data)
    if rng.random() < 0.5:
        _put(project / ".claude/settings.json", b'{"committed": true}')
    places = find_places("linux", {"HOME": str(home)}, project)
    before = _files(home)
    agent, link, target = rng.choice(_AGENTS), project / rng.choice(_LINKS), rng.choice(_TARGETS)
    is_late = rng.random() < 0.5
    with suppress(RefoldError):
        if not is_late:
            _link(link, home / target)
        install(agent, _parts(agent, rng), places, port=1)
    if is_late:
        _link(link, home / target)
    with suppress(RefoldError):
        uninstall([agent.name], places)
    what = (
        f"{agent.name}, {link.relative_to(project)} → {target}, {'late' if is_late else 'at first'}"
    )
    check.record(_files(home) != before, what)


def _undo(root: Path, rng: random.Random, check: Check) -> None:
    """Install parts one after the other into settings of any form, and take them out."""
    places = find_places("linux", {"HOME": str(root)})
    _make_settings(places, rng)
    before = _files(root)
    agent = rng.choice(_AGENTS)
    parts = _parts(agent, rng)
    with suppress(RefoldError):
        for part in parts:
            install(agent, [part], places, port=rng.randrange(1, 9_000))
    uninstall([agent.name], places)
    check.record(_files(root) != before, f"{agent.name} {parts}: {before}")


def _edit(root: Path, rng: random.Random, check: Check) -> None:
    """Install, edit what is there as a person might, and take out what was put in."""
    places = find_places("linux", {"HOME": str(root)})
    first = _document(rng)
    settings, claude = places.path_of(find_file("claude")), known_agents()["claude"]
    _put(settings, json.dumps(first).encode())
    try:
        install(claude, _parts(claude, rng), places, port=1)
    except ConfigError:
        return
    edited = json.loads(settings.read_bytes())
    mine = {"mine": rng.choice([{}, [], "text", {"hooks": {"PostToolUse": []}}])}
    settings.write_text(json.dumps({**edited, **mine}))
    uninstall(["claude"], places)
    left = json.loads(settings.read_bytes())
    check.record(left != {**first, **mine}, f"{first} became {left}")


def _make_settings(places: Places, rng: random.Random) -> None:
    for path in {places.path_of(one.file) for agent in _AGENTS for one in agent.settings}:
        if rng.random() < 0.3:
            continue
        text = (
            _toml(rng)
            if path.suffix == ".toml"
            else json.dumps(_document(rng), indent=rng.choice((None, 3)))
        )
        real = path.with_name("elsewhere") / path.name if rng.random() < 0.3 else path
        if rng.random() < 0.9 or real == path:
            _put(real, text.encode(), rng.choice((0o600, 0o644, 0o440)))
        if real != path:
            _link(path, real)


def _document(rng: random.Random) -> dict[str, Any]:
    env: Any = rng.choice([{}, {"A": "1"}, {"ANTHROPIC_BASE_URL": "http://mine"}, []])
    hooks = rng.choice([{}, {"PostToolUse": []}, {"PostToolUse": [{"matcher": "x"}], "Stop": []}])
    allowed = rng.choice([{}, {"allow": []}, {"deny": ["x"]}])
    whole = {"env": env, "hooks": hooks, "permissions": allowed, "n": 1.5, "mcpServers": {}}
    return {key: whole[key] for key in rng.sample(sorted(whole), rng.randrange(len(whole) + 1))}


def _toml(rng: random.Random) -> str:
    lines = ["# mine", 'model = "o"  # why', "[mcp_servers]", "[tools]", "web = true"]
    end = rng.choice(["\n", "\r\n"])
    return end.join(lines[: rng.randrange(len(lines) + 1)]) + rng.choice(["", end])


def _parts(agent: Agent, rng: random.Random) -> list[Part]:
    return rng.sample(agent.parts, rng.randrange(1, len(agent.parts) + 1))


def _put(path: Path, data: bytes, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)


def _link(path: Path, target: Path) -> None:
    """Put a link where there may be something."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name("moved"))
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def _files(folder: Path) -> dict[str, tuple[str, int, bytes]]:
    """Return all files of a folder, with modes and where links lead, but for refold's own."""
    return {
        str(path): (
            str(path.readlink()) if path.is_symlink() else "",
            path.lstat().st_mode,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
        if ".local" not in path.parts and (path.is_symlink() or not path.is_dir())
    }
