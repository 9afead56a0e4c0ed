"""The rows of `refold explain`, as they are printed."""

from __future__ import annotations

import io
import re
from dataclasses import replace

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
from tests.cli.session import chat, jsonl

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


def rows(count: int) -> list[Row]:
    document = parse_document(jsonl(chat(count)).decode(), "chat")
    options = Options(trace=True)
    folded = fold_file(document, options, MemoryStore())
    return list(Preview(document=document, folded=folded, options=options).rows())


def test_the_first_rows_are_to_be_read_before_the_last_are_drawn() -> None:
    screen = Screen()
    print_explanation(Console(file=screen, width=80), rows(500), full=False)
    assert screen.seen[-1] == 500
    assert any(0 < seen <= 100 for seen in screen.seen)


def test_only_what_changes_is_marked_as_before_and_after() -> None:
    screen = io.StringIO()
    told = rows(12)
    print_explanation(Console(file=screen, width=80), told, full=False)
    changed = sum(row.before != row.after for row in told)
    assert 0 < changed < 12
    assert screen.getvalue().count("    − ") == screen.getvalue().count("    + ") == changed


def test_columns_are_straight_and_nothing_is_wider_than_the_screen() -> None:
    screen = io.StringIO()
    print_explanation(Console(file=screen, width=104), rows(120), full=True)
    lines = screen.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= 104
    edge = lines[1].index("why")
    assert all(line[edge - 3 : edge].strip("─ ") == "" for line in lines)


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_screen_has_all_its_width_for_the_words(width: int) -> None:
    screen = io.StringIO()
    print_explanation(Console(file=screen, width=width), rows(12), full=True)
    lines = screen.getvalue().splitlines()
    assert width - 12 < max(map(cell_len, lines)) <= width
    heads = [line for line in lines if line.startswith("#")]
    assert len(heads) == 12
    assert re.fullmatch(r"#0 user · \w+ · [0-9,→ ]+ chars", heads[0])


def test_reasons_never_steer_the_terminal() -> None:
    screen = io.StringIO()
    [row] = rows(1)
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
