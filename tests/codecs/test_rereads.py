"""A file read again: what changed, and the exact text from that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.codecs.rereads import apply_changes, changes, find_changes
from refold.errors import FormatError

FILE = [f"def task_{n}(queue):" if n % 5 == 0 else "    queue.put(job)" for n in range(60)]
LINES = st.lists(st.sampled_from([*"abcdefgh", "", " ", "@@", "-x", "+x", "@@ top"]), max_size=40)


def numbered(lines: list[str], first: int = 1) -> str:
    return "\n".join(f"{n:>6}→{line}" for n, line in enumerate(lines, first))


def test_a_changed_line() -> None:
    new = [*FILE[:31], "    queue.put(job, priority=2)", *FILE[32:]]
    assert changes("\n".join(new), "\n".join(FILE)) == (
        "[the earlier read of this file, with these changes]\n"
        "@@\n"
        "  def task_30(queue):\n"
        "-     queue.put(job)\n"
        "+     queue.put(job, priority=2)"
    )


def test_an_insertion_shifts_numbers_for_free() -> None:
    new = ["import queue", *FILE[:20], *FILE[25:]]
    diff = changes(numbered(new), numbered(FILE))
    assert diff is not None
    assert diff.split("\n")[:4] == [
        "[the earlier read of this file, with these changes; its numbers count on]",
        "@@ top",
        "+ import queue",
        "@@",
    ]
    assert len(diff.split("\n")) == 9
    assert apply_changes(diff, numbered(FILE)) == numbered(new)


def test_text_around_the_numbers() -> None:
    old = f"<file>\n{numbered(FILE)}\n</file>\nEnd."
    new = f"<file>\n{numbered([*FILE, 'last'])}\n</file>\nEnd."
    diff = changes(new, old)
    assert diff is not None
    assert apply_changes(diff, old) == new


def test_the_same_again() -> None:
    text = "\n".join(FILE)
    diff = changes(text, text)
    assert diff == "[the earlier read of this file, unchanged]"
    assert apply_changes(diff, text) == text


def test_another_part_of_the_file_is_no_change() -> None:
    lines = [f"line {n}" for n in range(100)]
    assert changes(numbered(lines[50:], 51), numbered(lines[:50])) is None


@pytest.mark.parametrize(("text", "earlier"), [("", ""), ("a", "b"), ("", "a\nb"), ("a\nb", "")])
def test_little_texts_have_no_changes(text: str, earlier: str) -> None:
    assert changes(text, earlier) is None


@pytest.mark.parametrize(
    "diff",
    [
        "anything else",
        "[the earlier read of this file, with these changes]\n@@\n not there",
        "[the earlier read of this file, with these changes]\n@@ top\n-other",
        "[the earlier read of this file, with these changes]\n@@\n+a",
        "[the earlier read of this file, with these changes]\n?",
    ],
)
def test_changes_that_do_not_fit_are_refused(diff: str) -> None:
    with pytest.raises(FormatError, match="cannot decode"):
        apply_changes(diff, "a\nb")


@given(LINES, LINES, st.integers(0, 40), st.integers(0, 5), st.booleans())
def test_changes_give_the_text_back(
    base: list[str], added: list[str], place: int, removed: int, is_numbered: bool
) -> None:
    old = [*base, *(f"line {n} of the rest" for n in range(80))]
    new = [*old[:place], *added, *old[place + removed :]]
    write = numbered if is_numbered else "\n".join
    diff = changes(write(new), write(old))
    if diff is not None:
        assert apply_changes(diff, write(old)) == write(new)
        assert len(diff) <= len(write(new)) / 2


@given(LINES, LINES)
def test_changes_between_equal_lines(old: list[str], new: list[str]) -> None:
    """Everything outside of the changes is equal, and they come in order."""
    rebuilt: list[str] = []
    at_old = at_new = 0
    for change in find_changes(old, new):
        assert old[at_old : change.start] == new[at_new : change.new_start]
        assert change.start < change.end or change.new_start < change.new_end
        rebuilt += old[at_old : change.start]
        rebuilt += new[change.new_start : change.new_end]
        at_old, at_new = change.end, change.new_end
    assert rebuilt + old[at_old:] == new


def test_a_line_that_has_moved_takes_none_of_the_others_along() -> None:
    old, new = list("abqcrXd"), list("Xabsctd")
    taken = [line for change in find_changes(old, new) for line in old[change.start : change.end]]
    assert taken == list("qrX")
