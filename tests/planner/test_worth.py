"""What an item is worth: learned for agents, by rarity in plain talk."""

from __future__ import annotations

from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.planner.items import Shape
from refold.planner.survey import Survey, Voice
from refold.planner.worth import (
    GRADES,
    Turn,
    grade_first,
    grade_items,
    grade_last,
    is_talk,
    learned_points,
    learned_worths,
    talk_worths,
    word_factor,
)

_VOICES = (Voice.USER, Voice.ASSISTANT, Voice.TOOL)
_ITEMS = ("src/a.py", "harbour", "#W42", "数据", "user_id", "Maria", "7", "443", "os.path")
_said = st.lists(
    st.tuples(
        st.sampled_from(_VOICES),
        st.lists(st.sampled_from(_ITEMS), max_size=9),
        st.integers(0, 10**7),
    ),
    max_size=30,
)


def listen(said: list[tuple[Voice, list[str], int]]) -> tuple[Survey, list[Turn]]:
    survey = Survey()
    turns = [Turn(voice, size, size // 4) for voice, _, size in said]
    for number, (voice, items, _) in enumerate(said):
        survey.hear(number, voice, items)
    return survey, turns


@given(_said)
def test_every_grade_has_its_points(said: list[tuple[Voice, list[str], int]]) -> None:
    survey, turns = listen(said)
    graded = {**grade_last(turns), **grade_first(turns), **grade_items(survey, turns)}
    assert graded.keys() == GRADES.keys()
    for trait, grades in graded.items():
        assert all(0 <= grade < GRADES[trait] for grade in grades)


def test_a_very_long_run_has_grades_too() -> None:
    said = [(_VOICES[n % 3], ["src/a.py"] * (n % 5), n * 1000) for n in range(3_000)]
    survey, turns = listen(said)
    graded = {**grade_last(turns), **grade_first(turns), **grade_items(survey, turns)}
    assert all(max(grades) < GRADES[trait] for trait, grades in graded.items())


def test_the_points_that_ship_are_complete() -> None:
    points = learned_points()
    assert points.keys() == {"bias", *GRADES}
    assert len(points["bias"]) == 1
    for trait, count in GRADES.items():
        assert len(points[trait]) == count
        assert all(map(isfinite, points[trait]))


@given(_said, st.floats(0, 1))
def test_a_worth_is_a_chance(said: list[tuple[Voice, list[str], int]], factor: float) -> None:
    survey, turns = listen(said)
    worths = learned_worths(survey, turns, learned_points(), factor)
    assert len(worths) == len(survey.shape)
    for worth, shape in zip(worths, survey.shape, strict=True):
        assert 0.0 <= worth <= (1.0 if shape < Shape.WORD else factor)


def test_points_add_up_to_a_chance() -> None:
    points = {trait: [0.0] * count for trait, count in GRADES.items()} | {"bias": [0.0]}
    survey, turns = listen([(Voice.USER, ["src/a.py", "harbour"], 100)])
    assert learned_worths(survey, turns, points, 0.25) == [0.5, 0.125]
    points["task"] = [0.0, 50.0]
    assert learned_worths(survey, turns, points, 1.0) == pytest.approx([1.0, 1.0])


def test_words_count_more_when_there_is_little_room() -> None:
    factors = [word_factor(budget, 100.0) for budget in (100, 50, 30, 20, 10, 0)]
    assert factors == sorted(factors)
    assert factors[0] == factors[1] < factors[2] < factors[-1] < 1.0
    assert 0.0 < word_factor(10, 0.0) < 1.0


@given(_said)
def test_talk_is_worth_something_everywhere(said: list[tuple[Voice, list[str], int]]) -> None:
    survey, turns = listen(said)
    worths = talk_worths(survey, turns)
    assert len(worths) == len(survey.shape)
    assert all(worth > 0.0 for worth in worths)


def test_in_talk_what_was_taken_up_again_beats_what_everybody_says_all_the_time() -> None:
    said = [(Voice.USER, ["often"], 50) for _ in range(40)]
    said[3][1].append("twice")
    said[20][1].append("twice")
    said[7][1].append("once")
    survey, turns = listen(said)
    worths = talk_worths(survey, turns)
    once, twice, often = (worths[survey.number[item]] for item in ("once", "twice", "often"))
    assert twice > once > often


def test_in_talk_a_value_is_worth_more_than_a_word() -> None:
    survey, turns = listen([(Voice.USER, ["harbour", "#W42"], 50), (Voice.USER, [], 50)])
    word, value = talk_worths(survey, turns)
    assert value > word


@pytest.mark.parametrize(
    ("said", "talk"),
    [
        ([], True),
        ([(Voice.USER, ["harbour", "Maria"], 50)], True),
        ([(Voice.USER, ["harbour", "Maria"], 50), (Voice.TOOL, ["harbour"], 50)], False),
        ([(Voice.USER, ["#W42", "src/a.py", "harbour"], 50)], False),
    ],
)
def test_talk_is_told_from_work(said: list[tuple[Voice, list[str], int]], talk: bool) -> None:
    assert is_talk(*listen(said)) is talk
