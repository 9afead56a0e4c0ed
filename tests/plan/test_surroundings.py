"""What belongs to a line: its function, its record, the lines below it; never very much."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.codecs.json_data import CODEC
from refold.kinds import KINDS
from refold.plan.open_question import MOST_CHARS, find_surroundings

CODE = """\
import math


class Till:
    limit = 3

    @property
    def total(
        self,
    ) -> int:
        \"\"\"Sum of all coins.\"\"\"
        if self.coins:

            return sum(self.coins)
        return 0

    def empty(self):
        self.coins = []


def other():
    return 1
"""
TOTAL = CODE[CODE.index("    def total") : CODE.index("\n    def empty")]
BRACES = """\
static int add(int a, int b)
{
    return a + b;
}

int sub(int a, int b) {
    return a - b;
}
"""


def around(text: str, kind: str, part: str) -> str:
    start = text.index(part)
    begin, end = find_surroundings(text, kind, (start, start + len(part)))
    return text[begin:end]


@pytest.mark.parametrize(
    "line", ["    def total(\n", '        """Sum of all coins."""\n', "            return sum(self"]
)
def test_a_line_of_code_belongs_to_its_function(line: str) -> None:
    assert around(CODE, "file_read", line) == TOTAL


def test_numbers_before_the_lines_are_no_indentation() -> None:
    numbered = "".join(f"{n:6}\t{line}\n" for n, line in enumerate(CODE.split("\n"), 8))
    found = around(numbered, "file_read", "Sum of all coins")
    assert [line.partition("\t")[2] for line in found.split("\n")] == TOTAL.split("\n")


def test_a_brace_on_a_line_of_its_own_begins_and_ends_a_body() -> None:
    first, _, second = BRACES.partition("\n\n")
    assert around(BRACES, "file_read", "    return a + b;\n") == f"{first}\n"
    assert around(BRACES, "file_read", "int sub(") == second


def test_a_line_outside_of_functions_stands_alone() -> None:
    assert around(CODE, "file_read", "import math\n") == "import math\n"


@pytest.mark.parametrize("indent", [None, 2])
def test_a_field_belongs_to_its_record(indent: int | None) -> None:
    orders = [
        {"id": f"W{n}", "items": [{"name": f"lamp {n}", "price": n}] * 3, "status": f"sent {n}"}
        for n in range(5)
    ]
    spelled = json.dumps({"orders": orders, "page": 1}, indent=indent)
    for text in (spelled, CODEC.encode(spelled) or ""):
        found = around(text, "json_records", "W3")
        assert "sent 3" in found
        assert "W2" not in found
        assert "W4" not in found


def test_a_row_stands_alone() -> None:
    rows = [{"city": f"Los Angeles {n}", "street": f"Mill Lane {n}"} for n in range(9)]
    text = CODEC.encode(json.dumps({"places": rows})) or ""
    assert around(text, "json_records", "Los Angeles 3|Mill Lane 3\n").count("\n") == 1


def test_what_stands_deeper_below_a_line_of_a_log_belongs_to_it() -> None:
    log = "10:01 ERROR job 7 failed\n  at step 3\n  at step 1\n10:02 INFO job 8 done\n"
    assert around(log, "log", "10:01 ERROR job 7 failed\n") == log[: log.index("10:02")]


def test_a_sentence_that_refers_back_comes_along() -> None:
    first, second = "The lamp was entered. ", "It cost 412 crowns. "
    text = f"{first}{second}The crane was repaired."
    assert around(text, "prose", first) == f"{first}{second[0]}"  # any part stands for all of it
    assert around(text, "prose", second) == second


@given(
    st.lists(
        st.sampled_from(
            ["def f():", "    ", "\n", "{", "}", "x=1 ", "  7\t", "\nrows of a|b:\n", "]", '"']
        )
    ).map("".join),
    st.sampled_from([kind.name for kind in KINDS]),
    st.integers(0),
    st.integers(1, 40),
)
def test_surroundings_lie_in_the_text(text: str, kind: str, place: int, size: int) -> None:
    start = place % (len(text) + 1)
    end = min(len(text), start + size)
    begin, stop = find_surroundings(text, kind, (start, end))
    assert 0 <= begin <= start
    assert begin <= stop <= len(text) + 1
    assert stop - begin <= 2 * MOST_CHARS + size + len(text[start:].partition("\n")[0]) + 1
