"""Points for sentences and messages, as the contract gives them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.plan.rules.importance import score_importance
from refold.scan.sentence_score import best_sentence_score, score_sentences
from refold.scan.sentences import find_sentences
from refold.scan.signals import (
    CONSTRAINT,
    CORRECTION,
    CORRECTION_SIGNALS,
    DECISION,
    Signal,
    correction_signal,
    score_signals,
)
from tests.conversations import texts
from tests.scan.scores import score_sentence


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
    assert score_sentence(sentence) == score


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
    assert score_sentence(sentence) >= 0


def test_a_place_in_a_file_scores() -> None:
    assert score_sentence("See file.ts:42: there.") > score_sentence("See file there.")


def test_a_name_inside_a_word_does_not_score() -> None:
    assert score_sentence("It is well known.") == 0
    assert score_sentence("PASSENGERS wait.") == 0


@settings(max_examples=80)
@given(texts())
def test_spans_score_as_alone(text: str) -> None:
    spans = [(s.start, s.end, s.paragraph) for s in find_sentences(text)]
    scores = score_sentences(text, spans)
    assert len(scores) == len(spans)
    for (start, end, _), score in zip(spans, scores, strict=True):
        alone = score_sentence(text[start:end])
        assert abs(score - alone) <= 12  # what stands right beside a sentence may count or not


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
    assert score_signals(text) == score


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
    assert correction_signal(text) == signal


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
    assert correction_signal(text) is None


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


def test_a_unit_on_the_next_line_counts() -> None:
    text = "Limit: 12\nMB are free"
    assert score_sentences(text, [(0, 9, 0), (10, 21, 0)]) == [2, 0]
    assert score_sentences(text, [(0, 9, 0)]) == [2]


SIGNAL_WORDS = (
    "must should require do not don't dont no use it's that's the instead wait sorry not but "
    "scratch that disregard ignore my previous fix is we'll go with we will actually correction "
    "let me correct i was wrong backward compat constraint rather you , . ; : ’ \n \t ſ K ı"
).split(" ")


@given(
    st.lists(st.sampled_from(SIGNAL_WORDS), max_size=9), st.sampled_from((" ", "", "\n", "\x1c"))
)
def test_the_needles_of_a_signal_never_rule_it_out(words: list[str], joint: str) -> None:
    for text in (joint.join(words), joint.join(words).upper()):
        for signal in (DECISION, CORRECTION, CONSTRAINT, *CORRECTION_SIGNALS):
            found = signal.pattern.search(text) is not None
            assert signal.stands_in(text, text.lower()) == found


@pytest.mark.parametrize(
    ("signal", "phrases"),
    [
        (
            DECISION,
            "must|should|require|required|always|never|do not|don't|instead|rather than|"
            "the approach is|the solution is|the fix is|the answer is|decide to|decided to|"
            "we'll use|we will go with",
        ),
        (
            CORRECTION,
            "actually|correction|no use|no, it's|no.\nthat's|no\tthe|scratch that|disregard|"
            "ignore that|wait,|sorry,|instead,|not this, but",
        ),
        (
            CONSTRAINT,
            "constraint|limitation|boundary|deadline|blocker|requirement|prerequisite|dependency|"
            "breaking change|backward compat|backwards compat",
        ),
    ],
)
def test_every_phrase_of_a_signal_is_seen_alone(signal: Signal, phrases: str) -> None:
    for phrase in phrases.split("|"):
        for text in (phrase, phrase.upper()):
            assert signal.stands_in(text, text.lower()), text
