"""How much a sentence matters: names, quantities, status words and emphasis against filler.

Nearly every sign of worth lies inside one word, and most words come again, so each distinct word is
looked at once. Only what reaches over several words is searched for in the sentence itself, and
only where one of its words says that it may be there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from refold.text.alphabet import IDEOGRAPHS
from refold.text.entities import (
    CAMEL,
    NUMBER,
    PASCAL,
    PLAIN_NUMBER,
    PLAIN_WORD,
    SNAKE,
    VOWELLESS,
)
from refold.text.scan import Vocabulary
from refold.text.sentences import find_sentences
from refold.text.words import telling_words

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
_SPACED_QUANTITY: Final = re.compile(
    rf"[0-9](?<![^\W{IDEOGRAPHS}].)(?<![.,].)[0-9]*+(?:[.,][0-9]++)*+\s(?=[^\W\d_])({_UNIT})"
    r"([./:-]\S)?+"
)
"""A number and its unit as two words, and how the second word goes on if it is more than that."""
_LONGEST_UNIT: Final = 16
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
_PHRASE_WORD: Final = re.compile(
    r"\A(?:point|particular|conclu|result|deduce|infer)|\A(?:follows|implies|proves|means)\Z"
    r"|(?<!\w)(?:note|given)\Z",
    re.I,
)
"""The word by which each of the phrases of several words is known."""
_TELLING_WORDS: Final = frozenset(
    "importantly note however critical crucial essential significant notably point particular "
    "specifically must require required requires never always therefore hence thus consequently "
    "accordingly follows conclude deduce infer implies proves means result given "
    "conclusion".split()
)
"""All words of one piece that emphasize or infer, and those by which phrases are known."""
_TELLING: Final = Vocabulary(frozenset(word.encode() for word in _TELLING_WORDS))
_FILLER: Final = re.compile(
    r"(?:great|sure|okay|ok|thanks|thank you|got it|right|alright|absolutely|exactly|indeed|cool|"
    r"nice|perfect|wonderful|awesome|fantastic|sounds good|makes sense|i see|i understand|"
    r"understood|noted|certainly|of course|no problem|no worries|will do|let me|i'll|i can|"
    r"i would|well|so|now|hi|hey|hello|dear all|good (?:morning|afternoon|evening|day))"
    r"(?=[,.!?\s])",
    re.I,
)
_LETTERS: Final = re.compile(r"[a-z]++")
_FILLER_HEADS: Final = frozenset(
    "gre sur oka tha got rig alr abs exa ind coo nic per won awe fan sou mak und not cer wil let "
    "i'l wel now hey hel dea goo ok so hi".split()
) | {"i s", "i u", "i c", "i w", "of ", "no "}
"""How fillers begin: three letters, or two where there are no more."""
_NEGATION: Final = re.compile(
    r"(?<![\w])(?:not|no|never|none|nothing|nobody|neither|nor|cannot|without|\w+n['’]t)(?![\w])",
    re.I,
)
FILLER_PENALTY: Final = -10
_EMPHASIS_POINTS: Final = 4
_INFERENCE_POINTS: Final = 3

# What is known of a word: its points, and below them what it says about the sentence.
_EMPHATIC: Final = 1
_INFERRING: Final = 2
_IN_PHRASE: Final = 4
_ENDS_IN_NUMBER: Final = 8
_FLAG_BITS: Final = 4
_MAX_KNOWN: Final = 50_000
"""Words remembered at a time."""
_LONG_WORD: Final = 60
"""Words longer than this hardly come again and are not remembered."""


def score_sentence(sentence: str) -> int:
    """Score one sentence on its own."""
    return SentenceScorer().score_spans(sentence, [(0, len(sentence))])[0]


def best_sentence_score(text: str) -> int:
    """Return the score of the best sentence of *text*; of the whole text if it has none."""
    spans = [(start, end) for start, end, _ in find_sentences(text)]
    return max(score_spans(text, spans)) if spans else 0


def score_spans(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """Score the sentences of *text* given by *spans*."""
    return SentenceScorer().score_spans(text, spans)


class SentenceScorer:
    """Scores sentences, and remembers what each word is worth."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def score_spans(self, text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
        """Score the sentences of *text* given by *spans*; each begins and ends at a word."""
        return self.score(text, [text[start:end] for start, end in spans], [s for s, _ in spans])

    def score(self, text: str, sentences: Collection[str], starts: Sequence[int]) -> list[int]:
        """Score *sentences*, each of which stands in *text* from its place in *starts* on."""
        words = [telling_words(sentence, _TELLING) for sentence in sentences]
        passing = self._learn(words)
        recall = self._known.__getitem__
        scores: list[int] = []
        for sentence, said, start in zip(sentences, words, starts, strict=True):
            length = len(sentence)
            score = 2 if 40 <= length <= 120 else 0
            if _is_filler(sentence):
                score += FILLER_PENALTY
            marks = list(filter(None, map(recall, said)))
            scores.append(score + _points(text, start, start + length, marks) if marks else score)
        for word in passing:
            del self._known[word]
        return scores

    def _learn(self, words: list[list[str]]) -> list[str]:
        """Look at the words that are new; return those that are not worth remembering."""
        known = self._known
        if len(known) > _MAX_KNOWN:
            known.clear()
        fresh = {word for said in words for word in said if word not in known}
        for word in fresh:
            known[word] = _mark(word)
        return [word for word in fresh if len(word) > _LONG_WORD]


def _mark(word: str) -> int:
    """Work out what one *word* is worth and what it says about its sentence."""
    plain = PLAIN_WORD.fullmatch(word)
    if plain is not None and ":" not in word:
        return _flags(plain["core"] or "")
    if PLAIN_NUMBER.fullmatch(word):
        return _ENDS_IN_NUMBER * (word[-1] in "0123456789")
    return (
        _count_signs(word, 0, len(word)) << _FLAG_BITS
        | _ENDS_IN_NUMBER * (word[-1] in "0123456789")
        | _flags(word)
    )


def _flags(word: str) -> int:
    if word.isascii() and _TELLING_WORDS.isdisjoint(_LETTERS.findall(word.lower())):
        return 0
    return (
        _EMPHATIC * (_EMPHASIS.search(word) is not None)
        | _INFERRING * (_INFERENCE.search(word) is not None)
        | _IN_PHRASE * (_PHRASE_WORD.search(word) is not None)
    )


def _points(text: str, start: int, end: int, marks: list[int]) -> int:
    """Add up what the words of a sentence are worth, alone and together."""
    flags = points = 0
    for mark in marks:
        flags |= mark
        points += mark >> _FLAG_BITS
    if flags & _ENDS_IN_NUMBER:
        spaced = _SPACED_QUANTITY.findall(text, start, end)
        points += _WEIGHTS["quantity"] * len(spaced)
        is_plain = all(not more and (unit.islower() or unit.isupper()) for unit, more in spaced)
        if not is_plain or text[end - 1] in "0123456789":
            points = _count_signs(text, start, end)
    if flags & _IN_PHRASE:
        flags |= _EMPHATIC * (_EMPHASIS.search(text, start, end) is not None)
        flags |= _INFERRING * (_INFERENCE.search(text, start, end) is not None)
    points += _EMPHASIS_POINTS * (flags & _EMPHATIC != 0)
    return points + _INFERENCE_POINTS * (flags & _INFERRING != 0)


def _count_signs(text: str, start: int, end: int) -> int:
    """Return the points for all signs that begin between *start* and *end*."""
    points = 0
    for found in _SIGNS.finditer(text, start, end + _LONGEST_UNIT):
        if found.start() < end:
            points += _WEIGHTS[found.lastgroup or "name"]
    return points


def _is_filler(sentence: str) -> bool:
    """Tell whether a sentence opens as filler does; a negation or an answer is never filler."""
    head = sentence[:3].lower()
    if head not in _FILLER_HEADS and head[:2] not in _FILLER_HEADS and sentence.isascii():
        return False
    return _FILLER.match(sentence) is not None and not _NEGATION.search(sentence)
