"""A row is asked about a text that has all it needs; a table takes rows of its type only."""

from __future__ import annotations

import re
from typing import Any

import pytest

from refold import ConfigError
from refold.codecs import CODECS, TABLE, CodecTable
from refold.rows import Needs

HEADING = re.compile(r"\n# ")


@pytest.mark.parametrize(
    ("needs", "met", "unmet"),
    [
        (Needs(), ["", "a"], []),
        (Needs("a", "b"), ["b a"], ["", "a", "b"]),
        (Needs("a", ("b", "c")), ["ab", "ca"], ["a", "bc"]),
        (Needs(HEADING), ["# a", "a\n# b"], ["a # b", "#"]),
        (Needs(("x", HEADING)), ["x", "# a"], ["a"]),
        (Needs(lacks=("a", HEADING)), ["b"], ["ab", "# b"]),
        (Needs(chars=3), ["abc"], ["ab", ""]),
        (Needs(line_breaks=2), ["\n\n", "a\nb\nc"], ["a\nb", ""]),
    ],
)
def test_what_a_row_needs(needs: Needs, met: list[str], unmet: list[str]) -> None:
    assert all(map(needs, met))
    assert not any(map(needs, unmet))


def test_a_table_of_the_same_rows_is_the_table_itself() -> None:
    assert TABLE.choose(None) is TABLE
    assert TABLE.choose(list(CODECS)) is TABLE
    few = TABLE.choose(CODECS[:2])
    assert type(few) is CodecTable
    assert few.rows == CODECS[:2]
    assert set(few.by_name) == {codec.name for codec in CODECS[:2]}


@pytest.mark.parametrize("wrong", ["tree", [3], [CODECS[0], CODECS[0]]])
def test_a_table_takes_rows_of_its_type_with_different_names(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="codecs"):
        TABLE.choose(wrong)
