"""Re-encoding wins tokens or leaves the text alone, and gives the same data back."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.codecs import CODECS, CodecTable, reencode
from refold.scan.tokens.estimate import estimate_tokens
from tests.codecs.test_codecs import cases

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from undone import undo

LINES = sorted(
    {line for codec in CODECS for _, text, _ in cases(codec.name) for line in text.split("\n")}
)
RECORDS = json.dumps([{"name": f"Ann{n}", "city": "Rome", "age": n} for n in range(9)], indent=2)


def long_numbers(text: str) -> set[str]:
    return set(re.findall(r"\d{3,}", text))


def test_wins_tokens_and_gives_the_data_back() -> None:
    result = reencode(RECORDS, estimate_tokens)
    assert result is not None
    assert result.by == ("json_data",)
    assert estimate_tokens(result.text) < 0.7 * estimate_tokens(RECORDS)
    assert result.text.split("\n")[:2] == ["rows (9) name|age, all city=Rome:", "Ann0|0"]


def test_codecs_follow_each_other() -> None:
    """Numbered lines inside of a JSON text are reached through the JSON."""
    shown = "\n".join(f"{n:>6}→line {n} of the file" for n in range(1, 30))
    text = json.dumps({"output": shown, "code": 0})
    result = reencode(text, estimate_tokens)
    assert result is not None
    assert result.by == ("envelope", "numbered")
    assert undo(result.text, result.by, text)
    assert "\n29\tline 29 of the file" in result.text


def test_kinds_in_one_result_are_encoded_apart() -> None:
    """What several commands printed, in the wrappings of a tool."""
    records = [{"crate": f"C{n}", "goes": "to the harbour office", "kg": n * 31} for n in range(9)]
    log = [f"2031-05-02 10:00:0{n} INFO worker-{n} took job 7f3{n}a in {n} ms" for n in range(9)]
    hits = [f"src/server/jobs/queue.py:{n}7:put(job, {n})" for n in range(9)]
    view = [f"{n:>6}\tcrate_{n} = {n}" for n in range(1, 9)]
    text = "\n".join(
        (
            *("OBSERVATION:", "<returncode>0</returncode>", "<output>", "$ cat cargo.json"),
            *(json.dumps(records, indent=2), "$ tail server.log", *log, "$ cat -n cargo.py", *view),
            *("```json", *map(json.dumps, records), "```", "$ grep -n put", *hits, "exit code: 0"),
            "</output>",
        )
    )
    result = reencode(text, estimate_tokens)
    assert result is not None
    assert {"json_data", "numbered", "log_templates", "search_hits"} <= {*result.by}
    assert undo(result.text, result.by, text)
    assert estimate_tokens(result.text) < 0.7 * estimate_tokens(text)
    for line in ("OBSERVATION:", "<returncode>0</returncode>", "$ grep -n put", "exit code: 0"):
        assert line in result.text.split("\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "short",
        "A sentence that no codec has anything to do with, on one line.",
        '{"a": 1, "b": "this is short enough to gain next to nothing"}',
        "word " * 500 + "\x1b[0m",
    ],
)
def test_small_gains_are_left(text: str) -> None:
    assert reencode(text, estimate_tokens) is None


def test_a_form_that_costs_more_is_not_used() -> None:
    assert reencode(RECORDS, lambda text: 1_000_000 - len(text)) is None


def test_each_codec_proves_itself_where_all_together_fail() -> None:
    """A lookalike makes one codec unusable; the others are used all the same."""
    drawn = "\n".join(f"{n:>6}→line {n} of the file" for n in range(1, 40))
    lookalike = "     1→x\n2\ty\n"  # decodes to something else
    hits = "\n".join(f"src/server/queue.py:{n}:the first words" for n in range(1, 90))
    text = f"{drawn}\n{lookalike}\n{hits}"
    result = reencode(text, len)
    assert result is not None
    assert "numbered" not in result.by
    assert "search_hits" in result.by
    assert undo(result.text, result.by, text)


def test_a_table_can_be_used_without_some_of_its_codecs() -> None:
    table = CodecTable()
    view = "\n".join(f"{n:>6}→line {n} of the file" for n in range(1, 30))
    assert table.reencode(RECORDS, estimate_tokens, without=table.not_for_files) is None
    assert table.reencode(view, estimate_tokens, without=table.not_for_files) is not None
    assert table.reencode(RECORDS, estimate_tokens) is not None


def test_what_is_known_of_a_text_is_forgotten_with_the_counts() -> None:
    table = CodecTable()
    assert table.reencode(RECORDS, estimate_tokens) is not None
    assert table.reencode(RECORDS, lambda _: 1) is not None  # as it was counted first
    table.forget()
    assert table.reencode(RECORDS, lambda _: 1) is None


@given(st.lists(st.sampled_from(LINES), max_size=60))
def test_mixed_lines_come_back(lines: list[str]) -> None:
    text = "\n".join(lines)
    result = reencode(text, len)
    if result is not None:
        assert undo(result.text, result.by, text)
        assert len(result.text) < len(text)
        assert long_numbers(result.text) <= long_numbers(text)  # no value is invented


def test_texts_of_less_than_forty_characters_are_left_alone() -> None:
    assert reencode(f"{'x' * 29}{' ' * 10}", len) is None
    assert reencode(f"{'x' * 30}{' ' * 10}", len) is not None
