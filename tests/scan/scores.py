"""The score of a sentence by itself."""

from __future__ import annotations

from refold.scan.sentence_score import score_sentences


def score_sentence(sentence: str) -> int:
    """Score a text as one sentence."""
    return score_sentences(sentence, [(0, len(sentence), 0)])[0]
