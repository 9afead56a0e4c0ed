"""Settings are written into files of the user's or a project's, and restored byte for byte."""

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
    hooks: dict[str, object] = {"PostToolUse": []}
    assert left == {"model": "sonnet", "hooks": hooks, "x": 1.5, "env": {"MINE": "1"}}
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


def test_a_link_to_nothing_stays_one(tmp_path: Path, places: Places) -> None:
    places.claude_settings.parent.mkdir(parents=True)
    places.claude_settings.symlink_to(tmp_path / "later.json")
    install("claude", ["hook"], places, port=8787)
    assert (tmp_path / "later.json").exists()
    uninstall(["claude"], places)
    assert places.claude_settings.is_symlink()
    assert not (tmp_path / "later.json").exists()


@pytest.mark.parametrize("empty", [{"env": {}}, {"hooks": {}}, {"hooks": {"PostToolUse": []}}])
def test_what_was_empty_before_stays_in_an_edited_file(
    places: Places, empty: dict[str, object]
) -> None:
    put(places.claude_settings, json.dumps(empty).encode())
    install("claude", ["hook", "proxy"], places, port=8787)
    edited = json.loads(places.claude_settings.read_bytes()) | {"model": "mine"}
    places.claude_settings.write_text(json.dumps(edited))
    uninstall(["claude"], places)
    assert json.loads(places.claude_settings.read_bytes()) == {"model": "mine", **empty}


def test_a_death_between_record_and_file_changes_nothing(places: Places) -> None:
    put(places.claude_settings, ODD)
    install("claude", ["hook"], places, port=8787)
    places.claude_settings.write_bytes(ODD)  # it never came to writing it
    assert [one.what for one in uninstall(["claude"], places)] == ["restored"]
    assert places.claude_settings.read_bytes() == ODD


LINKS = [".claude", ".claude/settings.json", ".mcp.json", ".codex", ".codex/config.toml"]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("target", ["there", "missing", "inside"])
def test_a_project_leads_nowhere_else(tmp_path: Path, link: str, target: str) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    is_file = "." in link[1:]
    mine = home / "mine" if target != "inside" else project / "mine"
    put(mine if is_file else mine / "settings.json", b"{}" if "json" in link else b"")
    (project / link).parent.mkdir(parents=True, exist_ok=True)
    (project / link).symlink_to(home / "nothing" if target == "missing" else mine)
    before = files(tmp_path)
    agent: Agent = "codex" if "codex" in link else "claude"
    places = find_places("linux", {"HOME": str(home)}, project)
    with pytest.raises(ConfigError, match="is a link"):
        install(agent, ["mcp", "proxy"], places, port=8787)
    assert files(tmp_path) == before


def test_nothing_beside_a_projects_settings_is_touched(tmp_path: Path) -> None:
    project, mine = tmp_path / "project", tmp_path / "home" / ".bashrc"
    put(project / ".claude/settings.json", ODD)
    put(mine, b"mine")
    (project / ".claude/settings.json.refold-backup").symlink_to(mine)
    before = files(tmp_path)
    places = find_places("linux", {"HOME": str(tmp_path / "home")}, project)
    install("claude", ["hook"], places, port=8787)
    uninstall(["claude"], places)
    assert files(tmp_path) == before
    assert (project / ".claude/settings.json.refold-backup").is_symlink()


def test_a_project_that_becomes_a_link_is_left_alone_and_all_others_are_done(
    tmp_path: Path, places: Places
) -> None:
    mine = tmp_path / "mine.json"
    project = find_places("linux", {"HOME": str(tmp_path)}, tmp_path / "project")
    install("claude", ["hook"], project, port=8787)
    mine.write_bytes(project.claude_settings.read_bytes())
    project.claude_settings.unlink()
    project.claude_settings.symlink_to(mine)
    install("claude", ["hook"], places, port=8787)
    before = mine.read_bytes()
    with pytest.raises(ConfigError, match="is a link"):
        uninstall(["claude"], places)
    assert mine.read_bytes() == before
    assert not places.claude_settings.exists()


def test_a_record_behind_a_link_is_not_read(tmp_path: Path, places: Places) -> None:
    places.record.parent.mkdir(parents=True)
    places.record.symlink_to(tmp_path / "other.json")
    for run in (lambda: install("claude", ["hook"], places, port=1), lambda: uninstall([], places)):
        with pytest.raises(ConfigError, match="it is a link"):
            run()
    assert not (tmp_path / "other.json").exists()


@pytest.mark.parametrize(
    ("agent", "parts", "path", "data", "problem"),
    [
        ("claude", ["hook"], ".claude/settings.json", b"{", "settings.json: it is not JSON"),
        ("claude", ["hook"], ".claude/settings.json", b"\xff", "it is not UTF-8"),
        ("claude", ["hook"], ".claude/settings.json", b'{"a": "\\ud800"}', "it is not UTF-8"),
        (
            "claude",
            ["hook"],
            ".claude/settings.json",
            b'{"a":' * 50_000,
            "is not JSON",
        ),
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
