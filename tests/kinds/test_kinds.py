"""Every kind is told and graded as its fixture says; its table has no gaps.

A fixture holds cases: `=== yes: name` or `=== no: name`, then the text. In a `yes` case each line
starts with what is expected of it and a blank: `!` a must, `+` worth more than an ordinary line,
`-` worth less, and a blank: no must.
"""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

import pytest
from tests.pieces import Piece, pieces_of

import refold.kinds
from refold.kinds import KINDS, kind_of, split

FIXTURES = Path(__file__).parent / "fixtures"
NAMES = [kind.name for kind in KINDS]
CASE = re.compile(r"^=== (yes|no): (.+)\n((?:(?!=== ).*\n)*)", re.MULTILINE)


def cases(kind: str, answer: str) -> list[object]:
    source = (FIXTURES / f"{kind}.md").read_text(encoding="utf-8")
    return [
        pytest.param(kind, found[3][:-1], id=f"{kind}-{found[2]}")
        for found in CASE.finditer(source)
        if found[1] == answer
    ]


def piece_at(pieces: list[Piece], place: int) -> Piece:
    return next(piece for piece in pieces if piece.start <= place < piece.end)


def test_each_row_has_a_file_and_each_file_a_row() -> None:
    modules = {module.name for module in pkgutil.iter_modules(refold.kinds.__path__)}
    assert {name for name in modules if not name.startswith("_")} == {*NAMES, "base"}


def test_each_row_has_a_fixture_and_each_fixture_a_row() -> None:
    assert sorted(path.stem for path in FIXTURES.glob("*.md")) == sorted(NAMES)


def test_names_are_unique() -> None:
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("kind", NAMES)
def test_each_fixture_has_cases_of_both_answers(kind: str) -> None:
    assert len(cases(kind, "yes")) >= 2
    assert len(cases(kind, "no")) >= 3


@pytest.mark.parametrize(("kind", "marked"), [c for kind in NAMES for c in cases(kind, "yes")])
def test_fixture_is_told_and_graded(kind: str, marked: str) -> None:
    expected = [line[:1] for line in marked.split("\n")]
    lines = [line[2:] for line in marked.split("\n")]
    text = "\n".join(lines)
    assert kind_of(text) == kind
    pieces = pieces_of(text, kind)
    place = 0
    for line, mark in zip(lines, expected, strict=True):
        if line.strip():
            piece = piece_at(pieces, place + len(line) - len(line.lstrip()))
            assert piece.must is (mark == "!"), line
            assert mark != "+" or piece.weight > 1.0, line
            assert mark != "-" or piece.weight < 1.0, line
        place += len(line) + 1


@pytest.mark.parametrize(("kind", "text"), [c for kind in NAMES for c in cases(kind, "no")])
def test_fixture_is_not_mistaken(kind: str, text: str) -> None:
    assert kind_of(text) != kind


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(KeyError):
        split("text", "poem")


def test_of_a_test_run_names_come_before_errors_and_those_before_how_it_ended() -> None:
    lines = (
        "FAILED tests/test_queue.py::test_pull",
        "java.lang.IllegalStateException: the pool is closed",
        "[ERROR] Failed to execute goal org.example:tests:3.5.2:test on project app",
        "Tests run: 5, Failures: 0, Errors: 2, Skipped: 0",
    )
    text = "\n".join(lines)
    assert kind_of(text) == "test_run"
    pieces = pieces_of(text, "test_run")
    name, error, outcome = (piece_at(pieces, text.index(line)) for line in lines[:3])
    assert name.weight > error.weight > outcome.weight
    assert outcome.must
