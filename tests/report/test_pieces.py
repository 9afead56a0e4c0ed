"""What was kept and dropped of a text is summed up, and shown in runs."""

from __future__ import annotations

from refold import Piece
from refold.report.pieces import count_pieces, find_runs, run_words, sum_up


def piece(
    text: str,
    reason: str,
    *,
    is_kept: bool = False,
    lines: tuple[int, int] = (1, 1),
    part: int | None = 0,
) -> Piece:
    return Piece(text, is_kept, reason, len(text), part, *lines)


ERROR = piece("Error: full\n", "error", is_kept=True, lines=(1, 1))
SAID = piece("a\nb\n", "repeat", lines=(2, 3))
SAID_TOO = piece("c\n", "repeat", lines=(4, 4))
LESS = piece("left of it", "worth_less", lines=(5, 5))
VALUE = piece(" src/a.py\n", "value:src/a.py,4471", is_kept=True, lines=(5, 5))
PIECES = (ERROR, SAID, SAID_TOO, LESS, VALUE)


def test_lines_and_tokens_are_counted_by_reason() -> None:
    kept, dropped = count_pieces(PIECES)
    assert (kept.lines, kept.tokens, kept.reasons) == (2, 22, {"error": 12, "value": 10})
    assert (dropped.lines, dropped.tokens) == (3, 16)
    assert dropped.to_dict()["reasons"] == {"worth_less": 10, "repeat": 6}


def test_lines_of_another_text_are_other_lines() -> None:
    calls = piece("rm a.py", "value:a.py", is_kept=True, part=None)
    assert count_pieces((ERROR, calls))[0].lines == 2


def test_sums_in_words() -> None:
    assert sum_up(PIECES) == [
        "kept 2 of 5 lines, 22 of 38 tokens: errors 12, values 10",
        "dropped 3 lines, 16 tokens: worth less 10, repeated 6",
    ]
    assert sum_up([ERROR]) == ["kept all 1 line, 12 tokens: errors 12"]
    assert sum_up([LESS]) == ["dropped all 1 line, 10 tokens: worth less 10"]
    assert sum_up([LESS, VALUE]) == [
        "kept 1 of 1 line, 10 of 20 tokens: values 10",
        "dropped 10 tokens: worth less 10",
    ]
    assert sum_up([]) == []


def test_neighbours_with_the_same_reason_are_one_run() -> None:
    assert list(find_runs(PIECES)) == [[ERROR], [SAID, SAID_TOO], [LESS], [VALUE]]


def test_runs_in_words() -> None:
    assert [run_words(run) for run in find_runs(PIECES)] == [
        "reports what failed",
        "an error that was reported before",
        "worth less per token than what is kept",
        "mentions src/a.py, 4471",
    ]
    assert run_words([piece("x", "noise")]) == "progress, passed tests and the like"
    assert run_words([piece("x", "some_thing")]) == "some thing"
    many = [piece("x", f"value:v{n}") for n in range(9)]
    assert run_words(many) == "mentions v0, v1, v2, v3, v4, v5, …"
