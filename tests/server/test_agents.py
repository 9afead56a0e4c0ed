"""Settings are written into files of the user's or a project's, and restored byte for byte."""

from __future__ import annotations

import json
import plistlib
import shlex
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refold import ConfigError, StoreError
from refold.server.agents import PARTS, Agent, Part, Places, find_file, find_places, known_agents
from refold.server.doctor import examine
from refold.server.install import Done, install_service, start_command, uninstall
from refold.server.install import install as install_row
from tests.cli.conftest import Refold

ODD = b'{"model":"opus",\r\n   "hooks": {"PostToolUse": [ ]}, "x": 1.50}'
CODEX = b'# mine\nmodel = "gpt"\n[tools]\nweb = true'


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return find_places("linux", {"HOME": str(tmp_path)})


def install(
    name: str, parts: list[Part], places: Places, *, port: int
) -> tuple[list[Done], tuple[Part, ...]]:
    return install_row(known_agents()[name], parts, places, port=port)


def settings_of(places: Places) -> Path:
    return places.path_of(find_file("claude"))


def config_of(places: Places) -> Path:
    return places.path_of(find_file("codex"))


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
    tmp_path: Path, places: Places, agent: str, parts: list[Part], is_there: bool
) -> None:
    if is_there:
        put(settings_of(places), ODD)
        put(places.path_of(find_file("claude-servers")), b'{"mcpServers": {"other": {}}}')
        put(config_of(places), CODEX)
    before = files(tmp_path)
    for part in parts:  # one after the other, as somebody may do it
        install(agent, [part], places, port=8787)
    assert files(tmp_path) != before
    uninstall([agent], places)
    assert files(tmp_path) == before


WRITTEN = [one for one in known_agents().values() if one.settings]


@pytest.mark.parametrize("agent", WRITTEN, ids=lambda agent: agent.name)
@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("in_project", [True, False])
def test_every_agent_can_be_undone(
    tmp_path: Path, agent: Agent, is_there: bool, in_project: bool
) -> None:
    project = tmp_path / "project" if in_project else None
    places = find_places("linux", {"HOME": str(tmp_path / "home")}, project)
    parts = [
        part
        for part in agent.parts
        if not in_project or all(one.file.project for one in agent.settings if one.part == part)
    ]
    if is_there:
        for one in agent.settings:
            path = places.path_of(one.file)
            put(path, CODEX if path.suffix == ".toml" else b'{"theme":  "dark"}')
    before = files(tmp_path)
    for part in parts:
        done, _ = install(agent.name, [part], places, port=8787)
        written = b"".join(one.path.read_bytes() for one in done)
        assert (b"127.0.0.1:8787" in written) >= (part == "proxy")
        assert b"{url}" not in written
        assert b"{python}" not in written
    uninstall([agent.name], places)
    assert files(tmp_path) == before
    for missing in set(PARTS) - set(parts):
        with pytest.raises(ConfigError, match=f"{agent.name} has no"):
            install(agent.name, [missing], places, port=1)


def test_what_is_known_of_the_agents_is_on_its_page() -> None:
    """The table of docs/coding-agents.md is that of the code."""
    rows = [
        f"| {one.title} | `{one.name}` | {', '.join(one.parts) or '–'} | "
        f"{'yes' if one.variables or one.arguments else '–'} | {one.tried or '–'} |"
        for one in known_agents().values()
    ]
    page = (Path(__file__).parents[2] / "docs" / "coding-agents.md").read_text("utf-8")
    assert len(rows) >= 15
    assert "\n".join(rows) in page, "\n".join(rows)


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_service_is_written_and_taken_away(tmp_path: Path, platform: str) -> None:
    places = find_places(platform, {"HOME": str(tmp_path)})
    one = install_service(places, port=9000)
    text = one.path.read_text()
    assert "serve" in text
    assert "9000" in text
    assert ("systemctl" if platform == "linux" else "launchctl") in start_command(one.path)
    if platform == "darwin":
        assert plistlib.loads(text.encode())["ProgramArguments"][-2:] == ["--port", "9000"]
    assert "9001" in install_service(places, port=9001).path.read_text()
    found = {check.what: check for check in examine(places)}
    assert "it does not answer; start it with" in found["service"].detail
    assert [done.what for done in uninstall(["service"], places)] == ["removed"]
    assert list(files(tmp_path)) == []


def test_a_service_of_somebody_elses_stays(tmp_path: Path, places: Places) -> None:
    unit = tmp_path / ".config/systemd/user/refold.service"
    put(unit, b"[Unit]")
    with pytest.raises(ConfigError, match="that refold did not write"):
        install_service(places, port=1)
    unit.unlink()
    install_service(places, port=1)
    unit.write_text(unit.read_text() + "# mine")
    (done,) = uninstall(["service"], places)
    assert "left as it is" in done.what
    assert unit.exists()
    with pytest.raises(ConfigError, match="no service can be written on win32"):
        install_service(find_places("win32", {"USERPROFILE": str(tmp_path)}), port=1)


@pytest.mark.parametrize(
    ("env", "problem"),
    [
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, "signs what it sends to Bedrock"),
        ({"CLAUDE_CODE_USE_VERTEX": "true"}, "ANTHROPIC_VERTEX_BASE_URL"),
        ({"CLAUDE_CODE_USE_FOUNDRY": "1"}, "ANTHROPIC_FOUNDRY_BASE_URL"),
    ],
)
def test_where_no_proxy_works_none_is_written(
    tmp_path: Path, env: dict[str, str], problem: str
) -> None:
    places = find_places("linux", {"HOME": str(tmp_path), **env})
    with pytest.raises(ConfigError, match=problem):
        install("claude", ["proxy"], places, port=1)
    install("claude", ["hook"], places, port=1)
    assert "ANTHROPIC_BASE_URL" not in settings_of(places).read_text()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    document=st.dictionaries(
        st.sampled_from(["env", "hooks", "a"]), st.dictionaries(st.text(), st.text())
    ),
    spacing=st.sampled_from([None, 1, "\t"]),
)
def test_any_settings_come_back(places: Places, document: object, spacing: str | None) -> None:
    data = json.dumps(document, indent=spacing).encode()
    put(settings_of(places), data)
    try:
        install("claude", ["hook", "proxy"], places, port=1)
    except ConfigError:
        pass
    else:
        uninstall(["claude"], places)
    assert settings_of(places).read_bytes() == data


def test_the_hook_loses_nothing_unless_the_model_can_ask(places: Places) -> None:
    def profile() -> str:
        (entry,) = json.loads(settings_of(places).read_bytes())["hooks"]["PostToolUse"]
        return shlex.split(entry["hooks"][0]["command"])[-1]

    install("claude", ["hook"], places, port=8787)
    assert profile() == "lossless"
    install("claude", ["mcp"], places, port=8787)
    assert profile() == "standard"


def test_codex_reads_what_was_written(places: Places) -> None:
    put(config_of(places), CODEX)
    install("codex", ["mcp", "proxy"], places, port=8000)
    read = tomllib.loads(config_of(places).read_text())
    assert read["model_provider"] == "refold"
    assert read["model_providers"]["refold"]["base_url"] == "http://127.0.0.1:8000/v1"
    assert read["mcp_servers"]["refold"]["args"][-1] == "mcp"
    assert read["tools"] == {"web": True}


def test_edits_in_between_stay_and_that_is_said(places: Places) -> None:
    put(settings_of(places), ODD)
    put(config_of(places), CODEX)
    install("claude", ["hook", "proxy"], places, port=8787)
    install("codex", ["proxy"], places, port=8787)
    edited = json.loads(settings_of(places).read_bytes())
    edited["model"] = "sonnet"
    edited["env"]["MINE"] = "1"
    settings_of(places).write_text(json.dumps(edited))
    config_of(places).write_text(config_of(places).read_text() + "[mine]\n")
    install("claude", ["mcp"], places, port=8787)  # goes on from the edited file
    done = uninstall(["claude", "codex"], places)
    said = {one.path: one.what for one in done}
    left = json.loads(settings_of(places).read_bytes())
    hooks: dict[str, object] = {"PostToolUse": []}
    assert left == {"model": "sonnet", "hooks": hooks, "x": 1.5, "env": {"MINE": "1"}}
    assert config_of(places).read_bytes() == CODEX + b"\n[mine]\n"
    assert "removed only" in said[config_of(places)]
    assert not places.record.exists()


def test_a_file_that_was_deleted_stays_deleted(places: Places) -> None:
    put(settings_of(places), ODD)
    install("claude", ["hook"], places, port=8787)
    settings_of(places).unlink()
    uninstall(["claude"], places)
    assert not settings_of(places).exists()


def test_a_link_stays_a_link(tmp_path: Path, places: Places) -> None:
    real = tmp_path / "dotfiles" / "settings.json"
    put(real, ODD)
    settings_of(places).parent.mkdir(parents=True)
    settings_of(places).symlink_to(real)
    install("claude", ["hook"], places, port=8787)
    assert b"post-tool-use" in real.read_bytes()
    uninstall(["claude"], places)
    assert settings_of(places).is_symlink()
    assert real.read_bytes() == ODD


def test_a_link_to_nothing_stays_one(tmp_path: Path, places: Places) -> None:
    settings_of(places).parent.mkdir(parents=True)
    settings_of(places).symlink_to(tmp_path / "later.json")
    install("claude", ["hook"], places, port=8787)
    assert (tmp_path / "later.json").exists()
    uninstall(["claude"], places)
    assert settings_of(places).is_symlink()
    assert not (tmp_path / "later.json").exists()


@pytest.mark.parametrize("empty", [{"env": {}}, {"hooks": {}}, {"hooks": {"PostToolUse": []}}])
def test_what_was_empty_before_stays_in_an_edited_file(
    places: Places, empty: dict[str, object]
) -> None:
    put(settings_of(places), json.dumps(empty).encode())
    install("claude", ["hook", "proxy"], places, port=8787)
    edited = json.loads(settings_of(places).read_bytes()) | {"model": "mine"}
    settings_of(places).write_text(json.dumps(edited))
    uninstall(["claude"], places)
    assert json.loads(settings_of(places).read_bytes()) == {"model": "mine", **empty}


def test_a_death_between_record_and_file_changes_nothing(places: Places) -> None:
    put(settings_of(places), ODD)
    install("claude", ["hook"], places, port=8787)
    settings_of(places).write_bytes(ODD)  # it never came to writing it
    assert [one.what for one in uninstall(["claude"], places)] == ["restored"]
    assert settings_of(places).read_bytes() == ODD


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
    agent: str = "codex" if "codex" in link else "claude"
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
    mine.write_bytes(settings_of(project).read_bytes())
    settings_of(project).unlink()
    settings_of(project).symlink_to(mine)
    install("claude", ["hook"], places, port=8787)
    before = mine.read_bytes()
    with pytest.raises(ConfigError, match="is a link"):
        uninstall(["claude"], places)
    assert mine.read_bytes() == before
    assert not settings_of(places).exists()


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
            "env.ANTHROPIC_BASE_URL is already set",
        ),
        ("claude", ["hook", "mcp"], ".claude.json", b"[]", ".claude.json: it is not a JSON object"),
        ("codex", ["proxy"], ".codex/config.toml", b'model_provider = "x"', "is already set"),
        ("codex", ["hook"], ".codex/hooks.json", b"[]", "hooks.json: it is not a JSON object"),
        ("gemini", ["hook"], ".gemini/settings.json", b"", "gemini"),
    ],
)
def test_what_is_in_the_way_stops_it_before_anything_is_written(
    tmp_path: Path,
    places: Places,
    agent: str,
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


def names_of(places: Places) -> tuple[str, ...]:
    files = ("claude", "claude-servers", "codex")
    return tuple(str(places.path_of(find_file(name))) for name in files)


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
    assert names_of(find_places("linux", env)) == expected


def test_a_project_has_files_of_its_own() -> None:
    places = find_places("linux", {"HOME": "/h"}, Path("/p"))
    names = ("/p/.claude/settings.json", "/p/.mcp.json", "/p/.codex/config.toml")
    assert names_of(places) == names


def test_doctor_tries_what_is_installed(places: Places) -> None:
    assert {check.state for check in examine(places)} <= {"absent", "works"}
    install("claude", ["hook", "proxy"], places, port=1)
    found = {check.what: check for check in examine(places)}
    assert found["claude hooks.PostToolUse"].state == "works"
    assert found["claude hooks.SessionStart"].state == "works"
    assert "nothing answers" in found["claude env.ANTHROPIC_BASE_URL"].detail
    settings_of(places).write_text("{}")
    places.store.write_bytes(b"no database at all" * 100)
    found = {check.what: check for check in examine(places)}
    assert "install it again" in found["claude hooks.PostToolUse"].detail
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
    assert refold("install", "gemini").code == 2
    assert "codex now has: hook" in refold("install", "codex", "--hook").out.decode()
    assert "hooks.json: removed" in refold("uninstall", "codex").out.decode()
    assert refold("install").code == 2
    assert "opencode" in refold("install", "--list").out.decode()
    assert "models.yml" in refold("install", "omp").out.decode()
    ran = refold("install", "--service")
    assert "start it: systemctl --user enable --now refold" in ran.out.decode()
    assert "stop it" in refold("uninstall", "--service").out.decode()
    assert "gemini has no --hook" in refold("install", "gemini", "--hook").err
