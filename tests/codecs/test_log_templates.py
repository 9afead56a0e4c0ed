"""Logs of every common shape are folded as templates, read at a glance, and come back."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.codecs import reencode
from refold.codecs.log_templates import decode, encode
from refold.errors import FormatError
from refold.scan.tokens.estimate import estimate_tokens
from tests.codecs.log_shapes import SHAPES, make_log

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from undone import undo

IDS = re.compile(r"[\w./-]*\d[\w./-]*[^\W_]")
TIMES = re.compile(r"\d\d:\d\d:\d\d(?:[.,]\d+)?|\d{4}-\d\d-\d\dT|\d\d/[A-Z][a-z]{2}/\d{4}:")
HEADING = re.compile(r"\[[A-Z]\| ×(\d+)(?: from (\S+) to (\S+))?: ")


def encoded(text: str) -> str:
    new = encode(text)
    assert new is not None
    assert decode(new) == text
    return new


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_takes_far_fewer_tokens(shape: str) -> None:
    text = make_log(shape)
    result = reencode(text, estimate_tokens)
    assert result is not None
    assert "log_templates" in result.by
    assert decode(result.text) == text
    assert estimate_tokens(result.text) < 0.7 * estimate_tokens(text)


@pytest.mark.parametrize("shape", SHAPES)
def test_ids_stay_in_one_piece(shape: str) -> None:
    """Whatever has a digit in it can be searched for as it was; only times are cut."""
    text = make_log(shape)
    assert set(IDS.findall(TIMES.sub(" ", text))) <= set(IDS.findall(encoded(text)))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_heading_counts_its_lines(shape: str) -> None:
    text = encoded(make_log(shape))
    counts = [int(found[1]) for found in HEADING.finditer(text)]
    rows = [line for line in text.split("\n") if line[1:2] == "|"]
    assert sum(counts) == len(rows)


def test_a_heading_says_from_when_to_when() -> None:
    text = "\n".join(f"{hour}:00:00 all gates of the harbour are open" for hour in (10, 12, 17, 19))
    found = HEADING.match(encoded(text))
    assert found is not None
    assert found.groups() == ("4", "10:00:00", "19:00:00")


def test_a_heading_says_nothing_of_times_that_are_not_there() -> None:
    text = "\n".join(f"[INFO] the gates of harbour {n} are open to all ships" for n in range(4))
    assert encoded(text).startswith("[A| ×4: [INFO] the gates of harbour {} are open to all ships]")


def test_every_line_stays_in_its_place() -> None:
    lines = make_log("syslog", 40).split("\n")
    lines[10:10] = ["Traceback (most recent call last):", "  nothing of a template"]
    shown = [line for line in encoded("\n".join(lines)).split("\n") if not HEADING.match(line)]
    assert shown[10:12] == lines[10:12]
    assert len(shown) == len(lines)


def test_words_that_vary_become_gaps() -> None:
    names = ("ann", "bob", "eve", "ida", "kim", "liv")
    text = "\n".join(f"10:00:0{n} session opened for user {name}" for n, name in enumerate(names))
    heading, *rows = encoded(text).split("\n")
    assert heading.endswith(": 10:00:{} session opened for user {}]")
    assert rows == [f"A|0{n} {name}" for n, name in enumerate(names)]


def test_what_reads_like_a_gap_is_what_a_row_fills_it_with() -> None:
    text = "\n".join(f"10:00:0{n} the office answered {{}} to call {n} with {{}}" for n in range(5))
    heading, *rows = encoded(text).split("\n")
    assert heading.endswith(": 10:00:{} the office answered {} to call {} with {}]")
    assert rows == [f"A|0{n} {{}} {n} {{}}" for n in range(5)]


def test_what_is_said_often_gets_a_template_of_its_own() -> None:
    """It is shorter to announce two templates than to repeat a long word in every row."""
    states = ("initialization", "decommissioning")
    text = "\n".join(f"10:00:{n:02} {states[n % 2]} of node {n} has ended" for n in range(40))
    headings = HEADING.findall(encoded(text))
    assert [heading[0] for heading in headings] == ["20", "20"]


def test_more_templates_than_letters() -> None:
    text = "\n".join(
        f"10:{n:02}:00 the gates of the harbour office were open{',' * signs} {n}"
        for signs in range(30)
        for n in range(5)
    )
    assert len(HEADING.findall(encoded(text))) == 26


@pytest.mark.parametrize(
    "text",
    [
        "def now() -> str:\n    return '10:00:00'\n",
        "Meet at 10:00:00 or 11:00:00 or 12:00:00.\nNo later than 13:00:00.",
        "a\nb\nc\nd",
        "".join(f"The {n} gates of the harbour are open to all ships\n" for n in range(9)),
        "".join(f"error: gate {n} of the harbour is closed to all ships\n" for n in range(9)),
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert encode(text) is None


@pytest.mark.parametrize("row", ["A|", "A|1 2"])
def test_a_row_that_does_not_fit_is_refused(row: str) -> None:
    text = f"[A| ×3 from 1 to 3: {{}} a {{}} b {{}}]\n{row}"
    with pytest.raises(FormatError, match="no row of its template"):
        decode(text)


LINES = st.sampled_from(
    [
        line if number % 5 else line.replace(" ", " {} ", 3)
        for shape in SHAPES
        for number, line in enumerate(make_log(shape, 12).split("\n"))
    ]
)
STRANGE = st.sampled_from(["", "A|", "[A| ×3 from 1 to 2: {} x {}]", "[again ×2]", "{}", "1:00:00"])


@given(st.lists(st.one_of(LINES, LINES, LINES, STRANGE), max_size=80))
def test_lines_of_many_logs_come_back(lines: list[str]) -> None:
    text = "\n".join(lines)
    result = reencode(text, len)
    if result is not None:
        assert undo(result.text, result.by, text)
        assert len(result.text) < len(text)


WORDS = st.sampled_from(
    ["a", "b", "7", "x1", "=", "|", "{", "}", "{}", " ", "T1", ":", "\t", "\x85"]
)


@given(st.lists(st.lists(WORDS, max_size=8), min_size=3, max_size=20))
def test_any_words_behind_a_time_come_back(rows: list[list[str]]) -> None:
    start = "2031-05-02T10:00:00 the harbour office has seen "
    text = "\n".join(start + "".join(row) for row in rows)
    new = encode(text)
    assert new is None or decode(new) == text


def test_many_lines_with_nothing_in_common_stay() -> None:
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghij", k=chance.randint(4, 9))) for _ in range(4_000)]
    text = "\n".join(
        f"10:{n // 60 % 60:02}:{n % 60:02} INFO {' '.join(chance.choices(words, k=n % 6 + 3))}"
        for n in range(1_200)
    )
    assert encode(text) is None
