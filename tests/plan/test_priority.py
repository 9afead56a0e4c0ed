"""What must not be dropped comes in order, and what of it is not shown is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from refold.kinds import ERROR, PLAIN, Grade
from refold.kinds.base import EVIDENCE, FAILURE, SUMMARY, WARNING
from refold.plan.choose import Candidates
from refold.plan.corpus import Text
from refold.plan.priority import RequiredPieces
from tests.plan.runs import read

LINE = "it broke.\n"
SAID = LINE * 8
TEXTS = [
    Text(message, 0, SAID, 40)
    for message in read([{"role": "user", "content": SAID}, {"role": "user", "content": SAID}])
]
Row = tuple[int, Sequence[int], Grade]
"""The text of a candidate, what it says, and its grade."""


def musts_of(*rows: Row) -> RequiredPieces:
    found = Candidates()
    for place, (text, says, grade) in enumerate(rows):
        found.text.append(text)
        found.start.append(len(LINE) * place)
        found.end.append(len(LINE) * (place + 1))
        found.rows.append(says)
        found.factor.append(grade.weight)
        found.is_required.append(grade.must)
        found.grade.append(grade)
    return RequiredPieces(found, TEXTS)


def test_the_gravest_come_first_and_what_is_no_must_not_at_all() -> None:
    musts = musts_of((0, [1], WARNING), (0, [2], ERROR), (0, [3], PLAIN), (1, [4], ERROR))
    assert musts.by_severity() == [[1, 3], [0]]
    assert musts.by_severity(2) == [[3]]


def test_of_what_says_the_same_only_the_newest_is_a_must() -> None:
    musts = musts_of((0, [1, 2], ERROR), (1, [2, 1], ERROR))
    assert musts.by_severity() == [[1]]


def test_errors_that_are_not_chosen_are_counted_by_text() -> None:
    musts = musts_of((0, [1], ERROR), (0, [2], FAILURE), (1, [3], ERROR), (1, [4], ERROR))
    assert musts.errors_left_out([]) == {0: 2, 1: 2}
    assert musts.errors_left_out([1, 2]) == {0: 1, 1: 1}
    assert musts.errors_left_out(range(4)) == {}


def test_an_error_that_is_shown_elsewhere_is_not_left_out() -> None:
    musts = musts_of((0, [1], ERROR), (1, [1], ERROR), (1, [2], ERROR))
    assert musts.errors_left_out([1]) == {1: 1}


def test_warnings_details_and_summaries_are_no_errors() -> None:
    bad_summary = replace(SUMMARY, must=True)
    musts = musts_of((0, [1], WARNING), (0, [2], EVIDENCE), (0, [3], bad_summary))
    assert musts.errors_left_out([]) == {}


def test_what_a_text_says_more_than_once_is_known_by_where_it_ends() -> None:
    musts = musts_of((0, [1], ERROR), (1, [2], replace(ERROR, times=41)))
    assert musts.repeat_counts() == {1: {2 * len(LINE): 41}}
