"""Signs of worth: each way to find them gives the points that the patterns give."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.scan import sentence_score as scoring
from refold.scan.sentence_score import FILLER_PENALTY, FILLERS, is_filler, score_sentences
from refold.scan.sentences import sentence_spans
from tests.conversations import texts
from tests.scan.scores import score_sentence

NAMES = "getTide TideBox tide_box TIDE_BOX B2 B2X_Y B2Xy npm TCP BCd aB bC x_ _x a1_b X_1 mB kB"
QUANTITIES = "12% 3个 5ms 1,200ms 1,2漢a 1.2漢a 3.9kB 30 7 8ms个 1,5% .5ms 12MB 5.ms"
WORDS = (
    "must Must MUST-have must've must_have however, thus hence, noted note given never的 的never"
)
COMPOUNDS = (
    "a.b:12: a.py:3 src/a-b.py:12:4: ./a.py:3: a..b:3: a.b:1.c:2: x:3: a.b:c:1: 漢.py:3: 1.2:3: "
    "ValueError: net.FooError: Foo.bar.Error: PASS.FooError: x.PASS: Warning: morning: Option: "
    "Foo漢Error: 5ms.FooError: Foo-BarError: FooError:12: MB.fooError: requests/a.py:3: ms.b:3:"
)
PHRASES = (
    *("note that", "key point", "in particular", "it follows that", "we can infer", "as a result"),
    *("this means that", "given that", "in conclusion", "we can", "this"),
)
LETTERS = (
    *"aAbBxX09_-./:,%()'\"`*!? \t\n",
    *(
        "é",
        "漢",
        "か",
        "・",
        "个",
        "한",
        "ж",
        "م",
        "ि",
        "\u0301",
        "🙂",
        "\u0130",
        "\u0131",
        "\u017f",
    ),
    *("\u212a", "—", "’", "…", "\xa0", "\u2028", "\x1c", "²", "½", "。", "，", "\ud800"),
)
PIECES = st.sampled_from(
    (
        *(*NAMES.split(), *QUANTITIES.split(), *WORDS.split(), *COMPOUNDS.split()),
        *(*PHRASES, *LETTERS, "PASS", "FAIL", "WARNING", "ms", "MB", "seconds", "Retries", "nodes"),
        *(" ", "  ", ". ", "\n"),
    )
)
noise = st.one_of(
    st.lists(PIECES, max_size=12).map("".join),
    st.lists(PIECES, max_size=12).map(" ".join),
    st.text(st.sampled_from(LETTERS), max_size=40),
    st.text(max_size=40),
    texts(),
)
thorough = settings(max_examples=100)


def count_points(text: str, start: int, end: int) -> int:
    """Return the points for all features of a sentence of *text*, one pattern after the other."""
    found = scoring.FEATURES.finditer(text, start, end + scoring.LONGEST_UNIT)
    points = [scoring.WEIGHTS[one.lastgroup or ""] for one in found if one.start() < end]
    is_emphatic = scoring.EMPHASIS.search(text, start, end) is not None
    infers = scoring.INFERENCE.search(text, start, end) is not None
    return sum(points) + 4 * is_emphatic + 3 * infers


def score(text: str, start: int, end: int) -> int:
    """Return what a sentence of *text* is worth, size and filler included."""
    is_good_size = scoring.SHORTEST <= end - start <= scoring.LONGEST
    extra = scoring.SIZE_POINTS * is_good_size + FILLER_PENALTY * is_filler(text, start, end)
    return count_points(text, start, end) + extra


@thorough
@given(noise)
def test_the_score_is_what_each_pattern_gives(text: str) -> None:
    for start, end, _ in sentence_spans(text):
        assert score_sentences(text, [(start, end, 0)]) == [score(text, start, end)]


@thorough
@given(
    st.sampled_from((*FILLERS, "\u0130 see", "thank\u017f", "o\u212a", "nowhere", "than")),
    st.sampled_from((str.lower, str.upper, str.title)),
    st.lists(
        st.sampled_from((*",. !?\n\xa0\u2028né", " not", " doN'T", " Without")), max_size=6
    ).map("".join),
)
def test_filler_is_known_by_its_first_letters(
    opening: str, case: Callable[[str], str], rest: str
) -> None:
    text = case(opening) + rest
    assert score_sentence(text) == score(text, 0, len(text))


@thorough
@given(noise)
def test_long_sentences_have_the_same_features(text: str) -> None:
    for start, end, _ in sentence_spans(text):
        by_pattern = scoring.count_features(text, start, end)
        assert scoring.count_in_long(text, start, end) == by_pattern


@pytest.mark.parametrize(
    ("sentence", "points"),
    [
        ("lib/app_main.py:12: x", 2),  # a place, not a name
        ("lib/app_main.py:12 x", 3),
        ("./lib/app_main.py:12: x", 3),
        ("net.FooBar.BazError: x", 6),  # from the first capital on
        ("netBox.BazError: x", 3 + 6),
        ("Net.FooBar.BazError: x", 6),
        ("net.FooError:12: x", 2),
        ("PASS.FooError: x", 3 + 6),
        ("5 MB.fooError: x", 2 + 3),  # the unit belongs to the number
        ("12 ms.py:3: x", 2),
        ("1,200漢a.py:3: x", 2),
        ("用了12个getTide吗 x", 2),
        ("用getTide。", 3),
        ("用getTide・3・", 3 + 2),  # no word character, but what numbers stand before
        ("It took 3 \u017feconds.", 2),  # an s in disguise
        ("It took 3 naïve seconds.", 0),
        ("0.5% of 1,200 requests", 4),
        ("The key point: note  that", 4),
        ("The key points noted that", 0),
        ("It follows that it must.", 4 + 3),
    ],
)
def test_what_belongs_together_counts_once(sentence: str, points: int) -> None:
    assert count_points(sentence, 0, len(sentence)) == points


@pytest.mark.parametrize(
    ("words", "points"),
    [
        ("importantly however critical crucial essential significant notably specifically", 4),
        ("must require required requires never always", 4),
        ("therefore hence thus consequently accordingly", 3),
        ("PASS FAIL ERROR WARNING WARN", 3),
        ("note point particular follows conclude means result given pass noted", 0),
    ],
)
def test_each_telling_word_counts_alone(words: str, points: int) -> None:
    assert {word: count_points(word, 0, len(word)) for word in words.split()} == dict.fromkeys(
        words.split(), points
    )


@pytest.mark.parametrize("unit", "second seconds ms MB gb TB kB retry nodes requests".split())
def test_a_unit_makes_a_number_a_quantity(unit: str) -> None:
    assert count_points(f"3 {unit}", 0, 2 + len(unit)) == 2


@pytest.mark.parametrize(
    ("sentence", "points"),
    [
        ("It is cr\u0131t\u0130cal.", 4),
        ("Thu\u017f it is.", 3),
        ("\u212aey point: the a\u017f a re\u017fult.", 4 + 3),
        ("In part\u0130cular, th\u0131\u017f mean\u017f that.", 4 + 3),
        ("A cr\u0131ticality", 0),
        ("cr\u0131tical\u6f22", 0),
        ("np\u017f and \u212a\u212a\u212a and B\u017fD", 2 + 2 + 2),
        ("\u017f\u017f and np\u0131", 0),
        ("bC\u017f", 2),
        ("tideBox\u017f", 0),
        ("3 \u212aB, 5retr\u0130es, 7 \u0131", 2 + 2),
        ("\u017f.FooError: x", 6),
        ("Foo\u017f.Bar\u017fError: x", 6),
        ("a\u017f.py:3: x", 2),
    ],
)
def test_letters_in_disguise_count_as_what_they_are(sentence: str, points: int) -> None:
    assert count_points(sentence, 0, len(sentence)) == points


@pytest.mark.parametrize(
    "piece", ["A.", "A.\u017f.", "A\u212a.", "A漢", "Foo.Bar5ms.", "PASS.", "A.b_c,D."]
)
@pytest.mark.parametrize("tail", ["", "FooError: x", " 5 mB", " 12"])
def test_long_dotted_words_count_the_same(piece: str, tail: str) -> None:
    text = piece * 600 + tail
    by_pattern = count_points(text, 0, len(text))
    assert scoring.count_in_long(text, 0, len(text)) == by_pattern
