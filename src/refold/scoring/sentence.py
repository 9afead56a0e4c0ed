"""How much a sentence matters: names, quantities, status words and emphasis against filler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from refold.scoring.filler import FILLER_HEADS, is_filler
from refold.scoring.sign_loop import loop_points
from refold.scoring.words import WordMarks, points_by_words
from refold.text.scan import IS_COMPILED
from refold.text.sentence_loop import Span
from refold.text.sentences import sentence_spans

FILLER_PENALTY: Final = -10
_SIZE_POINTS: Final = 2
_SHORTEST: Final = 40
_LONGEST: Final = 120
"""Sentences of this many characters say something, and not too much."""


def score_sentence(sentence: str) -> int:
    """Score one sentence on its own."""
    return score_spans(sentence, [(0, len(sentence))])[0]


def best_sentence_score(text: str) -> int:
    """Return the score of the best sentence of *text*; of the whole text if it has none."""
    return max(SentenceScorer().score(text, sentence_spans(text)), default=0)


def score_spans(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """Score the sentences of *text* given by *spans*; each begins and ends at a word."""
    return SentenceScorer().score(text, [(start, end, 0) for start, end in spans])


class SentenceScorer:
    """Scores sentences, and remembers what each word is worth."""

    def __init__(self) -> None:
        self._known = WordMarks()

    def score(self, text: str, sentences: list[Span]) -> list[int]:
        """Score *sentences* of *text*; each begins and ends at a word."""
        if IS_COMPILED:
            scores = loop_points(text, sentences)
        else:
            scores = points_by_words(text, sentences, self._known)
        for number, (start, end, _) in enumerate(sentences):
            if _SHORTEST <= end - start <= _LONGEST:
                scores[number] += _SIZE_POINTS
            if text[start : start + 3] in FILLER_HEADS and is_filler(text, start, end):
                scores[number] += FILLER_PENALTY
        return scores
