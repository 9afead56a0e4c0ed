"""How much a sentence matters: names, quantities, status words and emphasis against filler."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from refold.text.alphabet import IDEOGRAPHS
from refold.text.entities import CAMEL, NUMBER, PASCAL, SNAKE, VOWELLESS
from refold.text.sentences import find_sentences

_UNIT: Final = (
    r"(?i:seconds?|ms|[MGTK]B|retr(?:y|ies)|workers?|threads?|nodes?|replicas?|requests?)(?![\w])"
)
_WEIGHTS: Final = {"name": 3, "quantity": 2, "short": 2, "status": 3, "place": 2, "error": 6}
_SIGNS: Final = re.compile(
    rf"(?<![^\W{IDEOGRAPHS}])(?:"
    # The look-behinds let a dotted run be tried from its beginning only: linear, always.
    r"(?P<place>(?<![\w./-])[\w/-]++(?:\.[\w/-]++)++:[0-9]++:)"
    r"|(?P<status>PASS|FAIL|ERROR|WARNING|WARN)(?![\w])"
    r"|(?P<error>[A-Z][\w.]*+(?<=Error|rning|ption)(?=:))"
    rf"|(?P<name>(?:{PASCAL}|{CAMEL}|{SNAKE})(?![\w]))"
    rf"|(?P<quantity>(?<![.,]){NUMBER}(?:%|\s?{_UNIT}|[{IDEOGRAPHS}]))"
    rf"|(?P<short>{VOWELLESS}(?![\w]))"
    r")"
)
_EMPHASIS: Final = re.compile(
    r"(?<![\w])(?:importantly|note that|however|critical|crucial|essential|significant|notably|"
    r"key point|in particular|specifically|must|require[ds]?|never|always)(?![\w])",
    re.I,
)
_INFERENCE: Final = re.compile(
    r"(?<![\w])(?:therefore|hence|thus|consequently|accordingly|it follows that|"
    r"we can (?:conclude|deduce|infer)|this (?:implies|proves|means) that|as a result|given that|"
    r"in conclusion)(?![\w])",
    re.I,
)
_FILLER: Final = re.compile(
    r"(?:great|sure|okay|ok|thanks|thank you|got it|right|alright|absolutely|exactly|indeed|cool|"
    r"nice|perfect|wonderful|awesome|fantastic|sounds good|makes sense|i see|i understand|"
    r"understood|noted|certainly|of course|no problem|no worries|will do|let me|i'll|i can|"
    r"i would|well|so|now|hi|hey|hello|dear all|good (?:morning|afternoon|evening|day))"
    r"(?=[,.!?\s])",
    re.I,
)
_NEGATION: Final = re.compile(
    r"(?<![\w])(?:not|no|never|none|nothing|nobody|neither|nor|cannot|without|\w+n['’]t)(?![\w])",
    re.I,
)
FILLER_PENALTY: Final = -10


def score_sentence(sentence: str) -> int:
    """Score one sentence on its own."""
    return score_spans(sentence, [(0, len(sentence))])[0]


def best_sentence_score(text: str) -> int:
    """Return the score of the best sentence of *text*; of the whole text if it has none."""
    spans = [(s.start, s.end) for s in find_sentences(text)]
    return max(score_spans(text, spans)) if spans else 0


def score_spans(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """Score the sentences of *text* given by *spans*, reading the text once per kind of sign."""
    scores = [_shape_score(text, start, end) for start, end in spans]
    starts = [start for start, _ in spans]

    def sentence_at(place: int) -> int | None:
        number = bisect_right(starts, place) - 1
        return number if number >= 0 and place < spans[number][1] else None

    for found in _SIGNS.finditer(text):
        number = sentence_at(found.start())
        if number is not None:
            scores[number] += _WEIGHTS[found.lastgroup or "name"]
    for pattern, weight in ((_EMPHASIS, 4), (_INFERENCE, 3)):
        for number in {sentence_at(found.start()) for found in pattern.finditer(text)}:
            if number is not None:
                scores[number] += weight
    return scores


def _shape_score(text: str, start: int, end: int) -> int:
    """Score length and opening; a negation or an answer is never filler."""
    score = 2 if 40 <= end - start <= 120 else 0
    if _FILLER.match(text, start, end) and not _NEGATION.search(text, start, end):
        score += FILLER_PENALTY
    return score
