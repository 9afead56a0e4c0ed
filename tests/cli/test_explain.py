"""`refold explain` says of every message what was kept, what was dropped, and why."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from refold.cli.document import parse_document
from refold.cli.explain import draw_pieces, print_explanation
from refold.cli.folding import fold_file
from refold.cli.options import Preview
from refold.cli.terminal import wrap
from refold.lazy import Lazy
from refold.report.story import Row
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


@pytest.mark.parametrize("columns", [20, 60, 72])
def test_a_narrow_terminal_cuts_no_number(
    refold: Refold, file: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for more in ((), ("--message", "20")):
        out = refold("explain", file, *BUDGET, *more).out.decode()
        assert max(map(len, out.splitlines())) <= max(60, columns)


TEXTS = st.text(st.sampled_from("ab \n\t漢\u0301é"))


class Screen(io.StringIO):
    """Counts the rows that are there whenever something new is written."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[int] = []

    def write(self, text: str) -> int:
        written = super().write(text)
        self.seen.append(self.getvalue().count("\n#"))
        return written


def told(count: int) -> list[Row]:
    document = parse_document(jsonl(chat(count)).decode(), "chat")
    options = Options(trace=True)
    folded = fold_file(document, options, MemoryStore())
    return list(Preview(document=document, folded=folded, options=options).rows())


def test_the_first_rows_are_to_be_read_before_the_last_are_drawn() -> None:
    screen = Screen()
    print_explanation(Console(file=screen, width=80), told(500), full=False)
    assert screen.seen[-1] == 500
    assert any(0 < seen <= 100 for seen in screen.seen)


def test_only_what_changes_is_marked_as_before_and_after() -> None:
    screen = io.StringIO()
    shown = told(12)
    print_explanation(Console(file=screen, width=80), shown, full=False)
    changed = sum(row.before != row.after for row in shown)
    assert 0 < changed < 12
    assert screen.getvalue().count("    − ") == screen.getvalue().count("    + ") == changed


def test_columns_are_straight_and_nothing_is_wider_than_the_screen() -> None:
    screen = io.StringIO()
    print_explanation(Console(file=screen, width=104), told(120), full=True)
    lines = screen.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= 104
    edge = lines[1].index("why")
    assert all(line[edge - 3 : edge].strip("─ ") == "" for line in lines)


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_screen_has_all_its_width_for_the_words(width: int) -> None:
    screen = io.StringIO()
    print_explanation(Console(file=screen, width=width), told(12), full=True)
    lines = screen.getvalue().splitlines()
    assert width - 12 < max(map(cell_len, lines)) <= width
    heads = [line for line in lines if line.startswith("#")]
    assert len(heads) == 12
    assert re.fullmatch(r"#0 user · \w+ · [0-9,→ ]+ chars", heads[0])


def test_reasons_never_steer_the_terminal() -> None:
    screen = io.StringIO()
    [row] = told(1)
    quoting = Piece("x", True, "value:\x1b[2J", 1, 0, 1, 1)
    entry = replace(row.entry, account=Lazy.known((quoting,)))
    console = Console(file=screen, width=80)
    console.print(draw_pieces(replace(row, entry=entry), 80, full=False))
    print_explanation(console, [replace(row, entry=entry)], full=False)
    assert "mentions" in screen.getvalue()
    assert "\x1b" not in screen.getvalue()


@given(TEXTS, st.integers(2, 12))
def test_wrapping_loses_nothing_but_blanks(text: str, width: int) -> None:
    lines = list(wrap(text, width))
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cell_len(line) <= width for line in lines)


def test_lines_break_at_blanks_where_there_are_any() -> None:
    assert list(wrap("one two three", 8)) == ["one two", "three"]
    assert list(wrap("a" * 9 + " b", 4)) == ["aaaa", "aaaa", "a b"]
    assert list(wrap("x\n\n    indented code", 10)) == ["x", "", "    indent", "ed code"]
