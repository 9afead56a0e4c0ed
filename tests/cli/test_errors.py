"""Every mistake has an exit code and a sentence that says what to do."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Refold
from tests.cli.session import chat, jsonl
from tests.cli.terminal import LISTENING
from tests.patience import FOR_EVER


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b" \r\n\n", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (b"hello", "line 1, column 1: this is not JSON: found 'hello'; expected messages such as"),
        (
            b"\n# A title\r\n\ntext",
            "line 2, column 1: this is not JSON: found '# A title'; expected",
        ),
        (
            b"[INFO] started\n",
            "line 1, column 2: this is not JSON: found 'INFO] started'; expected",
        ),
        (b"{role: user}", "line 1, column 2: this is not JSON: found 'role: user}'; expected"),
        (b"x" * 9_000, "found '" + "x" * 40 + "'; expected"),
        (b"\x1f\x8b\x08\x00", "packed by gzip and damaged"),
        (
            b'[{"role": "user"},\n {"role" "x"}]',
            "line 2, column 10: broken JSON: Expecting ':' delimiter at '\"x\"}]'",
        ),
        (
            b'[{"role": "user", "content": "x"}',
            "column 34: broken JSON: Expecting ',' delimiter at the end",
        ),
        (b"[] []", "line 1, column 4: broken JSON: Extra data"),
        (b'{"messages": [], "a" 1}', "line 1, column 22: broken JSON"),
        (b'{"messages": [], }', "line 1, column 18: broken JSON"),
        (b'{"messages":', "line 1, column 13: broken JSON: Expecting value at the end"),
        (
            b'{"role":"user","content":"a"}\n{"role":"user","conte\n',
            "line 2, column 22: broken JSON",
        ),
        (b'{"role":"user" "content":"a"}\n{"role":"user"}\n', "line 1, column 16: broken JSON"),
        (b'{"a": "\xff"}', "line 1: not UTF-8 text: byte 0xff at offset 7"),
        (b'{"prompt": "x"}\n', 'no "messages" list (it has prompt); expected messages such as'),
        (
            b'{"prompt": "x"}\n{"prompt": "y"}\n',
            'line 1: messages[0]: has no "role" (it has prompt)',
        ),
        (b'[{"role": "user", "content": "x', "broken JSON: Unterminated string starting at '\"x'"),
        ("[]".encode("utf-16"), "it is UTF-16, as PowerShell writes it"),
        (b'{\n"prompt": "x"\n}', 'no "messages" list (it has prompt)'),
        (b"[1]", "line 1: messages[0]: must be a mapping"),
        (
            b'{"role":"user","content":"a"}\n\n{"role":"user","content":7}\n',
            "line 3: messages[1].content",
        ),
        (b"[" * 100_000, "nested too deeply"),
        (b'[{"role": "user", "content": "x", "n": ' + b"9" * 5000 + b"}]", "cannot be read"),
    ],
)
@pytest.mark.parametrize("command", ["compress", "explain", "report", "count"])
def test_bad_input(refold: Refold, data: bytes, words: str, command: str) -> None:
    Path("bad").write_bytes(data)
    args = ("-o", "out") if command == "compress" else ()
    done = refold(command, "bad", *args)
    assert done.code == 1
    assert re.match(r"refold: bad(: |, line )(?!.*\bbad\b)", done.err)
    assert words in done.err
    assert not Path("out").exists()


def test_an_error_never_steers_the_terminal(refold: Refold) -> None:
    for data in (b'{"\\u001b[2J": 1}', b'[{"\\u001b[2J": 1}]', b'[{"role": 1, "\x1b": 2}]'):
        done = refold("stats", "-", stdin=data)
        assert done.code == 1
        assert "\x1b" not in done.err


def test_files_that_cannot_be_read(refold: Refold) -> None:
    assert "nowhere.json: no such file" in refold("stats", "nowhere.json").err
    assert refold("stats", "").err == "refold: the name of the file is empty\n"
    Path("dir").mkdir()
    done = refold("uncompress", "dir")
    assert done.code == 1
    assert "directory" in done.err
    refold("compress", "-", "-o", "b", "--store", "s.db", stdin=jsonl(chat()))
    done = refold("uncompress", "s.db")
    assert done.code == 1
    assert "s.db: it is a store of originals" in done.err


def test_originals_need_a_place(refold: Refold) -> None:
    done = refold("compress", "-", stdin=jsonl(chat()))
    assert (done.code, done.out) == (2, b"")
    for way in ("-o OUT", "--store STORE", "--json"):
        assert way in done.err


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("recency_windw=3", "did you mean 'recency_window'"),
        ("recency_window=three", "recency_window must be a whole number, 0 or more; got 'three'"),
        ("recency_window=-1", "recency_window must be a whole number, 0 or more"),
        ("dedup=maybe", "dedup must be True or False, got 'maybe'"),
        ("fuzzy_threshold=x", "fuzzy_threshold must be a number"),
        ("keep_duplicate=last", "keep_duplicate must be"),
        ("preserve_patterns=(", "invalid expression"),
        ("counter=len", "--set does not take counter: it can only be set from Python"),
        ("token_budget=4", "--set does not take token_budget: use --budget"),
        ("profile=classic", "--set does not take profile: use --profile"),
        ("model=gpt-4", "--set does not take model: use --model"),
        ("format=codex", "--set does not take format: use --format"),
        ("dedup", "--set takes option=value"),
    ],
)
def test_wrong_settings(refold: Refold, setting: str, words: str) -> None:
    done = refold("stats", "-", "--set", setting, stdin=jsonl(chat()))
    assert done.code == 2
    assert words in done.err


@pytest.mark.parametrize("budget", ["half", "8k", "-1", "101%", "-5%", "50%%", "%", "nan%"])
def test_a_budget_that_is_none(refold: Refold, budget: str) -> None:
    done = refold("stats", "-", "--budget", budget, stdin=jsonl(chat()))
    assert done.code == 2
    assert "'--budget': token_budget must be a whole number of tokens, such as 8000" in done.err
    assert f"such as '30%'; got {budget!r}" in done.err


def test_wrong_usage(refold: Refold) -> None:
    assert refold("fold").code == 2
    assert refold("compress").code == 2
    assert refold("stats", "-", "--format", "morse").code == 2


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("uncompress", "a", "--one-layer"), "--one-layer is gone: everything is unfolded"),
        (("retrieve", "a", "--search", "x"), "--search is gone: use --query"),
        (("serve", "--token-budget", "9"), "--token-budget is gone: use --budget"),
        (("wrap", "--token-budget", "9", "ls"), "--token-budget is gone: use --budget"),
    ],
)
def test_what_is_gone_names_the_new_way(refold: Refold, args: tuple[str, ...], words: str) -> None:
    done = refold(*args)
    assert done.code == 2
    assert words in done.err


def test_a_budget_that_cannot_be_kept_names_one_that_can(refold: Refold) -> None:
    for profile in ("standard", "lossless", "classic"):
        args = ("stats", "-", "--profile", profile, "--budget")
        done = refold(*args, "3", stdin=jsonl(chat()))
        assert done.code == 4
        (smallest,) = re.findall(r"; a budget of (\d+) would be enough$", done.err.strip())
        assert refold(*args, smallest, stdin=jsonl(chat())).code == 0


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("--port", "70000"), 2, "port must be at most 65535; got 70000"),
        (("--host", "0.0.0.0"), 2, "give a token as well"),
        (
            ("--budget", "half"),
            2,
            "token_budget must be one of auto, careful, tight; got 'half'",
        ),
    ],
)
def test_a_proxy_that_can_never_work(
    refold: Refold, args: tuple[str, ...], code: int, words: str
) -> None:
    done = refold("serve", *args)
    assert done.code == code
    assert words in done.err


def test_a_proxy_does_not_start_without_its_store(refold: Refold) -> None:
    pytest.importorskip("aiohttp")
    done = refold("serve", "--port", "0", "--store", "nowhere/originals.db")
    assert done.code == 1
    assert "nowhere/originals.db': its directory does not exist; create that first" in done.err


@pytest.mark.parametrize(("args", "needs"), [(("serve",), "aiohttp"), (("mcp", "--http"), "mcp")])
def test_a_port_that_is_taken(refold: Refold, args: tuple[str, ...], needs: str) -> None:
    pytest.importorskip(needs)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        done = refold(*args, "--port", port, "--store", "originals.db")
    assert done.code == 1
    assert f"refold: cannot listen on 127.0.0.1:{port}: Address already in use" in done.err
    assert "choose another --port" in done.err


def test_missing_originals(refold: Refold) -> None:
    Path("a.jsonl").write_bytes(jsonl([{"id": f"i{n}", **m} for n, m in enumerate(chat())]))
    refold("compress", "a.jsonl", "--profile", "classic", "-o", "b.jsonl")
    refold("compress", "-", "--json", "--store", "other.db", stdin=jsonl(chat(2)))
    done = refold("uncompress", "b.jsonl", "--store", "other.db")
    assert done.code == 3
    assert done.out == Path("b.jsonl").read_bytes()
    assert "messages may be folded, but 'other.db' has no record of it" in done.err


def test_the_wrong_store(refold: Refold) -> None:
    Path("a.jsonl").write_bytes(jsonl(chat()))
    refold("compress", "a.jsonl", "-o", "b.jsonl", "--store", "right.db")
    refold("compress", "-", "-o", "c.jsonl", "--store", "wrong.db", stdin=jsonl(chat(2)))
    done = refold("uncompress", "b.jsonl", "--store", "wrong.db")
    assert (done.code, done.out) == (3, Path("b.jsonl").read_bytes())
    assert "messages may be folded, but 'wrong.db' has no record of it" in done.err
    assert refold("uncompress", "b.jsonl", "--store", "right.db").err.endswith(" unfolded\n")
    quoted = {"role": "user", "content": "[summary: what somebody quotes]"}
    Path("d.jsonl").write_bytes(jsonl([quoted, *chat()]))
    refold("compress", "d.jsonl", "-o", "e.jsonl", "--store", "right.db")
    done = refold("uncompress", "e.jsonl", "--store", "right.db")
    assert (done.code, done.out) == (0, Path("d.jsonl").read_bytes())
    assert done.err.endswith(" unfolded\n")


def test_no_originals_at_all(refold: Refold) -> None:
    Path("a.jsonl").write_bytes(jsonl(chat()))
    refold("compress", "a.jsonl", "-o", "b.jsonl")
    Path("b.jsonl.refold.db").unlink()
    done = refold("uncompress", "b.jsonl")
    assert done.code == 1
    assert "b.jsonl.refold.db" in done.err
    assert "--store" in done.err
    gone = refold("uncompress", "b.jsonl", "--store", "gone.db")
    assert gone.code == 1
    assert "gone.db': there is no such file" in gone.err
    assert not Path("gone.db").exists()
    assert refold("uncompress", "-", stdin=Path("b.jsonl").read_bytes()).code == 1


def test_a_store_that_is_none(refold: Refold) -> None:
    Path("s.db").write_bytes(b"not a database, but long enough to be looked at" * 40)
    done = refold("compress", "-", "-o", "b", "--store", "s.db", stdin=jsonl(chat()))
    assert done.code == 1
    assert "s.db" in done.err
    assert not Path("b").exists()


def test_a_result_never_replaces_its_originals(refold: Refold) -> None:
    Path("a.jsonl").write_bytes(jsonl(chat()))
    done = refold("compress", "a.jsonl", "-o", "s.db", "--store", "./s.db")
    assert done.code == 2
    assert "-o 's.db' names a store" in done.err
    assert not Path("s.db").exists()
    refold("compress", "a.jsonl", "-o", "b.jsonl", "--store", "s.db")
    kept = Path("s.db").read_bytes()
    assert refold("uncompress", "b.jsonl", "--store", "s.db", "-o", "s.db").code == 2
    assert refold("compress", "a.jsonl", "-o", "s.db").code == 2
    assert refold("compress", "a.jsonl", "--json", "-o", "s.db").code == 2
    assert Path("s.db").read_bytes() == kept


def test_a_directory_as_output_leaves_nothing_behind(refold: Refold) -> None:
    Path("dir").mkdir()
    for command in ("compress", "uncompress"):
        done = refold(command, "-", "-o", "dir", stdin=jsonl(chat()))
        assert done.code == 1
        assert "cannot write 'dir': it is a directory; name a file in it" in done.err
        assert "the name of OUT is empty" in refold(command, "-", "-o", "", stdin=b"[]").err
    assert list(Path().iterdir()) == [Path("dir")]


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="open pipes have no path here")
def test_a_pipe_as_output_takes_the_result_and_has_no_room_for_originals(refold: Refold) -> None:
    folded = refold("compress", "-", "--store", "a.db", stdin=jsonl(chat())).out
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe, os.fdopen(writing, "wb"):
        out = f"/dev/fd/{writing}"
        done = refold("compress", "-", "-o", out, stdin=jsonl(chat()))
        assert done.code == 2
        assert "say where the originals go" in done.err
        assert refold("compress", "-", "-o", out, "--store", "b.db", stdin=jsonl(chat())).code == 0
        assert pipe.read(len(folded)) == folded


def test_originals_that_cannot_be_passed_on(refold: Refold) -> None:
    Path("a.jsonl").write_bytes(jsonl(chat()))
    refold("compress", "a.jsonl", "-o", "b.jsonl")
    done = refold("compress", "b.jsonl", "-o", "nowhere/c.jsonl")
    assert done.code == 1
    assert "c.jsonl.refold.db': its directory does not exist" in done.err
    Path("b.jsonl.refold.db").write_bytes(b"not a database")
    done = refold("compress", "b.jsonl", "-o", "c.jsonl")
    assert done.code == 1
    assert "b.jsonl.refold.db': it is not an SQLite database" in done.err
    assert not list(Path().glob("c.jsonl*"))


def test_a_message_too_deep_for_a_store_goes_into_the_output(refold: Refold) -> None:
    deep = json.loads("[" * 600 + "]" * 600)
    messages = chat()
    messages[1]["deep"] = deep
    Path("a.jsonl").write_bytes(jsonl(messages))
    for place in (("-o", "b"), ("--store", "s.db"), ("--store", "s.db", "--json")):
        done = refold("compress", "a.jsonl", *place)
        assert done.code == 1
        assert "a.jsonl, line 2: nested more than 500 levels deep" in done.err
        assert "use --json without --store" in done.err
    folded = refold("compress", "a.jsonl", "--json").out
    assert refold("uncompress", "-", stdin=folded).out == Path("a.jsonl").read_bytes()


def test_a_failed_write_leaves_the_old_file(
    refold: Refold, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("out").write_bytes(b"old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    done = refold("compress", "-", "-o", "out", "--store", "s.db", stdin=jsonl(chat()))
    assert done.code == 1
    assert "No space left" in done.err
    assert Path("out").read_bytes() == b"old"
    assert sorted(path.name for path in Path().iterdir()) == ["out", "s.db"]


def test_writing_keeps_permissions_and_links(refold: Refold) -> None:
    Path("real").write_bytes(b"old")
    Path("real").chmod(0o640)
    Path("link").symlink_to("real")
    refold("compress", "-", "-o", "link", "--store", "s.db", stdin=jsonl(chat()))
    assert Path("link").is_symlink()
    assert stat.S_IMODE(Path("real").stat().st_mode) == 0o640
    assert b"[shortened" in Path("real").read_bytes()


def test_an_output_that_cannot_be_written(refold: Refold) -> None:
    Path("dir").mkdir()
    for out in ("dir", "nowhere/out"):
        done = refold("compress", "-", "-o", out, "--store", "s.db", stdin=jsonl(chat()))
        assert done.code == 1
        assert out in done.err
    done = refold("report", "-", "-o", "nowhere/page.html", stdin=jsonl(chat()))
    assert done.code == 1
    assert "'nowhere/page.html': its directory does not exist; create that first" in done.err


def test_an_id_that_already_names_an_original(refold: Refold) -> None:
    messages = [{"id": f"i{n}", **message} for n, message in enumerate(chat())]
    rules = ("--profile", "classic")
    document = json.loads(refold("compress", "-", "--json", *rules, stdin=jsonl(messages)).out)
    document["messages"] = [{**chat()[5], "id": "i0"}]
    again = ("compress", "-", *rules, "--set", "recency_window=0")
    done = refold(*again, stdin=json.dumps(document).encode())
    assert done.code == 1
    assert "'i0'" in done.err


def test_a_document_that_refers_to_itself_ends(refold: Refold) -> None:
    note = {"_cce_original": {"ids": ["a"], "summary_id": "s", "version": 0}}
    message = {"id": "a", "role": "user", "content": "[summary: x]", "metadata": note}
    document = {"messages": [message], "verbatim": {"a": message}, "compression": {}}
    assert refold("uncompress", "-", stdin=json.dumps(document).encode()).code in (0, 3)


def test_interrupt() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", LISTENING, "stats", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(b" " * 1_000_000)  # more than a pipe holds: from now on it is reading
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=FOR_EVER)
    assert process.returncode == 130
    assert b"Traceback" not in err


def test_interrupt_while_it_loads(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt")
    done = subprocess.run(
        [sys.executable, "-m", "refold"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"refold: interrupted\n")


@pytest.mark.parametrize("args", [("demo",), ("explain", "a"), ("compress", "a", "--json", "-q")])
def test_broken_pipe_is_quiet(tmp_path: Path, args: tuple[str, ...]) -> None:
    (tmp_path / "a").write_bytes(jsonl(chat()))
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as gone:
        done = subprocess.run(
            [sys.executable, "-m", "refold", *args],
            cwd=tmp_path,
            stdout=gone,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize(
    ("shell", "code", "words"),
    [
        ("count - <&-", 1, "standard input: cannot be read: "),
        ("demo >&-", 1, "cannot write to standard output: "),
        ("compress a --json -q >&-", 1, "cannot write to standard output: "),
        ("compress a -o b -q >&-", 0, ""),
        ("compress a -o b 2>&-", 0, ""),
    ],
)
def test_streams_that_are_closed(tmp_path: Path, shell: str, code: int, words: str) -> None:
    (tmp_path / "a").write_bytes(jsonl(chat()))
    done = subprocess.run(
        f'"{sys.executable}" -m refold {shell}',
        shell=True,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == code
    assert words in done.stderr.decode()
    assert len(done.stderr.splitlines()) == bool(words)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("args", [("demo",), ("compress", "a", "--json", "-q")])
def test_an_output_that_is_full(tmp_path: Path, args: tuple[str, ...]) -> None:
    (tmp_path / "a").write_bytes(jsonl(chat()))
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "refold", *args],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"refold: cannot write to standard output: ")
    assert len(done.stderr.splitlines()) == 1
