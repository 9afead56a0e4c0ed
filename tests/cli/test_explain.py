"""`refold explain` says of every message what was kept, what was dropped, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Refold
from tests.cli.session import chat, jsonl
from tests.plan.runs import call, source_code

BUDGET = ("--profile", "standard", "--budget", "900")


@pytest.fixture
def file(refold: Refold) -> Path:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Fix the queue."}]
    for n in range(9):
        messages += call(n, "read_file", {"path": f"src/mod{n}.py"}, source_code(n))
    failed = f"{source_code(9)}\nError: the queue src/mod3.py is full"
    messages += [*call(9, "run", {}, failed), {"role": "user", "content": "And now?"}]
    path = Path("work.json").absolute()
    path.write_text(json.dumps(messages), encoding="utf-8")
    return path


def rows(refold: Refold, *args: object) -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = json.loads(refold("explain", *args, *BUDGET, "--json").out)
    return data


def test_every_message_tells_how_much_was_kept_and_why(refold: Refold, file: Path) -> None:
    table = " ".join(refold("explain", file, *BUDGET).out.decode().split())
    assert " of 40 lines, " in table
    assert "dropped" in table
    assert "worth less" in table


def test_the_same_as_data(refold: Refold, file: Path) -> None:
    for row in rows(refold, file):
        cut = row["decision"] in ("excerpted", "digested")
        assert ("kept" in row, "dropped" in row) == (cut, cut)
        assert "pieces" not in row
        for side in ("kept", "dropped"):
            if cut:
                assert sum(row[side]["reasons"].values()) == row[side]["tokens"]


def test_one_message_is_shown_piece_by_piece(refold: Refold, file: Path) -> None:
    out = refold("explain", file, *BUDGET, "--message", "20").out.decode()
    said = " ".join(out.split())
    assert said.startswith("#20 tool · ")
    assert "kept" in said
    assert "reports an error" in said
    assert "#19" not in out.splitlines()[0]


def test_one_message_as_data_has_its_pieces(refold: Refold, file: Path) -> None:
    [row] = rows(refold, file, "--message", "20")
    assert row["message_index"] == 20
    kept = [piece for piece in row["pieces"] if piece["is_kept"]]
    assert {"error"} <= {piece["reason"] for piece in kept}
    assert sum(piece["tokens"] for piece in kept) == row["kept"]["tokens"]
    everything = {row["message_index"]: row for row in rows(refold, file, "--full")}
    assert everything[20]["pieces"] == row["pieces"]


def test_a_message_that_is_whole_is_shown_as_ever(refold: Refold, file: Path) -> None:
    out = refold("explain", file, *BUDGET, "--message", "0").out.decode()
    assert "the first task" in out
    assert "never touched" not in out
    assert "Fix the queue." in out


def test_whole_pieces_on_demand(refold: Refold, file: Path) -> None:
    short, full = (
        refold("explain", file, *BUDGET, "--message", "2", *more).out.decode()
        for more in ((), ("--full",))
    )
    assert "…" in short
    assert len(full) > len(short)


def test_a_message_that_is_not_there(refold: Refold, file: Path) -> None:
    run = refold("explain", file, "--message", "99")
    assert run.code == 2
    assert "they are numbered from 0 to 21" in run.err
    assert "there are none" in refold("explain", "-", "--message", "0", stdin=b"[]").err


def test_records_that_no_model_sees_take_one_line(refold: Refold) -> None:
    note = {"type": "progress", "data": {}}
    turns = [{"type": m["role"], "sessionId": "s", "message": m} for m in chat(8)]
    Path("s.jsonl").write_bytes(jsonl([note, *(r for t in turns for r in (t, note))]))
    out = refold("explain", "s.jsonl").out.decode()
    assert "and 9 records of the session that no model sees" in out
    assert "progress" not in out
    data = json.loads(refold("explain", "s.jsonl", "--json").out)
    assert [row["is_turn"] for row in data] == [n % 2 == 1 for n in range(17)]
    assert "no model sees" not in refold("explain", "-", stdin=jsonl(chat(4))).out.decode()


@pytest.mark.parametrize("columns", [20, 60, 72])
def test_a_narrow_terminal_cuts_no_number(
    refold: Refold, file: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for more in ((), ("--message", "20")):
        out = refold("explain", file, *BUDGET, *more).out.decode()
        assert max(map(len, out.splitlines())) <= max(60, columns)
