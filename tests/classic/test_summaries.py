"""Shortening prose, prose around code, and the output of tools."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.classic.sentences import (
    JOINT,
    Sentences,
    char_budget,
    join,
    pack,
    read,
)
from refold.classic.sentences import summarize as summarize_all
from refold.classic.structured import cut_json, is_structured, shorten_around, summarize_structured
from refold.classic.texts import View
from refold.options import Depth
from tests.classic import compress, split_sentences
from tests.conversations import texts

HERON = (
    "A gray heron stood on the pier for an hour. It caught nine small fish before the rain came. "
    "Then it flew off over the old mill. "
)


def sentences_of(text: str) -> Sentences:
    return read(View(text))


def summarize(text: str, budget: int) -> str:
    return summarize_all([sentences_of(text)], budget)


# budgets


@pytest.mark.parametrize(
    ("length", "gentle", "moderate", "aggressive"),
    [
        (0, 200, 100, 40),
        (500, 200, 100, 40),
        (1_000, 300, 150, 50),
        (1_001, 300, 150, 50),
        (1_005, 302, 151, 50),
        (2_000, 600, 300, 100),
        (5_000, 600, 400, 120),
        (50_000, 1_050, 400, 120),
        (500_000, 1_500, 400, 120),
    ],
)
def test_the_room_for_a_summary(length: int, gentle: int, moderate: int, aggressive: int) -> None:
    assert char_budget(length) == char_budget(length, "gentle") == gentle
    assert char_budget(length, "moderate") == moderate
    assert char_budget(length, "aggressive") == aggressive


@given(st.integers(0, 10**7), st.integers(0, 10**4))
def test_longer_texts_get_no_less_room(length: int, more: int) -> None:
    for depth in ("gentle", "moderate", "aggressive"):
        assert char_budget(length, depth) <= char_budget(length + more, depth)
    assert char_budget(length, "aggressive") <= char_budget(length, "moderate")
    assert char_budget(length, "moderate") <= char_budget(length, "gentle")


# prose


def test_sentences_are_joined_in_reading_order() -> None:
    text = "It rained. We must call getTide first. The mill is old. Pavel waited 3 seconds."
    assert summarize(text, 60) == "We must call getTide first. ... Pavel waited 3 seconds."


def test_every_paragraph_gets_a_word_in_first() -> None:
    text = (
        "Use getTide and getMoon. Use getSun and getRain.\n\nThe mill is old.\n\nThe pier is new."
    )
    assert summarize(text, 70) == JOINT.join(
        ("Use getTide and getMoon.", "The mill is old.", "The pier is new.")
    )


def test_the_same_sentence_is_said_once() -> None:
    assert summarize(HERON * 3, 600) == summarize(HERON, 600)


def test_filler_is_left_out() -> None:
    assert summarize("Great, thanks a lot. The mill is old.", 200) == "The mill is old."


def test_a_sentence_that_does_not_fit_is_cut_at_a_word() -> None:
    summary = summarize("The " + "very " * 60 + "old mill.", 40)
    assert summary.endswith("very...")
    assert len(summary) <= 40


def test_wrapped_lines_are_joined() -> None:
    text = (
        "The harbour office opens at nine and the clerk sorts the letters before the\n"
        "ferry comes in."
    )
    assert "\n" not in summarize(text, 200)


def test_a_repeated_sentence_counts_where_it_is_said_first() -> None:
    units = sentences_of("The mill is old.\n\nUse it. The mill is old.")
    assert units.texts == ["The mill is old.", "Use it."]
    assert list(units.paragraphs) == [0, 1]


def test_among_equals_a_few_cover_the_whole_text() -> None:
    text = " ".join(f"The {tree} is old." for tree in ("fir", "oak", "elm", "ash", "yew"))
    assert summarize(text, 40) == "The fir is old. ... The yew is old."
    assert summarize(text, 60).startswith("The fir is old. ... The elm is old.")


def test_texts_are_numbered_through() -> None:
    one, two = sentences_of("It rained. It was cold."), sentences_of("Calm.\n\nWarm.")
    both = join([one, sentences_of(""), two])
    assert both.texts == ["It rained.", "It was cold.", "Calm.", "Warm."]
    assert list(both.paragraphs) == [0, 0, 1, 2]
    assert join([one]) is one


def test_each_text_has_its_best_sentence_in_and_nothing_twice() -> None:
    one, two = sentences_of("Calm. The gate at tide_7 failed."), sentences_of("Calm. Quiet.")
    assert summarize_all([one, sentences_of(""), two], 0) == "The gate at tide_7 failed. ... Calm."
    assert summarize_all([two, two], 0) == "Calm."


@settings(max_examples=100)
@given(st.text(st.sampled_from("ab. \n\t\r\xa0\u2028é漢"), max_size=40))
def test_units_have_no_white_space_but_single_blanks_if_they_were_wrapped(text: str) -> None:
    wrapped = {" ".join(said.split()) for said in split_sentences(text) if "\n" in said}
    plain = {said for said in split_sentences(text) if "\n" not in said}
    assert set(sentences_of(text).texts) == wrapped | plain


@settings(max_examples=120)
@given(texts(), st.integers(20, 700))
def test_a_summary_keeps_its_budget_and_invents_nothing(text: str, budget: int) -> None:
    units = sentences_of(text)
    summary = summarize(text, budget)
    assert len(summary) <= budget
    assert len(JOINT.join(units.texts[place] for place in pack(units, budget))) <= budget
    plain = " ".join(text.split())
    for piece in summary.removesuffix("...").split(JOINT):
        assert " ".join(piece.split()) in plain or JOINT.strip() in text


# around code


def around(text: str, depth: Depth) -> str:
    return shorten_around(
        text,
        lambda chars: char_budget(chars, depth),
        lambda prose, room: f"[{summarize(prose, room)}]",
    )


def test_code_stays_in_its_place() -> None:
    code = "```py\nx = 1\n```"
    text = f"{HERON * 6}\n\n{code}\n\n{HERON * 4}\n\n{code}\n\nBye now."
    short = around(text, "gentle")
    assert short.count(code) == 2
    assert len(short) < len(text)
    first, second, third = short.split(code)
    assert first.startswith("[")
    assert first.rstrip().endswith("]")
    assert second.strip().startswith("[")
    assert third == "\n\nBye now."


def test_short_prose_around_code_stays() -> None:
    text = "Run this:\n```\nmake\n```\nDone."
    assert around(text, "aggressive") == text


def test_an_unclosed_fence_is_code_to_the_end() -> None:
    rest = "```py\nx = 1\n" + HERON * 5
    short = around(f"{HERON * 6}\n{rest}", "gentle")
    assert short.endswith(rest)


@settings(max_examples=80)
@given(texts(), texts(), st.sampled_from(("gentle", "moderate", "aggressive")))
def test_code_is_never_touched(before: str, after: str, depth: str) -> None:
    code = "```py\nwater_the_plants(now=True)\n```"
    text = f"{before.replace('`', '').replace('~', '')}\n\n{code}\n\n{after}"
    result = compress(
        [{"role": "user", "content": text}], recency_window=0, compression_depth=depth
    )
    assert code in result.messages[0]["content"]


# the output of tools

GREP = [
    "src/a.ts:1: one",
    "src/b.ts:2: two",
    "src/b.ts:9: three",
    "src/c.ts:3: four",
    "src/d.ts:4: five",
]


def test_the_example_of_the_reference() -> None:
    text = "\n".join((*GREP, "PASS all good here", "Tests: 4 passed, 1 failed"))
    assert is_structured(text)
    assert summarize_structured(text, 600) == (
        "files: src/a.ts, src/b.ts, src/c.ts +1 more | Tests: 4 passed, 1 failed | "
        "PASS all good here"
    )


def test_six_hits_in_four_files() -> None:
    text = "\n".join(f"lib/{name}.py:{n}: hit" for n, name in enumerate("xyzwxy"))
    assert summarize_structured(text, 600) == "files: lib/x.py, lib/y.py, lib/z.py +1 more"


@pytest.mark.parametrize(
    "line", ["a.py :12: x", "two words.py:1: x", "a.py:٣: x", "makefile:3: x", "a.py:x: 1"]
)
def test_what_only_looks_like_a_hit_names_no_file(line: str) -> None:
    assert "files: " not in summarize_structured("\n".join([line] * 6), 600)


@pytest.mark.parametrize(
    ("line", "tells"),
    [("2 Failed", True), ("errors: no", False), ("é error", True), ("paſſed", True), ("é", False)],
)
def test_status_is_told_in_whole_words_of_any_case(line: str, tells: bool) -> None:
    text = "\n".join([f"key {number}" for number in range(6)] + [line])
    assert (summarize_structured(text, 600) == line) is tells


def test_without_files_or_status_the_ends_are_shown() -> None:
    text = "\n".join(f"key {n}: value" for n in range(8))
    assert summarize_structured(text, 600) == (
        "key 0: value | key 1: value | key 2: value | ... | key 7: value (8 lines)"
    )


def test_status_lines_are_shown_once_and_only_three() -> None:
    lines = ["ERROR a", "ERROR a", "WARN b", "FAIL c", "PASS d", "OK e", "SKIP f"]
    assert summarize_structured("\n".join(lines), 600) == "ERROR a | FAIL c | WARN b"


def test_over_budget_is_cut() -> None:
    text = "\n".join(f"ERROR {'long ' * 20}{n}" for n in range(6))
    short = summarize_structured(text, 50)
    assert len(short) <= 50
    assert short.endswith("...")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\n".join(["key: value"] * 6), True),
        ("\n".join(["key: value"] * 5), False),
        ("\n".join([" - item"] * 6), True),
        ("\n".join([" • item"] * 6), True),
        ("\n".join(["PASS x"] * 6), True),
        ("\n".join(["PASSENGER x"] * 6), False),
        ("\n".join(["key: value"] * 3 + ["prose here"] * 3), False),
        ("\n".join(["key: value"] * 4 + ["prose here"] * 3), True),
        ("\n".join(["key: " + "long " * 40] * 6), False),
        ("\n\n".join(["a.b:1: x"] * 6), True),
        ("", False),
    ],
)
def test_what_is_line_by_line_output(text: str, expected: bool) -> None:
    assert is_structured(text) is expected


def test_in_a_conversation() -> None:
    text = "\n".join(f"lib/part_{name}/module.py:{n}: a hit" for n, name in enumerate("xyzwxyab"))
    result = compress([{"id": "m", "role": "tool", "content": text}], recency_window=0)
    assert result.messages[0]["content"].startswith("[summary: files: lib/part_x/module.py, ")


def test_failures_and_counts_come_before_what_passed() -> None:
    lines = [f"PASS src/part_{n}.test.ts" for n in range(8)]
    lines += [
        "FAIL src/login.test.ts",
        "  ● login › rejects an empty name",
        "Tests: 1 failed, 8 passed",
    ]
    short = summarize_structured("\n".join(lines), 600)
    assert short.startswith(
        "FAIL src/login.test.ts | ● login › rejects an empty name | Tests: 1 failed"
    )


def test_no_failures_are_none() -> None:
    lines = [*[f"PASS {name}" for name in "abcdef"], "0 failures, no errors", "ERROR: it broke"]
    assert summarize_structured("\n".join(lines), 600).startswith("ERROR: it broke | ")


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=9)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=6), st.dictionaries(st.text(max_size=4), inner, max_size=5)
    ),
    max_leaves=30,
)


@given(st.one_of(st.lists(JSON), st.dictionaries(st.text(max_size=4), JSON)), st.integers(2, 300))
def test_the_beginning_of_json_is_json(value: object, limit: int) -> None:
    text = json.dumps(value)
    short = cut_json(text, limit)
    assert isinstance(json.loads(short), list | dict)
    assert len(short) <= max(limit, 2)


def test_json_ends_after_a_whole_record() -> None:
    rows = [{"name": f"pier {n}", "note": "dry"} for n in range(40)]
    assert json.loads(cut_json(json.dumps({"rows": rows}), 400))["rows"] == rows[:11]
