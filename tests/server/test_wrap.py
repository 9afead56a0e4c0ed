"""A program runs behind a proxy: with its own streams, signals and exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from refold import ConfigError
from refold.server.wrap import NOT_FOUND, Wrapped, adapt, run_wrapped
from tests.patience import FOR_EVER

ASK = (
    "import os, sys, urllib.request as u;"
    "u.build_opener(u.ProxyHandler({})).open(os.environ['ANTHROPIC_BASE_URL'] + '/v1').read();"
)


def wrap(tmp_path: Path, script: str, **env: str) -> Wrapped:
    proxy = [sys.executable, "-m", "tests.server.proxy_stub", str(tmp_path / "ended")]
    given = {**os.environ, "PYTHONPATH": ":".join(sys.path), **env}
    return run_wrapped([sys.executable, "-c", script], given, proxy=proxy)


def test_requests_go_through_the_proxy_and_are_counted(tmp_path: Path) -> None:
    ended = wrap(tmp_path, ASK * 3 + "sys.exit(7)")
    assert ended.code == 7
    assert ended.stats["requests"] == 3
    assert (tmp_path / "ended").read_text() == "ended"


def test_the_proxy_sends_on_to_where_the_program_would(tmp_path: Path) -> None:
    theirs = {"ANTHROPIC_BASE_URL": "http://gate/", "OPENAI_BASE_URL": "http://gate/v1"}
    seen = wrap(tmp_path, "", **theirs, REFOLD_GEMINI_URL="http://g").stats["env"]
    assert seen["REFOLD_ANTHROPIC_URL"] == seen["REFOLD_OPENAI_URL"] == "http://gate"
    assert seen["REFOLD_GEMINI_URL"] == "http://g"


def test_a_program_that_is_killed_ends_as_in_a_shell(tmp_path: Path) -> None:
    ended = wrap(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert ended.code == 128 + signal.SIGKILL


def test_a_program_that_is_not_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    proxy = [sys.executable, "-m", "tests.server.proxy_stub", str(tmp_path / "ended")]
    env = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    assert run_wrapped([str(tmp_path / "none")], env, proxy=proxy).code == NOT_FOUND
    assert "cannot run" in capfd.readouterr().err
    assert (tmp_path / "ended").exists()


@pytest.mark.parametrize(
    ("proxy", "problem"),
    [
        ([sys.executable, "-c", "import sys; sys.exit('no such upstream')"], "no such upstream"),
        ([sys.executable, "-c", ""], "it says nothing"),
        (
            [sys.executable, "-c", "import sys; sys.exit('refold: no room')"],
            "^the proxy does not start: no room$",
        ),
        (["/does/not/exist"], "No such file"),
    ],
)
def test_without_a_proxy_nothing_is_run(tmp_path: Path, proxy: list[str], problem: str) -> None:
    program = [sys.executable, "-c", f"open({str(tmp_path / 'ran')!r}, 'w')"]
    with pytest.raises(ConfigError, match=problem):
        run_wrapped(program, os.environ, proxy=proxy)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_signals_reach_the_program(tmp_path: Path, number: signal.Signals) -> None:
    program = (
        f"import signal, sys; signal.signal({int(number)}, lambda *_: sys.exit(33));"
        "print('ready', flush=True); signal.pause()"
    )
    wrapper = (
        "import os, sys; from refold.server.wrap import run_wrapped;"
        f"sys.exit(run_wrapped([sys.executable, '-c', {program!r}], os.environ, "
        f"proxy=[sys.executable, '-m', 'tests.server.proxy_stub', {str(tmp_path / 'ended')!r}]"
        ").code)"
    )
    env = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-c", wrapper]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        running.send_signal(number)
        assert running.wait(FOR_EVER) == 33
    assert (tmp_path / "ended").exists()


def test_codex_is_told_by_arguments() -> None:
    command = adapt(["/bin/codex", "exec", "go"], "http://127.0.0.1:9")
    assert command[:3] == ["/bin/codex", "-c", 'model_provider="refold"']
    assert 'model_providers.refold.base_url="http://127.0.0.1:9/v1"' in command
    assert command[-2:] == ["exec", "go"]
    assert adapt(["claude", "-p"], "http://127.0.0.1:9") == ["claude", "-p"]
