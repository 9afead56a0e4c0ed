"""A caller's hook may be a model, and far away: it sees no secret."""

from __future__ import annotations

from collections.abc import Sequence

from refold.plan.shorten.tokens import TokenVerdict
from tests.classic import compress

PASSWORD = "hunTer2Hunter2"
FILLER = (
    "The gauge behind the long wall was read again, and the gardener wrote it down in the book. "
)
TEXT = f"{FILLER * 4}\nThe password of the gauge is {PASSWORD} now.\n{FILLER * 4}"
TALK = [{"role": "user", "content": TEXT}, {"role": "assistant", "content": "Noted."}]


def test_a_scorer_of_sentences() -> None:
    heard: list[str] = []

    def score(sentences: Sequence[str]) -> list[float]:
        heard.extend(sentences)
        return [float("<secret>" in sentence) for sentence in sentences]

    result = compress(TALK, entropy_scorer=score, entropy_scorer_mode="replace", recency_window=0)
    assert heard
    assert PASSWORD not in "".join(heard)
    assert result.compression.hook_failures == 0
    assert f"is {PASSWORD} now" in result.messages[0]["content"]


def test_a_classifier_of_words() -> None:
    heard: list[str] = []

    def classify(text: str) -> list[TokenVerdict]:
        heard.append(text)
        kept = ("password", "gauge", "is", "now.", "<secret-1>")
        return [TokenVerdict(word, keep=word in kept) for word in text.split()]

    result = compress(TALK, ml_token_classifier=classify, recency_window=0)
    assert heard
    assert PASSWORD not in "".join(heard)
    assert result.compression.hook_failures == 0
    assert f"is {PASSWORD} now." in result.messages[0]["content"]


def test_a_placeholder_cut_in_two_is_not_used() -> None:
    def classify(text: str) -> list[TokenVerdict]:
        words = text.replace("<", "< ").replace(">", " >").split()
        return [TokenVerdict(word, keep=len(word) < 9) for word in words]

    result = compress(TALK, ml_token_classifier=classify, recency_window=0)
    assert result.compression.hook_failures == 1
    assert "secret-" not in result.messages[0]["content"]
