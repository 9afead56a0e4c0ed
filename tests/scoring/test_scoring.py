"""Points for sentences and messages, as the contract gives them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.scoring import sentence as scoring
from refold.scoring.importance import score_importance
from refold.scoring.sentence import SentenceScorer, score_sentence, score_spans
from refold.scoring.signals import correction_signal, score_signals
from refold.text.sentences import find_sentences
from refold.text.words import loop_words
from tests.conversations import texts


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


@settings(max_examples=80, deadline=None)
@given(texts())
def test_spans_score_as_alone(text: str) -> None:
    spans = [(s.start, s.end) for s in find_sentences(text)]
    scores = score_spans(text, spans)
    assert len(scores) == len(spans)
    for (start, end), score in zip(spans, scores, strict=True):
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


@settings(max_examples=60, deadline=None)
@given(st.lists(texts(), max_size=8))
def test_importance_is_a_share(several: list[str]) -> None:
    scores = score_importance(several)
    assert len(scores) == len(several)
    assert all(0 <= score <= 1 for score in scores)


# Word by word is the same as the whole sentence.

SIGNS = st.sampled_from(
    (
        *(
            "getTide ",
            "TideBox, ",
            "tide_box",
            "npm ",
            "PASS ",
            "FAIL: ",
            "ValueError: ",
            "Warning: ",
        ),
        *(
            "12 ms ",
            "3.9 kB)",
            "30 requests/a.py ",
            "5 MB.fooError: ",
            "a.b:12: ",
            "12% ",
            "3个",
            "7 ",
        ),
        *(
            "must ",
            "however, ",
            "note that ",
            "noted ",
            "it follows that ",
            "as a result ",
            "thus ",
        ),
        *(
            "key point",
            "given ",
            "that ",
            "Sure, ",
            "So ",
            "no ",
            "the ",
            "ſure ",
            "K ",
            "\n",
            ". ",
        ),
        *("MB", "seconds ", "MUST-have ", "must've ", "这是。", "’", "'", "-", "x", "8"),
    )
)
signs = st.lists(SIGNS, max_size=20).map("".join)


def by_pattern(text: str, spans: list[tuple[int, int]]) -> list[int]:
    """Search the whole text with each pattern, and see in which sentence a sign begins."""
    scores = []
    for start, end in spans:
        found = [m for m in scoring._SIGNS.finditer(text) if start <= m.start() < end]
        score = sum(scoring._WEIGHTS[m.lastgroup or ""] for m in found)
        for pattern, points in ((scoring._EMPHASIS, 4), (scoring._INFERENCE, 3)):
            score += points * any(start <= m.start() < end for m in pattern.finditer(text))
        score += 2 * (40 <= end - start <= 120)
        if scoring._FILLER.match(text, start, end):
            score -= 10 * (scoring._NEGATION.search(text, start, end) is None)
        scores.append(score)
    return scores


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(signs, texts()), max_size=3))
def test_scores_are_those_of_the_patterns(several: list[str]) -> None:
    scorer = SentenceScorer()
    for text in (*several, *several):
        spans = [(s.start, s.end) for s in find_sentences(text)]
        assert scorer.score_spans(text, spans) == by_pattern(text, spans)


def test_a_unit_on_the_next_line_counts() -> None:
    text = "Limit: 12\nMB are free"
    assert score_spans(text, [(0, 9), (10, 21)]) == by_pattern(text, [(0, 9), (10, 21)])
    assert score_spans(text, [(0, 9)]) == [2]


@settings(max_examples=200, deadline=None)
@given(st.one_of(signs, texts()))
def test_words_that_are_passed_over_score_nothing(text: str) -> None:
    kept = set(loop_words(text, scoring._TELLING))
    for word in set(text.split()) - kept:
        assert scoring._mark(word) == 0


def test_a_scorer_does_not_remember_without_end() -> None:
    scorer = SentenceScorer()
    for start in range(0, 120_000, 20_000):
        text = " ".join(f"item_{n}" for n in range(start, start + 20_000))
        assert scorer.score_spans(text, [(0, len(text))]) == [60_000]
    assert len(scorer._known) < 80_000
