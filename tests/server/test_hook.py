"""The hook shortens what is long, loses no error, keeps the original, and is never in the way."""

from __future__ import annotations

import io
import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import SqliteStore, retrieve_tool
from refold.server.hook import map_texts, run_hook
from refold.server.originals import counts_beside, read_counts
from tests.cli.conftest import Refold
from tests.server.outputs import ERROR, event, log, source

TEXT = "one\ntwo"
BASH = {"stdout": TEXT, "stderr": "", "interrupted": False, "isImage": False}
FILE = {"filePath": "/a.log", "content": TEXT, "numLines": 2, "startLine": 1, "totalLines": 2}
FOUND = {"filenames": ["one", "two"], "durationMs": 3, "numFiles": 2, "truncated": False}
BLOCKS = [{"type": "text", "text": TEXT}, {"type": "image", "data": "AAAA"}]
OUTPUTS: list[tuple[str, Any]] = [
    ("Bash", BASH),
    ("Bash", {**BASH, "stdout": "", "stderr": TEXT, "noOutputExpected": False}),
    ("Read", {"type": "text", "file": FILE}),
    ("Grep", {"mode": "content", "numFiles": 1, "filenames": [], "content": TEXT}),
    ("Grep", {"mode": "files_with_matches", **FOUND}),
    ("Glob", FOUND),
    ("WebFetch", {"bytes": 7, "code": 200, "codeText": "OK", "result": TEXT, "url": "http://a"}),
    ("Task", {"status": "completed", "content": BLOCKS, "totalTokens": 9}),
    ("mcp__db__query", TEXT),
    ("mcp__db__query", BLOCKS),
    ("mcp__db__query", {"content": BLOCKS}),
]


def hook(store: Path, tool: str, output: Any, profile: str = "lossless", most: int = 1_500) -> Any:
    answer = run_hook(
        io.BytesIO(event(tool, output)), store=store, profile=profile, max_tokens=most
    )
    if not answer:
        return None
    said = json.loads(answer)["hookSpecificOutput"]
    assert said["hookEventName"] == "PostToolUse"
    return said["updatedToolOutput"]


def fetch(store: Path, shown: str) -> str:
    with SqliteStore(store, read_only=True) as kept:
        tool = retrieve_tool(kept, max_tokens=1_000_000)
        return tool.call({"handle": shown.rstrip().rsplit("\n", 1)[-1]}).split("\n", 1)[1]


@pytest.mark.parametrize("profile", ["lossless", "standard"])
def test_a_long_log_gets_shorter_and_can_be_had_back(tmp_path: Path, profile: str) -> None:
    store = tmp_path / "new" / "refold.db"
    bash = {"stdout": log(), "stderr": "", "interrupted": False, "isImage": False}
    changed = hook(store, "Bash", bash, profile)
    assert len(changed["stdout"]) < 0.6 * len(log())
    assert "connection refused by db-7:5432 after 3 tries" in changed["stdout"]
    assert {**changed, "stdout": ""} == {**bash, "stdout": ""}
    assert fetch(store, changed["stdout"]) == log()


def test_an_excerpt_takes_what_it_may_and_has_every_error_line(tmp_path: Path) -> None:
    store = tmp_path / "refold.db"
    lossless = hook(store, "mcp__ci__log", log())
    excerpt = hook(store, "mcp__ci__log", log(), "standard", 1_000)
    assert len(excerpt) < 0.7 * len(lossless)
    assert ERROR in excerpt
    assert "shortened from" in excerpt


def test_where_an_excerpt_would_lose_errors_nothing_is_left_out(tmp_path: Path) -> None:
    rows = log(300, error=False).replace(" INFO ", " ERROR ")
    store = tmp_path / "refold.db"
    changed = hook(store, "mcp__ci__log", rows, "standard", 300)
    assert changed == hook(store, "mcp__ci__log", rows, "lossless")
    assert "shortened from" not in changed


def test_files_that_may_be_edited_stay_as_they_are(tmp_path: Path) -> None:
    def read(text: str) -> Any:
        file = {"type": "text", "file": {"filePath": "/a", "content": text, "numLines": 9}}
        return hook(tmp_path / "refold.db", "Read", file, "standard", 300)

    assert read(source()) is None
    assert read(json.dumps([{"id": n, "name": f"n{n}"} for n in range(300)], indent=2)) is None
    assert "shortened from" not in read(log())["file"]["content"]


def test_what_is_short_is_passed_without_a_store(tmp_path: Path) -> None:
    assert hook(tmp_path / "refold.db", "Bash", {"stdout": "fine", "stderr": ""}) is None
    assert list(tmp_path.iterdir()) == []


def test_originals_that_were_fetched_are_never_shortened(tmp_path: Path) -> None:
    blocks = [{"type": "text", "text": log()}]
    assert hook(tmp_path / "refold.db", "mcp__refold__refold_retrieve", blocks) is None


def test_counts_add_up(tmp_path: Path) -> None:
    store = tmp_path / "refold.db"
    for _ in range(3):
        hook(store, "mcp__ci__log", log())
    counts = read_counts(counts_beside(store))
    assert counts["results"] == counts["folded"] == 3
    assert counts["tokens_after"] < counts["tokens_before"]
    assert set(counts) == {"results", "folded", "tokens_before", "tokens_after"}


@pytest.mark.parametrize(
    ("stdin", "options"),
    [
        (b"", []),
        (b"{", []),
        (b"[]", []),
        (b"\xff\xfe", []),
        (b"[" * 100_000, []),
        (b'{"hook_event_name": "PostToolUse"}', []),
        (event("mcp__ci__log", log()), ["--profile", "unheard"]),
        (event("mcp__ci__log", log()), ["--max-tokens", "many"]),
    ],
)
def test_trouble_is_counted_and_says_nothing(
    refold: Refold, tmp_path: Path, stdin: bytes, options: list[str]
) -> None:
    store = tmp_path / "refold.db"
    ran = refold("hook", "post-tool-use", "--store", store, *options, stdin=stdin)
    assert (ran.code, ran.out, ran.err) == (0, b"", "")
    assert read_counts(counts_beside(store))["failures"] == 1


def test_an_option_of_another_version_is_not_in_the_way(refold: Refold, tmp_path: Path) -> None:
    store = tmp_path / "refold.db"
    stdin = event("mcp__ci__log", log())
    ran = refold("hook", "post-tool-use", "--store", store, "--unheard", "of", stdin=stdin)
    assert ran.code == 0
    assert "updatedToolOutput" in json.loads(ran.out)["hookSpecificOutput"]


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--profile=standard", "--max-tokens", "900"],
        ["--profile", "unheard"],
        ["--unheard", "of", "--max-tokens"],
    ],
)
def test_the_program_answers_as_the_command_does(
    refold: Refold, tmp_path: Path, options: list[str]
) -> None:
    stdin = event("mcp__ci__log", log())
    hooked = ["hook", "post-tool-use", "--store", str(tmp_path / "refold.db"), *options]
    command = [sys.executable, "-m", "refold", *hooked]
    ran = subprocess.run(command, input=stdin, capture_output=True, check=True)
    assert ran.stderr == b""
    if options[-1:] != ["--max-tokens"]:  # for which a command asks a value
        assert ran.stdout == refold(*hooked, stdin=stdin).out
    assert bool(ran.stdout) == ("unheard" not in options)


def test_the_program_loads_only_what_a_result_needs(tmp_path: Path) -> None:
    stdin = event("mcp__ci__log", log())
    script = (
        "import sys; from refold.__main__ import main;"
        f"sys.argv = ['refold', 'hook', 'post-tool-use', '--store', {str(tmp_path / 'a.db')!r}];"
        "main(); print(); print(*sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], input=stdin, capture_output=True, check=True
    )
    answer, loaded = ran.stdout.decode().splitlines()
    assert "updatedToolOutput" in answer
    not_needed = {"asyncio", "click", "logging", "refold.api", "refold.engine", "refold.fold.fold"}
    assert not_needed.isdisjoint(loaded.split())


def test_a_broken_store_leaves_the_output_as_it_is(tmp_path: Path) -> None:
    store = tmp_path / "refold.db"
    store.write_bytes(b"this is no database" * 100)
    assert hook(store, "mcp__ci__log", log()) is None
    assert read_counts(counts_beside(store)) == {"failures": 1, "failures:StoreError": 1}


def test_counts_that_cannot_be_written_are_in_nobodys_way(tmp_path: Path) -> None:
    store = tmp_path / "refold.db"
    counts_beside(store).mkdir()
    assert hook(store, "mcp__ci__log", log()) is not None
    assert read_counts(counts_beside(store)) == {}


def test_a_whole_is_kept_before_its_short_form_is_shown(tmp_path: Path) -> None:
    store = tmp_path / "refold.db"
    hook(store, "mcp__ci__log", log())
    store.chmod(0o400)
    with sqlite3.connect(store) as connection:
        assert connection.execute("SELECT count(*) FROM original").fetchone() == (1,)
    connection.close()


def test_the_engine_is_not_loaded_for_short_outputs() -> None:
    script = (
        "import io, sys; from pathlib import Path; from refold.server.hook import run_hook;"
        "run_hook(io.BytesIO(sys.stdin.buffer.read()), store=Path('none'), profile='lossless',"
        "max_tokens=1); print(sorted(name for name in sys.modules if name.startswith('refold')))"
    )
    stdin = event("Bash", {"stdout": "fine", "stderr": ""})
    ran = subprocess.run(
        [sys.executable, "-c", script], input=stdin, capture_output=True, check=True
    )
    loaded = ["refold", "refold.server", "refold.server.hook"]
    assert ran.stdout.decode().strip() == str(loaded)


def shape(value: Any) -> Any:
    match value:
        case dict():
            return {key: shape(item) for key, item in value.items()}
        case list() if all(isinstance(item, str) for item in value):
            return [str]
        case list():
            return [shape(item) for item in value]
    return type(value)


@pytest.mark.parametrize(("tool", "output"), OUTPUTS)
def test_the_text_is_changed_and_the_shape_is_kept(tool: str, output: Any) -> None:
    before = repr(output)
    changed = map_texts(tool, output, lambda text: "short" if text == TEXT else text)
    assert "short" in repr(changed)
    assert "two" not in repr(changed)
    assert shape(changed) == shape(output)
    assert repr(output) == before


@pytest.mark.parametrize(("tool", "output"), OUTPUTS)
def test_what_is_not_changed_is_the_same_object(tool: str, output: Any) -> None:
    assert map_texts(tool, output, lambda text: text) is output


@pytest.mark.parametrize(
    ("tool", "output"),
    [
        ("mcp__refold__refold_retrieve", BLOCKS),
        ("mcp__other__retrieve_original", TEXT),
        ("Bash", {**BASH, "isImage": True}),
        ("Bash", {**BASH, "persistedOutputPath": "/tmp/whole.txt"}),
        ("Edit", {"oldString": TEXT, "newString": TEXT}),
        ("Unheard", TEXT),
        ("Read", {"type": "image", "file": {"base64": "AAAA"}}),
    ],
)
def test_what_is_wanted_whole_or_not_known_is_left_alone(tool: str, output: Any) -> None:
    assert map_texts(tool, output, lambda _: "short") is output


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["content", "text", "a"]), inner)
    ),
)


@given(tool=st.sampled_from([tool for tool, _ in OUTPUTS]), output=JSON)
def test_any_output_can_be_given(tool: str, output: Any) -> None:
    assert map_texts(tool, output, lambda text: text) is output
