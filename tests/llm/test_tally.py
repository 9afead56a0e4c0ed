"""Counting answers: each is accepted, repaired or unused, and a long life keeps few texts."""

from __future__ import annotations

from refold.llm.ask import Tally


def test_an_answer_may_be_used_by_the_next_fold() -> None:
    tally = Tally(waiting={"one": False, "two": True, "three": False})
    tally.settle(["one"])
    assert tally.report().unused == 2
    tally.settle(["two"])
    report = tally.report()
    assert (report.accepted, report.repaired, report.unused) == (1, 1, 1)


def test_answers_that_nobody_uses_are_counted_and_let_go() -> None:
    tally = Tally()
    for fold in range(100):
        tally.waiting.update({f"{fold}.{text}": False for text in range(10)})
        tally.settle([f"{fold}.0"])
    report = tally.report()
    assert (report.accepted, report.unused) == (100, 900)
    assert len(tally.waiting) < 300


def test_one_large_fold_uses_all_of_its_answers() -> None:
    tally = Tally(waiting={str(text): False for text in range(2_000)})
    tally.settle([str(text) for text in range(2_000)])
    assert (tally.report().accepted, tally.report().unused) == (2_000, 0)
