"""Settings are written with a backup, and restored byte for byte."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refold import ConfigError, StoreError
from refold.server.agents import Agent, Part, Places, find_places, install, uninstall
from refold.server.doctor import examine
from tests.cli.conftest import Refold

ODD = b'{"model":"opus",\r\n   "hooks": {"PostToolUse": [ ]}, "x": 1.50}'
CODEX = b'# mine\nmodel = "gpt"\n[tools]\nweb = true'


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return find_places("linux", {"HOME": str(tmp_path)})


def put(path: Path, data: bytes, mode: int = 0o640) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path): (path.read_bytes(), path.stat().st_mode)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("agent", "parts"),
    [
        ("claude", ["hook"]),
        ("claude", ["hook", "mcp", "proxy"]),
        ("codex", ["proxy"]),
        ("codex", ["mcp", "proxy"]),
    ],
)
@pytest.mark.parametrize("is_there", [True, False])
def test_uninstall_restores_every_byte(
    tmp_path: Path, places: Places, agent: Agent, parts: list[Part], is_there: bool
) -> None:
    if is_there:
        put(places.claude_settings, ODD)
        put(places.claude_servers, b'{"mcpServers": {"other": {}}}')
        put(places.codex_config, CODEX)
    before = files(tmp_path)
    for part in parts:  # one after the other, as somebody may do it
        install(agent, [part], places, port=8787)
    assert files(tmp_path) != before
    uninstall([agent], places)
    assert files(tmp_path) == before


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    document=st.dictionaries(
        st.sampled_from(["env", "hooks", "a"]), st.dictionaries(st.text(), st.text())
    ),
    spacing=st.sampled_from([None, 1, "\t"]),
)
def test_any_settings_come_back(places: Places, document: object, spacing: str | None) -> None:
    data = json.dumps(document, indent=spacing).encode()
    put(places.claude_settings, data)
    try:
        install("claude", ["hook", "proxy"], places, port=1)
    except ConfigError:
        pass
    else:
        uninstall(["claude"], places)
    assert places.claude_settings.read_bytes() == data


def test_the_hook_loses_nothing_unless_the_model_can_ask(places: Places) -> None:
    def profile() -> str:
        (entry,) = json.loads(places.claude_settings.read_bytes())["hooks"]["PostToolUse"]
        return shlex.split(entry["hooks"][0]["command"])[-1]

    install("claude", ["hook"], places, port=8787)
    assert profile() == "lossless"
    install("claude", ["mcp"], places, port=8787)
    assert profile() == "standard"


def test_codex_reads_what_was_written(places: Places) -> None:
    put(places.codex_config, CODEX)
    install("codex", ["mcp", "proxy"], places, port=8000)
    read = tomllib.loads(places.codex_config.read_text())
    assert read["model_provider"] == "refold"
    assert read["model_providers"]["refold"]["base_url"] == "http://127.0.0.1:8000/v1"
    assert read["mcp_servers"]["refold"]["args"][-1] == "mcp"
    assert read["tools"] == {"web": True}


def test_edits_in_between_stay_and_that_is_said(places: Places) -> None:
    put(places.claude_settings, ODD)
    put(places.codex_config, CODEX)
    install("claude", ["hook", "proxy"], places, port=8787)
    install("codex", ["proxy"], places, port=8787)
    edited = json.loads(places.claude_settings.read_bytes())
    edited["model"] = "sonnet"
    edited["env"]["MINE"] = "1"
    places.claude_settings.write_text(json.dumps(edited))
    places.codex_config.write_text(places.codex_config.read_text() + "[mine]\n")
    install("claude", ["mcp"], places, port=8787)  # goes on from the edited file
    done = uninstall(["claude", "codex"], places)
    said = {one.path: one.what for one in done}
    left = json.loads(places.claude_settings.read_bytes())
    assert left == {"model": "sonnet", "x": 1.5, "env": {"MINE": "1"}}
    assert places.codex_config.read_bytes() == CODEX + b"\n[mine]\n"
    assert "took out only" in said[places.codex_config]
    assert not places.record.exists()


def test_a_file_that_was_deleted_stays_deleted(places: Places) -> None:
    put(places.claude_settings, ODD)
    install("claude", ["hook"], places, port=8787)
    places.claude_settings.unlink()
    uninstall(["claude"], places)
    assert not places.claude_settings.exists()


def test_a_link_stays_a_link(tmp_path: Path, places: Places) -> None:
    real = tmp_path / "dotfiles" / "settings.json"
    put(real, ODD)
    places.claude_settings.parent.mkdir(parents=True)
    places.claude_settings.symlink_to(real)
    install("claude", ["hook"], places, port=8787)
    assert b"post-tool-use" in real.read_bytes()
    uninstall(["claude"], places)
    assert places.claude_settings.is_symlink()
    assert real.read_bytes() == ODD


@pytest.mark.parametrize(
    ("agent", "parts", "path", "data", "problem"),
    [
        ("claude", ["hook"], ".claude/settings.json", b"{", "settings.json: it is not JSON"),
        ("claude", ["hook"], ".claude/settings.json", b"\xff", "it is not UTF-8"),
        (
            "claude",
            ["hook", "proxy"],
            ".claude/settings.json",
            b'{"env": {"ANTHROPIC_BASE_URL": "http://mine"}}',
            "env.ANTHROPIC_BASE_URL is set already",
        ),
        ("claude", ["hook", "mcp"], ".claude.json", b"[]", ".claude.json: it is not a JSON object"),
        ("codex", ["proxy"], ".codex/config.toml", b'model_provider = "x"', "is set already"),
        ("codex", ["hook"], ".codex/config.toml", b"", "hooks of codex cannot change"),
    ],
)
def test_what_is_in_the_way_stops_it_before_anything_is_written(
    tmp_path: Path,
    places: Places,
    agent: Agent,
    parts: list[Part],
    path: str,
    data: bytes,
    problem: str,
) -> None:
    put(tmp_path / path, data)
    before = files(tmp_path)
    with pytest.raises(ConfigError, match=problem):
        install(agent, parts, places, port=8787)
    assert files(tmp_path) == before


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("not a folder")
    places = find_places("linux", {"HOME": str(tmp_path / "home")})
    with pytest.raises(StoreError, match="cannot read or write"):
        install("claude", ["hook"], places, port=8787)


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"HOME": "/h"}, ("/h/.claude/settings.json", "/h/.claude.json", "/h/.codex/config.toml")),
        (
            {"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x"},
            ("/c/settings.json", "/c/.claude.json", "/x/config.toml"),
        ),
    ],
)
def test_the_files_are_where_the_agents_look(
    env: dict[str, str], expected: tuple[str, ...]
) -> None:
    assert tuple(map(str, find_places("linux", env).written)) == expected


def test_a_project_has_files_of_its_own() -> None:
    places = find_places("linux", {"HOME": "/h"}, Path("/p"))
    names = ("/p/.claude/settings.json", "/p/.mcp.json", "/p/.codex/config.toml")
    assert tuple(map(str, places.written)) == names


def test_doctor_tries_what_is_installed(places: Places) -> None:
    assert {check.state for check in examine(places)} <= {"absent", "works"}
    install("claude", ["hook", "proxy"], places, port=1)
    found = {check.what: check for check in examine(places)}
    assert found["claude hooks.PostToolUse"].state == "works"
    assert "nothing answers" in found["claude env.ANTHROPIC_BASE_URL"].said
    places.claude_settings.write_text("{}")
    places.store.write_bytes(b"no database at all" * 100)
    found = {check.what: check for check in examine(places)}
    assert "install it again" in found["claude hooks.PostToolUse"].said
    assert found["store"].state == "broken"


def test_the_commands(refold: Refold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert refold("uninstall").out == b"nothing was installed\n"
    ran = refold("install", "claude", "--hook")
    assert f"written {tmp_path}/.claude/settings.json" in ran.out.decode()
    assert "claude now has: hook" in ran.out.decode()
    ran = refold("doctor")
    assert (ran.code, "ok claude hooks.PostToolUse" in ran.out.decode()) == (0, True)
    assert "removed" in refold("uninstall", "claude").out.decode()
    assert refold("install", "codex").code == 2
    assert "hooks of codex cannot" in refold("install", "codex", "--hook").err
