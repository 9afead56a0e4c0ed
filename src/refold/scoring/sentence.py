"""How much a sentence matters: names, quantities, status words and emphasis against filler."""

from __future__ import annotations

from collections.abc import Sequence

from refold.scoring.filler import FILLER_HEADS, FILLER_PENALTY, is_filler
from refold.scoring.sentence_features import (
    LONGEST,
    SHORTEST,
    SIZE_POINTS,
    count_emphasis,
    count_features,
)
from refold.text.sentences import Span, sentence_spans


def score_sentence(sentence: str) -> int:
    """Score one sentence on its own."""
    return score_spans(sentence, [(0, len(sentence))])[0]


def best_sentence_score(text: str) -> int:
    """Return the score of the best sentence of *text*; of the whole text if it has none."""
    return max(score_sentences(text, sentence_spans(text)), default=0)


def score_spans(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """Score the sentences of *text* given by *spans*; each begins and ends at a word."""
    return score_sentences(text, [(start, end, 0) for start, end in spans])


def score_sentences(text: str, sentences: Sequence[Span]) -> list[int]:
    """Score *sentences* of *text*; each begins and ends at a word."""
    return [_score(text, start, end) for start, end, _ in sentences]


def _score(text: str, start: int, end: int) -> int:
    score = count_features(text, start, end) + count_emphasis(text, start, end)
    if SHORTEST <= end - start <= LONGEST:
        score += SIZE_POINTS
    if text[start : start + 3] in FILLER_HEADS and is_filler(text, start, end):
        score += FILLER_PENALTY
    return score
