"""What was shown before is not shown again, and is found where it was shown first."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.codecs.seen import SeenLines
from tests.codecs.test_reencode import LINES

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from undone import Seen

CODE = [
    "class Queue:",
    '    """Jobs that wait for a worker, the most urgent first."""',
    "",
    "    def put(self, job: Job, priority: int) -> None:",
    "        with self.lock:",
    "            heappush(self.jobs, (priority, next(self.numbers), job))",
    "            self.filled.notify()",
    "",
    "    def take(self, patience: float) -> Job:",
    "        with self.lock:",
    "            self.filled.wait_for(lambda: self.jobs, patience)",
    "            return heappop(self.jobs)[-1]",
]
MARK = "follow as before]"


def shown(*texts: str) -> SeenLines:
    seen = SeenLines()
    for text in texts:
        seen.add(text)
    return seen


def follows(short: str, text: str, *before: str) -> bool:
    """Return whether a reader who has seen what came *before* finds all of *text*."""
    seen = Seen()
    for one in before:
        seen.add(one)
    return seen.follow(short, text)


def view(lines: list[str], first: int, form: str = "{:>6}→{}") -> str:
    return "\n".join(form.format(number, line) for number, line in enumerate(lines, first))


def test_another_window_into_a_file() -> None:
    seen = shown("\n".join(CODE))
    text = "\n".join(["$ sed -n 4,99p queue.py", *CODE[3:], "", "queue = Queue()"])
    short = seen.shorten(text)
    assert short == "\n".join(
        ["$ sed -n 4,99p queue.py", CODE[3], f"[8 lines {MARK}", "", "queue = Queue()"]
    )
    assert follows(short, text, "\n".join(CODE))


def test_numbers_count_on_though_lines_have_moved() -> None:
    seen = shown(view(CODE, 10))
    text = view(["import heapq", "", *CODE], 8)
    short = seen.shorten(text)
    assert short == "\n".join([*text.split("\n")[:3], f"[lines 11–21 {MARK}"])
    assert follows(short, text, view(CODE, 10))


@pytest.mark.parametrize("form", ["{:>6}→{}", "{}:{}", "{:>4}|{}", "{}\t{}"])
def test_a_file_that_was_written_is_read_with_numbers(form: str) -> None:
    # Blanks at line ends have gone from what is shown.
    text = view(CODE, 95, form).replace("\t\n", "\n")
    seen = shown("\n".join(CODE))
    short = seen.shorten(text)
    assert short is not None
    assert len(short) < len(text) / 2
    assert follows(short, text, "\n".join(CODE))


def test_one_long_line_is_enough() -> None:
    row = "{name=Lamp price:12.50 options:{" + "colour=white " * 12 + "}}"
    short = shown(f"{{order_id=W17 items:[\n{row}\n]}}").shorten(f"{{order_id=W17 items:[\n{row}")
    assert short == f"{{order_id=W17 items:[\n[1 line {MARK}"


def test_what_was_left_out_is_not_referred_to() -> None:
    """A reader is sent to where the lines are, never to another mark."""
    seen = shown("\n".join(CODE))
    second = "\n".join(["An opening line of its own", *CODE])
    short = seen.shorten(second)
    assert short is not None
    seen.add(short)
    third = "\n".join(["An opening line of its own", *CODE])
    again = seen.shorten(third)
    assert again is not None
    assert again == short
    assert follows(again, third, "\n".join(CODE), short)


def test_lines_around_a_mark_do_not_stand_together() -> None:
    """Below the first line stands a mark there, not what follows it here."""
    seen = shown("\n".join([CODE[0], f"[9 lines {MARK}", *CODE[1:]]))
    assert seen.shorten("\n".join(CODE)) == "\n".join([*CODE[:2], f"[10 lines {MARK}"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n".join(CODE[:3]),
        "\n".join(reversed(CODE)),
        "\n".join(f"{line} # changed" for line in CODE),
        "\n".join([CODE[0], f"[11 lines {MARK}", *CODE]),
    ],
    ids=["nothing", "too short", "another order", "changed lines", "its own mark"],
)
def test_what_is_new_stays(text: str) -> None:
    assert shown("\n".join(CODE)).shorten(text) is None


def test_nothing_was_shown() -> None:
    assert SeenLines().shorten("\n".join(CODE)) is None


@given(
    st.lists(
        st.lists(st.sampled_from([*LINES, *CODE, *view(CODE, 7).split("\n")]), max_size=40),
        min_size=2,
        max_size=5,
    )
)
def test_every_text_comes_back(texts: list[list[str]]) -> None:
    seen, before = SeenLines(), list[str]()
    for text in map("\n".join, texts):
        short = seen.shorten(text)
        if short is not None:
            assert follows(short, text, *before)
            assert len(short) < len(text)
        before.append(short or text)
        seen.add(short or text)
