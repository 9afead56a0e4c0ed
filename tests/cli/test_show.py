"""`refold show`, `diff` and `retrieve`: what a model reads, what changed, and the way back."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Refold
from tests.cli.session import chat, claude_code, codex, jsonl
from tests.cli.terminal import read_to_the_end
from tests.patience import FOR_EVER

BUDGET = ("--budget", "500")
TIGHT = ("--budget", "500")
"""The newest result is shown in part."""


def test_show_reads_like_the_conversation_that_the_model_gets(refold: Refold, file: Path) -> None:
    refold("compress", file, *BUDGET, "-o", "small.json")
    small = json.loads(Path("small.json").read_text(encoding="utf-8"))
    done = refold("show", file, *BUDGET)
    assert done.code == 0
    shown = "".join(done.out.decode().split())
    for message in small:
        assert "".join((message["content"] or "").split()) in shown
        for made in message.get("tool_calls", ()):
            assert f"calls{made['function']['name']}" in shown
    assert shown.index("#0user") < shown.index("#21user") < shown.index("before")


def test_show_says_what_each_message_costs_and_stands_for(refold: Refold, file: Path) -> None:
    assert re.search(
        r"^#1–\d+ assistant · digest · [\d,]+ → [\d,]+ tokens$",
        refold("show", file, "--budget", "400").out.decode(),
        re.MULTILINE,
    )
    text = refold("show", file, *BUDGET).out.decode()
    assert re.search(r"^#20 tool run · excerpt · [\d,]+ → [\d,]+ tokens$", text, re.MULTILINE)
    assert re.search(r"^#21 user · \d+ tokens$", text, re.MULTILINE)


def test_show_dims_marks_and_gaps_and_nothing_else(
    refold: Refold, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = refold("show", file, *BUDGET).out.decode()
    assert re.search(r"\x1b\[2m\[part #[a-z]+\]\x1b\[0m", text)
    assert not re.search(r"\x1b\[[\d;]*mError: the queue", text)


@pytest.mark.parametrize("session", [claude_code(), codex()])
def test_session_files_are_shown_without_what_no_model_sees(refold: Refold, session: bytes) -> None:
    text = refold("show", "-", stdin=session).out.decode()
    assert "harbour" in text
    assert "snapshot" not in text
    assert "token_count" not in text


def test_diff_shows_what_changed_and_leaves_out_what_did_not(refold: Refold, file: Path) -> None:
    text = refold("diff", file, *BUDGET).out.decode()
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert len(heads) > 5
    assert not any(head.startswith(("#0 ", "#21 ")) for head in heads)
    assert "more lines dropped" in text
    assert "more lines dropped" not in refold("diff", file, *BUDGET, "--full").out.decode()


def test_diff_has_every_line_of_both_sides(
    refold: Refold, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = refold("diff", file, *BUDGET, "--full").out.decode()
    assert "- " in text
    assert "+ [" in text
    assert "  Error: the queue src/mod3.py is full" in text.splitlines()


def test_nothing_to_show_or_to_compare(refold: Refold) -> None:
    for command in ("show", "diff"):
        done = refold(command, "-", stdin=b"[]")
        assert done.code == 0, done.err
        assert "0 messages" in done.out.decode()
    assert "No message changes." in refold("diff", "-", stdin=jsonl(chat(1))).out.decode()


@pytest.mark.parametrize("command", ["show", "diff"])
def test_text_never_steers_the_terminal(refold: Refold, command: str) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\u202e " * 60
    messages = [{"role": "us\x1ber", "content": evil + text["content"]} for text in chat(9)]
    out = refold(command, "-", "--profile", "classic", stdin=jsonl(messages)).out.decode()
    assert "\x1b" not in out
    assert "\u202e" not in out


@pytest.mark.parametrize("command", ["show", "diff"])
def test_a_budget_that_cannot_be_kept(refold: Refold, file: Path, command: str) -> None:
    done = refold(command, file, "--budget", "5")
    assert done.code == 4
    assert "And now?" in done.out.decode() or command == "diff"


@pytest.mark.parametrize("command", ["show", "diff", "explain"])
def test_colour_only_where_it_is_wanted(
    refold: Refold, file: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert b"\x1b[" in refold(command, file, *BUDGET).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(rb"\x1b\[(?:\d;)*3\dm", refold(command, file, *BUDGET).out)


@pytest.mark.parametrize("command", ["show", "diff", "explain", "stats"])
def test_a_terminal_without_unicode_shows_plain_characters(file: Path, command: str) -> None:
    environment = {**os.environ, "LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-m", "refold", command, file, *BUDGET],
        env={**environment, "COLUMNS": "80"},
        capture_output=True,
        timeout=FOR_EVER,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("ascii")
    assert "?" not in text.replace("And now?", "")


@pytest.mark.skipif(os.name == "nt", reason="there are no such terminals")
@pytest.mark.parametrize(("option", "is_paged"), [("--pager", True), ("--no-pager", False)])
def test_on_a_terminal_it_is_paged(file: Path, option: str, is_paged: bool) -> None:
    inner, outer = os.openpty()
    command = [sys.executable, "-m", "refold", "show", str(file), *BUDGET, option]
    environment = {**os.environ, "PAGER": "sed s/^/paged:/", "TERM": "xterm", "NO_COLOR": "1"}
    with subprocess.Popen(command, stdin=outer, stdout=outer, env=environment) as process:
        os.close(outer)
        text = read_to_the_end(inner).decode()
        assert process.wait(FOR_EVER) == 0
    os.close(inner)
    assert "And now?" in text
    assert ("paged:And now?" in text) == is_paged


def handle_in(path: str, mark: str = "part") -> str:
    found = re.search(rf"{mark} #([a-z]+)\]", Path(path).read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def test_retrieve_brings_the_whole_text_back(refold: Refold, file: Path) -> None:
    refold("compress", file, *TIGHT, "-o", "small.json")
    handle = handle_in("small.json")
    originals = [message["content"] for message in json.loads(file.read_bytes())]
    done = refold("retrieve", f"#{handle}", "small.json")
    assert done.code == 0
    assert done.out.decode() in originals
    assert f"original #{handle}: " in done.err
    assert refold("retrieve", handle, "small.json", "--quiet").err == ""
    assert refold("retrieve", handle, "small.json", "-o", "back.txt").out == b""
    assert Path("back.txt").read_bytes() == done.out


def test_retrieve_brings_a_part_of_it(refold: Refold, file: Path) -> None:
    refold("compress", file, *TIGHT, "--json", "-o", "small.json")
    handle = handle_in("small.json")
    whole = refold("retrieve", handle, "small.json").out.decode().splitlines()
    part = refold("retrieve", handle, "small.json", "--lines", "3-5").out.decode().splitlines()
    assert part == whole[2:5]


def test_retrieve_answers_a_question(refold: Refold, file: Path) -> None:
    refold("compress", file, *TIGHT, "--json", "-o", "small.json")
    found = refold("retrieve", "small.json", "--query", "what about queue_7?").out.decode()
    assert found.startswith("[message ")
    assert "queue_7" in found
    assert len(found) < 10_000
    assert refold("retrieve", "small.json", "--query", "zeppelins").code == 3
    assert refold("retrieve", "kdbfq", "small.json", "--query", "queue_7").code == 2
    assert refold("retrieve").code == 2


def test_retrieve_from_a_store_under_a_name(refold: Refold, file: Path) -> None:
    named = ("--store", "all.db", "--conversation", "ann")
    refold("compress", file, *TIGHT, "-o", "small.json", *named)
    handle = handle_in("small.json", "shortened")
    assert refold("retrieve", handle, "small.json", *named).code == 0
    other = refold("retrieve", handle, "small.json", "--store", "all.db", "--conversation", "bob")
    assert other.code == 3
    assert other.out == b""


def test_a_handle_that_is_none(refold: Refold, file: Path) -> None:
    refold("compress", file, *BUDGET, "-o", "small.json")
    done = refold("retrieve", "zzzzz", "small.json")
    assert done.code == 3
    assert "there is no original zzzzz" in done.err
    usage = refold("retrieve", "zzzzz")
    assert usage.code == 2
    assert "--store STORE" in usage.err


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (["shwo", "x"], "Did you mean 'show'?"),
        (["explian"], "Did you mean 'explain'?"),
        (["Compress"], "'compress'"),
        (["zzz"], "No such command 'zzz'."),
        (["show", "x", "--bugdet", "3"], "'--budget'"),
        (["stats", "x", "--set", "recency_windw=3"], "recency_window"),
    ],
)
def test_a_typo_is_answered_with_the_nearest_name(
    refold: Refold, typed: list[str], words: str
) -> None:
    Path("x").write_bytes(jsonl(chat(2)))
    done = refold(*typed)
    assert done.code == 2
    assert words in done.err
