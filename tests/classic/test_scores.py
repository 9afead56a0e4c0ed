"""Points for sentences and messages, as the contract gives them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.classic.others import correction_signal
from refold.classic.others import score_importance as importance_of
from refold.classic.others import score_signals as signals_of
from refold.classic.sentences import is_filler
from refold.classic.texts import View
from tests.classic import best_sentence_score
from tests.conversations import texts


def score_importance(several: list[str]) -> list[float]:
    return importance_of([View(text) for text in several])


@pytest.mark.parametrize(
    ("sentence", "score"),
    [
        ("It rained.", 0),
        ("It was calm at the pier when the old boat came in.", 2),  # 40 to 120 characters
        ("Use getTide.", 3),
        ("Use TideBox.", 3),
        ("Use tide_box.", 3),
        ("Use getTide, TideBox and tide_box.", 9),
        ("It took 250 ms.", 2),
        ("It took 3 seconds and 4 retries.", 4),
        ("It grew by 12%.", 2),
        ("The kml is old.", 2),
        ("FAIL.", 3),
        ("PASS and ERROR and WARN.", 9),
        ("It must go.", 4),
        ("It must never go.", 4),  # emphasis counts once
        ("Great, it works.", -10),
        ("Sure.", -10),
        ("Okay, use getTide.", -7),
    ],
)
def test_points(sentence: str, score: int) -> None:
    assert best_sentence_score(sentence) == score


@pytest.mark.parametrize(
    "sentence",
    [
        "No, do not deploy on Friday.",
        "No.",
        "Yes.",
        "I would not grant the vendor access.",
        "So we never send it.",
        "Okay, but don't restart it.",
        "Well, nobody may see it.",
        "Right, it can’t be moved.",
    ],
)
def test_a_negation_or_an_answer_is_never_filler(sentence: str) -> None:
    assert best_sentence_score(sentence) >= 0


def test_a_place_in_a_file_scores() -> None:
    assert best_sentence_score("See file.ts:42: there.") > best_sentence_score("See file there.")


def test_a_name_inside_a_word_does_not_score() -> None:
    assert best_sentence_score("It is well known.") == 0
    assert best_sentence_score("PASSENGERS wait.") == 0


@pytest.mark.parametrize(
    ("sentence", "points"),
    [
        ("lib/app_main.py:12: x", 2),  # a place, not a name
        ("net.FooBar.BazError: x", 6),
        ("0.5% of 1,200 requests", 4),
        ("The key points noted that", 0),
        ("It follows that it must.", 4 + 3),
        ("We use getTide・3・", 5),
    ],
)
def test_what_belongs_together_counts_once(sentence: str, points: int) -> None:
    assert best_sentence_score(sentence) == points


@pytest.mark.parametrize(
    "sentence", ["Sure.", "ok, it is", "THANK YOU!", "I'll look", "No problem.", "no worries, Ana"]
)
def test_filler(sentence: str) -> None:
    assert is_filler(sentence) or sentence.lower().startswith("no ")
    assert best_sentence_score(sentence) <= 0


@pytest.mark.parametrize(
    "negation", ["not", "never", "nobody", "cannot", "without", "can’t", "nor"]
)
def test_a_negation_makes_it_more_than_filler(negation: str) -> None:
    assert not is_filler(f"Sure, {negation} now.")
    assert not is_filler(f"So we {negation.upper()} go")
    assert is_filler(f"Sure, x{negation}x.")


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Actually it rained.", 0.25),
        ("We must go.", 0.15),
        ("A hard deadline.", 0.1),
        ("Calm sea.", 0.0),
        ("Actually, we must meet the deadline.", 0.4),
    ],
)
def test_signals(text: str, score: float) -> None:
    assert signals_of(View(text)) == score


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        ("Actually, use the south shed.", "explicit_correction"),
        ("Correction: it was nine.", "explicit_correction"),
        ("No, use the south shed.", "negation_directive"),
        ("Instead, use the other one.", "instead_directive"),
        ("Scratch that.", "retraction"),
        ("Please ignore my last message.", "retraction"),
        ("Don't use the old key.", "dont_directive"),
        ("Take not red, but blue.", "not_but_pattern"),
        ("Wait, it is closed.", "wait_correction"),
        ("Sorry, the door was open.", "sorry_correction"),
        ("I was wrong about it.", "self_correction"),
        ("Let me rephrase it.", "rephrase"),
    ],
)
def test_corrections(text: str, signal: str) -> None:
    assert correction_signal(View(text)) == signal


@pytest.mark.parametrize(
    "text",
    [
        "The search should ignore upper and lower case.",
        "It was actually quite warm.",
        "He waited at the pier.",
        "We use the north shed.",
        "",
    ],
)
def test_no_correction(text: str) -> None:
    assert correction_signal(View(text)) == ""


def test_importance_grows_with_later_mentions() -> None:
    scores = score_importance(
        ["getTide reads the gauge.", "It is calm.", "Call getTide.", "getTide again.", "Nothing."]
    )
    assert scores[0] == max(scores)
    assert scores[0] >= 0.5
    assert scores[1] < 0.1


def test_importance_of_nothing_and_of_one() -> None:
    assert score_importance([]) == []
    assert score_importance(["calm"]) == [0.0]
    assert score_importance(["a", "b"]) == [0.0, 0.1]


@settings(max_examples=60)
@given(st.lists(texts(), max_size=8))
def test_importance_is_a_share(several: list[str]) -> None:
    scores = score_importance(several)
    assert len(scores) == len(several)
    assert all(0 <= score <= 1 for score in scores)


def test_the_best_sentence_counts() -> None:
    assert best_sentence_score("It rained. Use getTide. It must go.") == 4
    assert best_sentence_score("") == best_sentence_score(" \n") == 0
