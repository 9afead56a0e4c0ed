"""How much a sentence matters: names, quantities, status words and emphasis against filler."""

from __future__ import annotations

from collections.abc import Sequence

from refold.native import Span, scanner
from refold.scoring.feature_tables import SCORING
from refold.scoring.filler import FILLER_HEADS, FILLER_PENALTY, is_filler
from refold.scoring.sentence_features import LONGEST, SHORTEST, SIZE_POINTS
from refold.scoring.words import WordMarks, points_by_words
from refold.text.sentences import sentence_spans


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
    """Scores sentences, and remembers what each word is worth where nothing is compiled."""

    def __init__(self) -> None:
        self._known = WordMarks()

    def score(self, text: str, sentences: list[Span]) -> list[int]:
        """Score *sentences* of *text*; each begins and ends at a word."""
        if scanner is not None:
            return scanner.scores(text, sentences, SCORING)
        return self.score_by_words(text, sentences)

    def score_by_words(self, text: str, sentences: Sequence[Span]) -> list[int]:
        """Score *sentences* word by word, which is fast in plain Python."""
        scores = points_by_words(text, sentences, self._known)
        for number, (start, end, _) in enumerate(sentences):
            if SHORTEST <= end - start <= LONGEST:
                scores[number] += SIZE_POINTS
            if text[start : start + 3] in FILLER_HEADS and is_filler(text, start, end):
                scores[number] += FILLER_PENALTY
        return scores
