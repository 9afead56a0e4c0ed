"""`refold watch` follows sessions as they grow."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from refold import Options, compress
from refold.cli.watch import Session, Watch, default_folders, name_of
from tests.cli.conftest import Refold
from tests.cli.session import claude_code, codex, jsonl
from tests.cli.terminal import LISTENING, read_to_the_end, read_until
from tests.patience import FOR_EVER

LINES = claude_code().splitlines(keepends=True)


def records(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def follow(path: Path) -> Watch:
    watch = Watch([path], Options(), limit=9)
    watch.poll()
    return watch


def session(path: Path, data: bytes) -> Session:
    path.write_bytes(data)
    return follow(path).sessions[0]


@pytest.mark.parametrize("data", [claude_code(), codex()])
def test_figures_are_those_of_compress(tmp_path: Path, data: bytes) -> None:
    figures = session(tmp_path / "s.jsonl", data)
    result = compress(records(data))
    assert figures.tokens == result.tokens_before
    assert figures.tokens_folded == result.tokens_after
    assert figures.messages >= 8


def test_a_file_that_grows_ends_where_it_would_have_at_once(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(LINES[0])
    growing = follow(path)
    for line in LINES[1:]:
        for half in (line[:40], line[40:]):
            with path.open("ab") as file:
                file.write(half)
            growing.poll()
    at_once = session(tmp_path / "t.jsonl", b"".join(LINES))
    assert growing.sessions[0].tokens == at_once.tokens
    assert growing.sessions[0].messages == at_once.messages
    assert not growing.poll()


def test_a_line_that_is_not_complete_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(LINES[:3]) + LINES[3].rstrip(b"\n"))
    watch = follow(path)
    before = watch.sessions[0].messages
    with path.open("ab") as file:
        file.write(b"\n")
    assert watch.poll()
    assert watch.sessions[0].messages == before + 1


def test_broken_lines_are_skipped(tmp_path: Path) -> None:
    data = b'{"type": broken\n\xff\xfe\n7\n[]\n' + b"[" * 100_000 + b"\n" + claude_code()
    assert session(tmp_path / "s.jsonl", data).messages == 8


def test_only_what_follows_a_compaction_counts(tmp_path: Path) -> None:
    summary = {**json.loads(LINES[1]), "isCompactSummary": True, "uuid": "c"}
    data = claude_code() + jsonl([summary])
    assert session(tmp_path / "s.jsonl", data).messages == 1
    compacted = codex() + jsonl([{"type": "compacted", "payload": {"message": "so far"}}])
    assert session(tmp_path / "t.jsonl", compacted + codex()).messages == 10


def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(claude_code() * 2)
    watch = follow(path)
    path.write_bytes(claude_code())
    assert watch.poll()
    assert watch.sessions[0].messages == 8


def test_model_window_and_usage_are_read_from_the_session(tmp_path: Path) -> None:
    turns = records(claude_code())
    turns[4]["message"]["model"] = "claude-sonnet-4-5"
    turns[4]["message"]["usage"] = {
        "input_tokens": 10,
        "cache_read_input_tokens": 99_000,
        "cache_creation_input_tokens": 990,
    }
    figures = session(tmp_path / "s.jsonl", jsonl(turns))
    assert figures.model == "claude-sonnet-4-5"
    assert figures.prompt_tokens == 100_000
    assert figures.fill == pytest.approx(0.5)
    assert figures.costs_usd is not None
    assert figures.costs_usd[0] > figures.costs_usd[1] > 0
    info = {"last_token_usage": {"input_tokens": 50}, "model_context_window": 200_000}
    stated = [{"type": "event_msg", "payload": {"type": "token_count", "info": info}}]
    other = session(tmp_path / "t.jsonl", codex() + jsonl(stated))
    assert other.window_tokens == 200_000
    assert other.prompt_tokens == 50
    assert other.costs_usd is None


def test_files_that_are_no_sessions_are_not_listed(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "s.jsonl").write_bytes(claude_code())
    (tmp_path / "chat.jsonl").write_bytes(jsonl([{"role": "user", "content": "hello"}]))
    (tmp_path / "bad.jsonl").write_bytes(b'{"type": "user", "message": {"role": 7}}\n' * 2)
    watch = Watch([tmp_path], Options(), limit=9)
    assert [one.path.name for one in watch.poll()] == ["s.jsonl"]
    assert watch.poll() == []
    assert [one.path.name for one in watch.sessions] == ["s.jsonl"]


def test_the_latest_sessions_are_followed(tmp_path: Path) -> None:
    for n in range(4):
        path = tmp_path / f"{n}.jsonl"
        path.write_bytes(claude_code())
        os.utime(path, (n, n))
    watch = Watch([tmp_path], Options(), limit=2)
    watch.poll()
    assert [one.path.name for one in watch.sessions] == ["3.jsonl", "2.jsonl"]
    assert watch.hidden == 2
    (tmp_path / "3.jsonl").unlink()
    watch.poll()
    assert [one.path.name for one in watch.sessions] == ["2.jsonl", "1.jsonl"]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_table_once(refold: Refold, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    turns = records(claude_code())
    turns[4]["message"]["model"] = "claude-sonnet-4-5"
    Path("a.jsonl").write_bytes(jsonl(turns))
    Path("b.jsonl").write_bytes(codex())
    done = refold("watch", ".", "--once")
    assert done.code == 0
    text = done.out.decode()
    assert max(map(len, text.splitlines())) <= columns
    assert "$0.0" in text
    total = sum(compress(records(data)).tokens_before for data in (jsonl(turns), codex()))
    assert f"{total:,}" in text
    assert "\x1b" not in text


def test_a_terminal_without_unicode_gets_plain_characters(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_bytes(claude_code())
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "COLUMNS": "120"}
    done = subprocess.run(
        [sys.executable, "-m", "refold", "watch", str(tmp_path), "--once"],
        env=environment,
        capture_output=True,
        timeout=FOR_EVER,
        check=True,
    )
    assert "----" in done.stdout.decode("ascii")


def test_nothing_to_watch(refold: Refold, monkeypatch: pytest.MonkeyPatch) -> None:
    done = refold("watch", "nowhere", "--once")
    assert done.code == 2
    assert "nowhere" in done.err
    assert "no sessions yet" in refold("watch", ".", "--once").out.decode()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "c")
    monkeypatch.setenv("CODEX_HOME", "x")
    assert refold("watch", "--once").code == 2
    Path("x/sessions").mkdir(parents=True)
    assert refold("watch", "--once").code == 0


def test_where_sessions_are_by_default() -> None:
    home = Path.home()
    assert default_folders({}) == [home / ".claude" / "projects", home / ".codex" / "sessions"]


def test_sessions_are_named_by_project_and_id() -> None:
    path = Path("projects/-home-ann-pebblecart/0b1c2d3e-4455-6677.jsonl")
    assert name_of(path) == "pebblecart/0b1c2d3e-445"


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_narrow_terminal_cuts_names_and_never_figures(
    refold: Refold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    told = records(claude_code())
    for record in told:
        if record["type"] == "assistant":
            record["message"]["model"] = "claude-sonnet-4-6"
    for name in ("a-very-long-name-of-a-session", "another"):
        (tmp_path / f"{name}.jsonl").write_bytes(jsonl(told))
    lines = refold("watch", tmp_path, "--once").out.decode().splitlines()
    assert max(map(len, lines)) <= columns
    rows = [line for line in lines if "$" in line]
    assert len(rows) == 3, "two sessions and the sums"
    total = f"{compress(told).tokens_before:,}"
    for row in rows[:2]:
        assert total in row
        assert re.match(r" +\S{8}", row), "the name can be told"
        assert re.search(r"\d+% .* −[\d.]+ % +\$0\.\d{4} → \$0\.\d{4}", row)


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
@pytest.mark.parametrize("is_terminal", [False, True])
def test_an_interrupt_leaves_a_summary(tmp_path: Path, is_terminal: bool) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(LINES[:-3]))
    command = [sys.executable, "-c", LISTENING, "watch", str(tmp_path), "--interval", "0.05"]
    inner, outer = os.openpty() if is_terminal else os.pipe()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    with subprocess.Popen(command, stdout=outer, env=environment) as process:
        os.close(outer)
        read_until(inner, b"tokens")
        with path.open("ab") as file:
            file.write(b"".join(LINES[-3:]))
        total = compress(records(b"".join(LINES))).tokens_before
        read_until(inner, f"{total:,}".encode())
        process.send_signal(signal.SIGINT)
        end = read_to_the_end(inner).decode()
        assert process.wait(FOR_EVER) == 0
    os.close(inner)
    assert "one request" in end
    assert f"{total:,}" in end
