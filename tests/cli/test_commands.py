"""What each command shows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import refold as library
from refold.cli import COMMANDS, load_command
from refold.cli.demo import SESSION
from tests.cli.conftest import Refold
from tests.cli.session import chat, jsonl, prose

RULES = ("--profile", "classic")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(jsonl(chat()))
    return path


def test_version_and_module() -> None:
    run = [sys.executable, "-m", "refold", "--version"]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout == f"refold {library.__version__}\n"


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_help_has_examples_and_exit_codes(refold: Refold, command: str | None) -> None:
    done = refold(*([command] if command else []), "--help")
    text = done.out.decode()
    assert done.code == 0
    assert "Examples:" in text
    assert f"refold {command or 'compress'}" in text
    for code in ("0 fine", "1 bad input", "2 wrong usage", "3 some originals", "130"):
        assert code in text
    assert max(map(len, text.splitlines())) <= 80


def test_compress_says_one_line_unless_quiet(refold: Refold, file: Path) -> None:
    said = refold("compress", file, "-o", "b").err
    assert re.fullmatch(
        r"8 messages · [\d,]+ → [\d,]+ tokens \(−\d+\.\d %\) · originals in b\.refold\.db\n", said
    )
    assert refold("compress", file, "-o", "b", "--quiet").err == ""


def test_uncompress_says_what_it_did_unless_quiet(refold: Refold) -> None:
    Path("a.json").write_bytes(jsonl(chat()))
    refold("compress", "a.json", "-o", "b.json")
    assert re.fullmatch(r"8 messages · [1-8] unfolded\n", refold("uncompress", "b.json").err)
    assert refold("uncompress", "a.json").err == "8 messages · nothing to unfold\n"
    assert refold("uncompress", "b.json", "--quiet").err == ""


def test_compress_says_that_tokens_are_estimated(refold: Refold) -> None:
    args = ("compress", "-", "-o", "b", "--model")
    said = refold(*args, "no-such-model", stdin=jsonl(chat())).err
    assert said.endswith("tokens are estimated: no-such-model has no public tokenizer\n")
    assert "estimated" not in refold(*args, "gpt-4o", stdin=jsonl(chat())).err


def test_compress_says_how_many_messages_became_one(refold: Refold) -> None:
    runs = [{"role": "user", "content": prose(topic)} for topic in ("a", "b", "c")]
    done = refold("compress", "-", *RULES, "--json", stdin=jsonl([*runs, *chat(4)]))
    assert "7 → 5 messages" in done.err


def test_compress_to_standard_output_with_a_store(refold: Refold, file: Path) -> None:
    folded = refold("compress", file, "--store", "s.db")
    assert len(folded.out.splitlines()) == 8
    assert refold("uncompress", "-", "--store", "s.db", stdin=folded.out).out == file.read_bytes()


def test_uncompress_for_machines(refold: Refold, file: Path) -> None:
    refold("compress", file, *RULES, "-o", "small.jsonl", "--store", "s.db")
    unfolded = json.loads(refold("uncompress", "small.jsonl", "--store", "s.db", "--json").out)
    assert unfolded == {"messages": chat(), "messages_expanded": 4, "missing_ids": []}


def test_uncompress_tells_machines_what_is_missing(refold: Refold) -> None:
    note = {"_cce_original": {"ids": ["a"], "summary_id": "s", "version": 0}}
    message = {"id": "x", "role": "user", "content": "[summary: so]", "metadata": note}
    done = refold("uncompress", "-", "--store", "s.db", "--json", stdin=jsonl([message]))
    assert done.code == 1  # no such store
    refold("compress", "-", "--store", "s.db", stdin=jsonl(chat()))
    done = refold("uncompress", "-", "--store", "s.db", "--json", stdin=jsonl([message]))
    assert done.code == 3
    assert json.loads(done.out) == {
        "messages": [message],
        "messages_expanded": 0,
        "missing_ids": [],  # nobody confirms that it stands for anything
    }


def test_settings_reach_the_engine(refold: Refold, file: Path) -> None:
    def stats(*settings: str) -> dict[str, object]:
        args = [arg for setting in settings for arg in ("--set", setting)]
        data = json.loads(refold("stats", file, *RULES, "--json", *args).out)
        assert isinstance(data, dict)
        return data

    assert stats()["messages_compressed"] == 4
    assert stats("recency_window=8")["messages_compressed"] == 0
    assert stats("preserve=system,user")["messages_compressed"] == 2
    assert stats("compression_threshold=none")["messages_compressed"] == 4
    assert stats("compression-threshold=100000")["messages_compressed"] == 0
    both = stats("preserve_patterns=harbour{1,2}", r"preserve_patterns=\borchard\b")
    assert both["messages_pattern_preserved"] == 2
    assert len(json.dumps(stats("trace=yes")["decisions"])) > 100


def test_explain_as_table_and_json(refold: Refold, file: Path) -> None:
    table = refold("explain", file, *RULES).out.decode()
    assert "summary" in table
    assert "one of the latest messages" in table
    rows = json.loads(refold("explain", file, *RULES, "--json").out)
    assert [row["decision"] for row in rows] == ["compressed"] * 4 + ["preserved"] * 4
    assert rows[0]["after"].startswith("[summary: ")
    assert rows[0]["chars_after"] < rows[0]["chars_before"]
    assert len(rows[0]["before"]) <= 160
    full = json.loads(refold("explain", file, *RULES, "--json", "--full").out)
    assert full[0]["before"] == chat()[0]["content"]
    assert prose("harbour")[-30:] in " ".join(
        refold("explain", file, "--full").out.decode().split()
    )


@pytest.mark.parametrize("place", [(), ("--store", "s.db"), ("--json",)])
def test_every_command_knows_what_was_folded_before(
    refold: Refold, file: Path, place: tuple[str, ...]
) -> None:
    refold("compress", file, *RULES, "-o", "b.jsonl", *place)
    before = {path: path.read_bytes() for path in Path().iterdir()}
    look = ("b.jsonl", *RULES, "--json", "--set", "recency_window=0", *place)
    rows = json.loads(refold("explain", *look).out)
    assert [row["reason"] for row in rows[:4]] == ["already_compressed"] * 4
    assert json.loads(refold("stats", *look).out)["messages_compressed"] == 4
    assert {path: path.read_bytes() for path in Path().iterdir()} == before
    again = json.loads(refold("compress", *look).out)
    assert again["compression"]["messages_compressed"] == 4


def test_a_sidecar_begins_with_what_the_one_of_the_input_knows(refold: Refold, file: Path) -> None:
    refold("compress", file, "-o", "b.jsonl")
    refold("compress", "b.jsonl", "-o", "c.jsonl", "--set", "recency_window=0")
    assert Path("c.jsonl").read_bytes() != Path("b.jsonl").read_bytes()
    assert refold("uncompress", "c.jsonl").out == file.read_bytes()


def test_a_store_that_is_there_learns_what_the_sidecar_of_the_input_knows(
    refold: Refold, file: Path
) -> None:
    folds = ((file, "b.jsonl"), ("b.jsonl", "c.jsonl", "--set", "recency_window=0"))
    for source, out, *more in folds:
        refold("compress", source, "-o", out, *more)
    file.write_bytes(file.read_bytes().replace(b"harbour", b"station"))
    for source, out, *more in folds:
        refold("compress", source, "-o", out, *more)
    assert refold("uncompress", "c.jsonl").out == file.read_bytes()
    refold("compress", "b.jsonl", "-o", "d.jsonl", "--store", "d.db", "--set", "recency_window=0")
    assert refold("uncompress", "d.jsonl", "--store", "d.db").out == file.read_bytes()


def test_explain_never_steers_the_terminal(refold: Refold) -> None:
    evil = {"role": "user", "content": "\x1b]0;owned\x07\x1b[2J\u202e [bold]x[/bold] " + prose("a")}
    out = refold("explain", "-", "--full", stdin=jsonl([evil])).out.decode()
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "[bold]" in out


def test_stats_shows_the_figures(refold: Refold, file: Path) -> None:
    text = refold("stats", file).out.decode()
    for words in ("tokens before", "tokens after", "messages compressed", "ratio"):
        assert words in text
    data = json.loads(refold("stats", file, "--json").out)
    assert data["messages_before"] == data["messages_after"] == 8
    assert data["tokens_after"] < data["tokens_before"]


def test_notes_in_a_session_file_are_no_messages(refold: Refold) -> None:
    note = {"type": "progress", "data": {}}
    turns = [{"type": m["role"], "sessionId": "s", "message": m} for m in chat(40)]
    Path("s.jsonl").write_bytes(jsonl([note, *(r for t in turns for r in (t, note))]))
    assert refold("compress", "s.jsonl", "-o", "b.jsonl").err.startswith("40 messages · ")
    assert "in 40 messages" in refold("count", "s.jsonl").out.decode()
    assert ", 40 messages, " in refold("explain", "s.jsonl").out.decode()
    figures = json.loads(refold("stats", "s.jsonl", "--json", "--budget", "1000").out)
    done = refold("compress", "s.jsonl", "-o", "b.jsonl", "--budget", "1000")
    assert done.err.startswith(f"40 → {figures['messages_after']} messages · ")
    assert f"in {figures['messages_after']} messages" in refold("count", "b.jsonl").out.decode()


@pytest.mark.parametrize("columns", [1, 30, 59, 60, 72])
@pytest.mark.parametrize("command", ["count", "stats"])
def test_a_narrow_terminal_cuts_no_number(
    refold: Refold, file: Path, monkeypatch: pytest.MonkeyPatch, command: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    wide = refold(command, file).out.decode()
    monkeypatch.setenv("COLUMNS", str(columns))
    narrow = refold(command, file).out.decode()
    assert _figures(narrow) == _figures(wide)
    assert max(map(len, narrow.splitlines())) <= max(60, columns)


def _figures(shown: str) -> list[str]:
    """Find the numbers with a thousands separator or a percent sign."""
    return re.findall(r"\d[\d.,]*(?:,\d{3}| %)", shown)


def test_the_list_of_commands_cuts_no_sentence(refold: Refold) -> None:
    commands = refold("--help").out.decode().partition("Commands:")[2].partition("\n\n")[0]
    assert len(commands.strip().splitlines()) == len(COMMANDS)
    assert all(line.endswith(".") and "..." not in line for line in commands.strip().splitlines())


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_demo_shows_the_proof(
    refold: Refold, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = refold("demo")
    text = done.out.decode()
    assert done.code == 0
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= min(columns, 119)
    assert len(text.splitlines()) <= 40
    before, after = re.findall(r"sha256 ([0-9a-f]{32})", text)
    assert before == after
    for words in ("What would the agent see?", "retrieve(", "IntegrityError", "the same bytes"):
        assert words in text


def test_demo_has_colour_where_wanted(refold: Refold, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert b"\x1b[" in refold("demo").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert b"\x1b[32m" not in refold("demo").out


def test_demo_session_is_a_valid_chat() -> None:
    path = Path(library.__file__).parent / "cli" / SESSION
    open_calls: set[str] = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        if message["role"] == "tool":
            open_calls.remove(message["tool_call_id"])
            continue
        assert not open_calls
        open_calls = {call["id"] for call in message.get("tool_calls", ())}
    assert not open_calls
    assert 60_000 <= path.stat().st_size <= 120_000


def test_count_breaks_tokens_down(refold: Refold, file: Path) -> None:
    done = refold("count", file, "--json")
    data = json.loads(done.out)
    assert done.code == 0
    assert data["messages"] == len(chat())
    assert data["counted"] == "estimated"
    assert data["tokens"] == sum(share["tokens"] for share in data["shares"])
    assert data["tokens"] == library.compress(chat()).tokens_before
    assert {share["role"] for share in data["shares"]} == {m["role"] for m in chat()}


def test_count_is_exact_for_a_known_model(refold: Refold, file: Path) -> None:
    data = json.loads(refold("count", file, "--json", "--model", "gpt-5").out)
    assert data["counted"] == "exact, o200k_base"
    assert data["tokens"] == library.compress(chat(), model="gpt-5").tokens_before
    text = refold("count", file, "--model", "gpt-5").out.decode()
    assert f"{data['tokens']:,} tokens (exact, o200k_base)" in text
    assert "█" in text


def test_a_budget_is_kept_and_everything_comes_back(
    refold: Refold, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "small.jsonl"
    budget = library.compress(chat(), model="gpt-5").tokens_before * 2 // 3
    done = refold("compress", file, "-o", out, "--budget", budget, "--model", "gpt-5")
    assert done.code == 0
    small = [json.loads(line) for line in out.read_text().splitlines()]
    assert library.compress(small, model="gpt-5").tokens_before <= budget
    assert refold("uncompress", out).out == file.read_bytes()


def test_a_budget_may_be_a_share_of_the_tokens(refold: Refold, file: Path) -> None:
    tokens = json.loads(refold("count", file, "--json", "--model", "gpt-5").out)["tokens"]
    for share in ("60%", "62.5 %"):
        budget = int(tokens * float(share.strip(" %")) / 100)
        by_share, by_number = (
            refold("compress", file, "--json", "--model", "gpt-5", "--budget", chosen).out
            for chosen in (share, budget)
        )
        assert by_share == by_number
        assert json.loads(by_share)["compression"]["tokens_after"] <= budget


def test_a_budget_that_cannot_be_kept_says_what_is_in_the_way(
    refold: Refold, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "small.jsonl"
    done = refold("compress", file, "-o", out, "--budget", 1)
    assert done.code == 4
    assert "do not fit into 1" in done.err
    assert "messages[" in done.err
    assert refold("uncompress", out).out == file.read_bytes()
    for look in ("stats", "explain"):
        seen = refold(look, file, "--budget", 1, "--json")
        assert (seen.code, seen.err) == (4, done.err.splitlines(keepends=True)[-1])
        assert json.loads(seen.out)


def test_a_strict_budget_that_cannot_be_kept_writes_nothing(refold: Refold, file: Path) -> None:
    done = refold("compress", file, "-o", "small", "--budget", 1, "--set", "strict=true")
    assert done.code == 4
    assert "do not fit into 1" in done.err
    assert not Path("small").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_of_a_command_is_how_its_own_help_begins(refold: Refold, name: str) -> None:
    line = re.search(rf"(?m)^  {name} +(.+)$", refold("--help").out.decode())
    assert line
    assert line[1] == load_command(name).get_short_help_str(80)
