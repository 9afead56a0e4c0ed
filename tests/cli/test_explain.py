"""`refold explain` says of every message what was kept, what was dropped, and why."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from click import unstyle

from refold.cli.document import parse_document
from refold.cli.folding import fold_file
from refold.cli.views import draw_row
from refold.lazy import Lazy
from refold.result import Piece
from refold.stores import MemoryStore
from tests.classic import Options
from tests.cli.conftest import Refold
from tests.cli.session import chat, jsonl

BUDGET = ("--profile", "standard", "--budget", "500")


def rows(refold: Refold, *args: object) -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = json.loads(refold("explain", *args, *BUDGET, "--json").out)
    return data


def test_every_message_tells_how_much_was_kept_and_why(refold: Refold, file: Path) -> None:
    table = " ".join(refold("explain", file, *BUDGET).out.decode().split())
    assert " of 41 lines, " in table
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
    assert "mentions" in said
    assert "#19" not in out.splitlines()[0]


def test_one_message_as_data_has_its_pieces(refold: Refold, file: Path) -> None:
    [row] = rows(refold, file, "--message", "20")
    assert row["message_index"] == 20
    kept = [piece for piece in row["pieces"] if piece["is_kept"]]
    assert any(piece["reason"].startswith("value:") for piece in kept)
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


def test_only_what_changes_is_marked_as_before_and_after(refold: Refold) -> None:
    lines = refold("explain", "-", "--profile", "classic", stdin=jsonl(chat(12))).out.decode()
    heads = [line for line in lines.splitlines() if line.startswith("#")]
    assert len(heads) == 12
    assert all(re.match(r"#\d+ \w+ · \w+ · [0-9,→ ]+ chars · \w", head) for head in heads)
    changed = sum(" → " in head for head in heads)
    assert 0 < changed < 12
    assert lines.count("    − ") == lines.count("    + ") == changed


def test_reasons_never_steer_the_terminal() -> None:
    document = parse_document(jsonl(chat(1)).decode(), "chat")
    folded = fold_file(document, Options(trace=True), MemoryStore())
    [row] = folded.rows()
    quoting = Piece("x", True, "value:\x1b[2J", 1, 0, 1, 1)
    evil = replace(row, entry=replace(row.entry, account=Lazy.known((quoting,))))
    for lines in (draw_row(evil, full=False), draw_row(evil, full=False, with_pieces=True)):
        text = unstyle("\n".join(lines))
        assert "mentions" in text or "values" in text
        assert "\x1b" not in text
