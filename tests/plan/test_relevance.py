"""What an item is worth: learned for agents, by rarity in plain talk."""

from __future__ import annotations

from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.plan.item_index import ItemIndex, ItemStats, Voice
from refold.plan.relevance import (
    BUCKETS,
    VALUES,
    WORDS,
    Turn,
    Weights,
    bucket_first,
    bucket_items,
    bucket_last,
    learned_relevance,
    learned_weights,
    rows_of,
    talk_relevance,
)
from refold.scan.items import Shape

_VOICES = (Voice.USER, Voice.ASSISTANT, Voice.TOOL)
_ITEMS = ("src/a.py", "harbour", "Harbour", "#W42", "数据", "user_id", "Maria", "7", "os.path")
_said = st.lists(
    st.tuples(
        st.sampled_from(_VOICES),
        st.lists(st.sampled_from(_ITEMS), max_size=9),
        st.integers(0, 10**7),
    ),
    max_size=30,
)


def listen(said: list[tuple[Voice, list[str], int]]) -> tuple[ItemStats, list[Turn]]:
    index = ItemIndex()
    turns = [Turn(voice, size, size // 4) for voice, _, size in said]
    for number, (voice, items, _) in enumerate(said):
        words = " ".join(items)
        index.add_text(number, voice, words, [len(words)])
    return index.stats(), turns


def level(bias: float = 0.0) -> dict[str, dict[str, list[float]]]:
    """Return weights by which all items of a class have the same chance."""
    return {
        class_: {"bias": [bias], **{trait: [0.0] * count for trait, count in traits.items()}}
        for class_, traits in BUCKETS.items()
    }


def worth_of(
    said: list[tuple[Voice, list[str], int]], weights: Weights, share: float
) -> dict[str, float]:
    stats, turns = listen(said)
    relevance = learned_relevance(stats, turns, weights, share)
    return {item: relevance[row] for item, row in stats.number.items()}


@given(_said)
def test_every_grade_has_its_points(said: list[tuple[Voice, list[str], int]]) -> None:
    stats, turns = listen(said)
    for class_, rows in rows_of(stats).items():
        own = bucket_items(stats, turns, class_, rows)
        graded = {**bucket_last(turns), **bucket_first(turns), **own}
        assert graded.keys() == BUCKETS[class_].keys()
        assert all(len(grades) == len(rows) for grades in own.values())
        for trait, grades in graded.items():
            assert all(0 <= grade < BUCKETS[class_][trait] for grade in grades)


def test_a_very_long_run_has_grades_too() -> None:
    items = ["src/a.py", "harbour"]
    said = [(_VOICES[n % 3], items * (n % 5), n * 1000) for n in range(3_000)]
    stats, turns = listen(said)
    for class_, rows in rows_of(stats).items():
        graded = {
            **bucket_last(turns),
            **bucket_first(turns),
            **bucket_items(stats, turns, class_, rows),
        }
        assert all(max(grades) < BUCKETS[class_][trait] for trait, grades in graded.items())


def test_a_name_is_on_both_cards() -> None:
    stats, _ = listen([(Voice.USER, ["src/a.py", "harbour", "Maria", "数据"], 50)])
    names = list(stats.number)
    in_class = {class_: {names[row] for row in rows} for class_, rows in rows_of(stats).items()}
    assert in_class == {VALUES: {"src/a.py", "Maria"}, WORDS: {"harbour", "Maria", "数据"}}


def test_a_word_is_counted_with_its_other_spelling() -> None:
    said = [(Voice.USER, [item], 50) for item in ("Harbour", "harbour", "harbour", "Maria")]
    stats, turns = listen(said)
    rows = rows_of(stats)[WORDS]
    names = [list(stats.number)[row] for row in rows]
    counts = dict(zip(names, bucket_items(stats, turns, WORDS, rows)["shape_turns"], strict=True))
    assert counts["Harbour"] % 5 == counts["harbour"] % 5 == 3
    assert counts["Maria"] % 5 == 1


def test_the_points_that_ship_are_complete() -> None:
    weights = learned_weights()
    assert weights.keys() == BUCKETS.keys()
    for class_, traits in BUCKETS.items():
        assert weights[class_].keys() == {"bias", *traits}
        assert len(weights[class_]["bias"]) == 1
        for trait, count in traits.items():
            assert len(weights[class_][trait]) == count
            assert all(map(isfinite, weights[class_][trait]))


@given(_said, st.floats(-1, 2))
def test_what_is_no_word_is_worth_a_chance(
    said: list[tuple[Voice, list[str], int]], share: float
) -> None:
    stats, turns = listen(said)
    relevance = learned_relevance(stats, turns, learned_weights(), share)
    assert len(relevance) == len(stats.shape)
    for worth, shape in zip(relevance, stats.shape, strict=True):
        assert worth >= 0.0
        assert isfinite(worth)
        assert worth <= 1.0 or shape >= Shape.WORD


def test_points_add_up_to_a_chance() -> None:
    said = [(Voice.USER, ["src/a.py"], 100), (Voice.USER, ["src/b.py"], 100)]
    assert worth_of(said, level(), 0.1) == {"src/a.py": 0.5, "src/b.py": 0.5}
    weights = level()
    weights[VALUES]["task"] = [0.0, 50.0]
    assert worth_of(said, weights, 0.1) == {"src/a.py": pytest.approx(1.0), "src/b.py": 0.5}


def test_all_words_together_are_worth_a_share_of_all_values() -> None:
    values = [f"src/file_{number}.py" for number in range(40)]
    few, many = [f"wo{'r' * n}d" for n in range(4)], [f"wo{'r' * n}d" for n in range(40)]
    for words in (few, many):
        relevance = worth_of([(Voice.USER, [*values, *words], 100)], level(), 0.1)
        by_values, by_words = (sum(relevance[item] for item in items) for items in (values, words))
        assert 0.6 * by_values < by_words < by_values


def test_words_count_more_when_there_is_little_room() -> None:
    said = [(Voice.USER, ["src/a.py", "harbour"], 100)]
    relevance = [worth_of(said, level(-3.0), share) for share in (1.0, 0.5, 0.3, 0.2, 0.1, 0.0)]
    beside = [one["harbour"] / one["src/a.py"] for one in relevance]
    assert beside == sorted(beside)
    assert 0.0 < beside[0] < beside[2] < beside[-1]


def test_with_much_room_chances_are_nearer_to_each_other() -> None:
    weights = level(-3.0)
    weights[VALUES]["task"] = [0.0, 2.0]
    said = [(Voice.USER, ["src/a.py"], 100), (Voice.USER, ["src/b.py"], 100)]
    little, much = (worth_of(said, weights, share) for share in (0.1, 0.5))
    assert little["src/a.py"] / little["src/b.py"] > much["src/a.py"] / much["src/b.py"] > 1.0


@given(_said)
def test_talk_is_worth_something_everywhere(said: list[tuple[Voice, list[str], int]]) -> None:
    stats, turns = listen(said)
    relevance = talk_relevance(stats, turns)
    assert len(relevance) == len(stats.shape)
    assert all(worth > 0.0 for worth in relevance)


def test_in_talk_what_was_taken_up_again_beats_what_everybody_says_all_the_time() -> None:
    said = [(Voice.USER, ["often"], 50) for _ in range(40)]
    said[3][1].append("twice")
    said[20][1].append("twice")
    said[7][1].append("once")
    stats, turns = listen(said)
    relevance = talk_relevance(stats, turns)
    once, twice, often = (relevance[stats.number[item]] for item in ("once", "twice", "often"))
    assert twice > once > often


def test_in_talk_what_a_user_asked_for_beats_what_was_told() -> None:
    said = [(Voice.USER, ["42"], 50), (Voice.ASSISTANT, ["97"], 50), (Voice.USER, ["ferry"], 50)]
    stats, turns = listen(said)
    relevance = talk_relevance(stats, turns)
    asked, told, word = (relevance[stats.number[item]] for item in ("42", "97", "ferry"))
    assert asked > 2 * told
    assert asked > 2 * word


def test_a_short_talk_is_about_what_was_said_last() -> None:
    for count, most in ((10, 5.0), (600, 1.5)):
        said = [(Voice.USER, [f"a{'b' * number}"], 50) for number in range(9)]
        said += [(Voice.USER, [], 50)] * (count - 10) + [(Voice.USER, ["latest"], 50)]
        stats, turns = listen(said)
        relevance = talk_relevance(stats, turns)
        assert 1.0 < relevance[stats.number["latest"]] / relevance[stats.number["abb"]] < most


def test_in_talk_a_value_is_worth_more_than_a_word() -> None:
    stats, turns = listen([(Voice.USER, ["harbour", "#W42"], 50), (Voice.USER, [], 50)])
    word, value = talk_relevance(stats, turns)
    assert value > word
