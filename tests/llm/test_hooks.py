"""A caller's own scorer of sentences and classifier of words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from refold import ConfigError, TokenVerdict
from tests.classic import compress
from tests.llm.notes import FILLER, Clerk, content, fold, note, notes, plainly, talk

SENTENCES = (
    "The first thing we did was to walk along the water and to look at all the boats.",
    "The second thing was a long talk about the weather and about the price of bread.",
    "The third thing was that somebody had painted the door of the old hall in green.",
    "The fourth thing was the song which they sang while the tea was being made ready.",
    "The fifth thing was a letter from the north which nobody had the time to open.",
    "The sixth thing was that the lamp in the kitchen had been burning all the night.",
)
UNMARKED = "a heading without any mark at the end of it"
SHAPES = {
    "one paragraph": " ".join(SENTENCES),
    "a paragraph each": "\n\n".join(SENTENCES),
    "an unmarked paragraph first": f"{UNMARKED}\n\n{' '.join(SENTENCES)}",
    "an unmarked paragraph in the middle": "\n\n".join(
        (" ".join(SENTENCES[:2]), UNMARKED, " ".join(SENTENCES[2:]))
    ),
    "several unmarked ones": "\n\n".join(
        (UNMARKED, SENTENCES[0], f"another {UNMARKED}", " ".join(SENTENCES[1:4]), *SENTENCES[4:])
    ),
    "the last sentence unmarked": " ".join(SENTENCES)[:-1],
}


def prefer(sentence: str) -> Callable[[Sequence[str]], list[float]]:
    return lambda given: [100.0 if sentence in one else 1.0 for one in given]


class TestScorer:
    @pytest.mark.parametrize("mode", ["replace", "augment"])
    @pytest.mark.parametrize("shape", SHAPES)
    def test_kf_32_indices_never_shift(self, shape: str, mode: str) -> None:
        """The sentence that the scorer likes best is in the summary, wherever it stands."""
        text = SHAPES[shape]
        for sentence in SENTENCES:
            liked = sentence.rstrip(".")
            result = fold(talk(text), entropy_scorer=prefer(liked), entropy_scorer_mode=mode)
            assert liked in content(result), (sentence, content(result))
            assert result.compression.hook_failures == 0

    def test_kf_32_it_sees_every_sentence_in_order_and_nothing_else(self) -> None:
        seen: list[list[str]] = []

        def score(given: Sequence[str]) -> list[float]:
            seen.append(list(given))
            return [1.0] * len(given)

        fold(talk(SHAPES["an unmarked paragraph in the middle"]), entropy_scorer=score)
        assert seen == [[*SENTENCES[:2], UNMARKED, *SENTENCES[2:]]]

    def test_replace_and_augment_differ(self) -> None:
        text = f"{SHAPES['one paragraph']} The getHeader call must never be removed: it is critical"
        worth = {SENTENCES[0]: 1.0, SENTENCES[1]: 0.6}

        def score(given: Sequence[str]) -> list[float]:
            return [0.5 if "getHeader" in one else worth.get(one, 0.0) for one in given]

        made = {
            mode: fold(talk(text), entropy_scorer=score, entropy_scorer_mode=mode)
            for mode in ("replace", "augment")
        }
        assert SENTENCES[0] in content(made["replace"])
        assert "getHeader call" not in content(made["replace"]).partition(" | entities")[0]
        assert "getHeader call" in content(made["augment"])

    @pytest.mark.parametrize("mode", ["replace", "augment"])
    @pytest.mark.parametrize(
        "scores",
        [
            pytest.param(lambda given: [1.0] * (len(given) - 1), id="too few"),
            pytest.param(lambda given: [1.0] * (len(given) + 1), id="too many"),
            pytest.param(lambda given: [], id="none"),
            pytest.param(lambda given: None, id="None"),
            pytest.param(lambda given: 7, id="a number"),
            pytest.param(lambda given: [math.nan] * len(given), id="nan"),
            pytest.param(lambda given: [math.inf, *[1.0] * (len(given) - 1)], id="inf"),
            pytest.param(lambda given: ["high"] * len(given), id="words"),
            pytest.param(lambda given: [None] * len(given), id="Nones"),
            pytest.param(lambda given: [True] * len(given), id="booleans"),
            pytest.param(lambda given: 1 / 0, id="raises"),
        ],
    )
    def test_kf_32_nonsense_is_counted_and_our_own_means_are_used(
        self, scores: Any, mode: str
    ) -> None:
        messages = notes(3)
        result = fold(messages, entropy_scorer=scores, entropy_scorer_mode=mode)
        assert result.messages == plainly(messages)
        assert result.compression.hook_failures == 3

    def test_any_sequence_of_numbers_will_do(self) -> None:
        liked = SENTENCES[4]
        for shape in (tuple, list, iter):
            result = fold(
                talk(" ".join(SENTENCES)),
                entropy_scorer=lambda given, shape=shape: shape(prefer(liked)(given)),
            )
            assert liked in content(result)

    def test_whole_numbers_too(self) -> None:
        result = fold(
            talk(" ".join(SENTENCES)),
            entropy_scorer=lambda given: [int(SENTENCES[3] in one) for one in given],
            entropy_scorer_mode="replace",
        )
        assert SENTENCES[3] in content(result)

    def test_each_text_once_however_many_passes(self) -> None:
        seen: list[str] = []

        def score(given: Sequence[str]) -> list[float]:
            seen.append(given[0])
            raise ValueError("no")

        result = fold(notes(4), entropy_scorer=score, summarizer=lambda text: "", token_budget=200)
        assert len(seen) == len(set(seen))
        assert result.compression.hook_failures == len(seen)

    @pytest.mark.parametrize("name", ["entropy_scorer", "ml_token_classifier"])
    def test_not_a_function(self, name: str) -> None:
        with pytest.raises(ConfigError, match=name):
            compress(notes(1), **{name: 3})

    @pytest.mark.parametrize("name", ["entropy_scorer", "ml_token_classifier", "counter"])
    def test_an_asynchronous_function(self, name: str) -> None:
        async def later(text: str) -> list[float]:
            return []

        with pytest.raises(ConfigError, match=f"{name} must be an ordinary function"):
            compress(notes(1), **{name: later})

    def test_a_mode_that_is_none(self) -> None:
        with pytest.raises(ConfigError, match="entropy_scorer_mode"):
            compress(notes(1), entropy_scorer=prefer("x"), entropy_scorer_mode="mix")


def keep_if(
    wanted: Callable[[str], bool], confidence: float = 1.0
) -> Callable[[str], list[TokenVerdict]]:
    return lambda text: [TokenVerdict(w, wanted(w), confidence) for w in text.split()]


class TestTokenClassifier:
    def test_kept_words_are_the_summary(self) -> None:
        result = fold(talk(note(7)), ml_token_classifier=keep_if(lambda w: w in note(7)[:46]))
        assert content(result).startswith("[summary: The pump in hall 7 was switched off at noon.")
        assert result.compression.hook_failures == 0

    def test_kf_32_what_is_to_be_kept_is_kept_however_unsure(self) -> None:
        for confidence in (0.0, 0.1, 0.49, 0.5, 1.0):
            verdicts = [
                TokenVerdict("Its", keep=False),
                TokenVerdict("gauge", keep=True, confidence=confidence),
                TokenVerdict("reads", keep=False, confidence=0.9),
                TokenVerdict("507", keep=True, confidence=1.0),
                TokenVerdict("mm", keep=True, confidence=confidence),
                TokenVerdict(".", keep=True, confidence=confidence),
            ]
            result = fold(talk(note(7)), ml_token_classifier=lambda text, made=verdicts: made)
            assert content(result).startswith("[summary: gauge 507 mm. | ")

    def test_kf_32_what_is_unsurely_dropped_is_kept(self) -> None:
        verdicts = [
            TokenVerdict("pump", keep=False, confidence=0.3),
            TokenVerdict("hall", keep=True),
            TokenVerdict("7", keep=False, confidence=0.5),
        ]
        result = fold(talk(note(7)), ml_token_classifier=lambda text: verdicts)
        assert content(result).startswith("[summary: pump hall | ")

    def test_a_mapping_with_the_names_of_a_verdict_will_do(self) -> None:
        def classify(text: str) -> list[dict[str, Any]]:
            kept = ("pump", "off")
            return [{"token": w, "keep": w in kept, "confidence": 0.9} for w in text.split()]

        result = fold(talk(note(7)), ml_token_classifier=classify)
        assert content(result).startswith("[summary: pump off | ")

    @pytest.mark.parametrize(
        "classify",
        [
            pytest.param(lambda text: [], id="nothing"),
            pytest.param(keep_if(lambda word: False), id="nothing kept"),
            pytest.param(lambda text: [TokenVerdict("  ", keep=True)], id="white space"),
            pytest.param(keep_if(lambda word: True), id="everything kept"),
            pytest.param(lambda text: [TokenVerdict(text * 2, keep=True)], id="longer"),
            pytest.param(lambda text: None, id="None"),
            pytest.param(lambda text: text.split(), id="bare words"),
            pytest.param(lambda text: [TokenVerdict(3, keep=True)], id="no text"),  # type: ignore[arg-type]
            pytest.param(lambda text: 1 / 0, id="raises"),
            pytest.param(lambda text: [TokenVerdict("PWNED", keep=True)], id="invented"),
            pytest.param(
                lambda text: [TokenVerdict(w, keep=True) for w in ("hall", "pump")], id="reordered"
            ),
            pytest.param(
                lambda text: [TokenVerdict(w, keep=True) for w in ("gauge", "reads", "50")],
                id="half of a number",
            ),
            pytest.param(lambda text: [{"token": "pump"}], id="half of a verdict"),
        ],
    )
    def test_kf_32_nonsense_gives_our_own_summary_never_an_empty_one(self, classify: Any) -> None:
        messages = notes(3)
        result = fold(messages, ml_token_classifier=classify)
        assert result.messages == plainly(messages)
        assert not any("[summary: ]" in str(m["content"]) for m in result.messages)
        assert not any("[summary:  |" in str(m["content"]) for m in result.messages)
        assert result.compression.hook_failures == 3

    def test_a_no_is_not_taken_out(self) -> None:
        messages = talk(f"We will not restart the primary database before noon. {FILLER}{FILLER}")
        words = ("restart", "primary", "database", "noon.")
        kept = fold(messages, ml_token_classifier=keep_if(lambda w: w in ("not", *words)))
        assert content(kept).startswith("[summary: not restart primary database noon.")
        reversed_ = fold(messages, ml_token_classifier=keep_if(lambda w: w in words))
        assert reversed_.messages == plainly(messages)
        assert reversed_.compression.hook_failures == 1

    def test_a_model_comes_first(self) -> None:
        result = fold(
            notes(1), summarizer=Clerk(), ml_token_classifier=keep_if(lambda w: w == "pump")
        )
        assert content(result).startswith("[summary: The pump in hall 1 is off since noon;")

    def test_it_helps_out_when_the_model_fails(self) -> None:
        result = fold(
            notes(1),
            summarizer=lambda text: "",
            ml_token_classifier=keep_if(lambda w: w in ("pump", "off")),
        )
        assert content(result).startswith("[summary: pump off")

    def test_each_text_once_however_many_passes(self) -> None:
        seen: list[str] = []

        def classify(text: str) -> list[TokenVerdict]:
            seen.append(text)
            raise ValueError("no")

        result = fold(notes(3), ml_token_classifier=classify, summarizer=lambda text: "")
        assert len(seen) == len(set(seen)) == 3
        assert result.compression.hook_failures == 3

    def test_around_code(self) -> None:
        code = "```python\nprint(1)\n```"
        result = fold(
            talk(f"{FILLER}{FILLER}\n{code}"),
            ml_token_classifier=keep_if(lambda w: w in ("walk", "water")),
        )
        assert "walk" in content(result)
        assert code in content(result)
        assert "[summary: ]" not in content(result)
