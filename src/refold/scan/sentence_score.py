"""How much a sentence matters: names, quantities, status words and emphasis against filler."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import Final

from refold.scan.patterns import (
    CAMEL,
    CONSONANTS,
    IDEOGRAPHS,
    NUMBER,
    PASCAL,
    SNAKE,
    UNITS,
    VOWELLESS,
)
from refold.scan.sentences import Span, sentence_spans
from refold.scan.view import undisguised

FILLER_PENALTY: Final = -10
"""The contract's: more than names and figures can make up for in a sentence of usual length."""
FILLERS: Final = (
    *("great", "sure", "okay", "ok", "thanks", "thank you", "got it", "right", "alright"),
    *("absolutely", "exactly", "indeed", "cool", "nice", "perfect", "wonderful", "awesome"),
    *("fantastic", "sounds good", "makes sense", "i see", "i understand", "understood", "noted"),
    *("certainly", "of course", "no problem", "no worries", "will do", "let me", "i'll", "i can"),
    *("i would", "well", "so", "now", "hi", "hey", "hello", "dear all", "good morning"),
    *("good afternoon", "good evening", "good day"),
)
_OWN_SHARE: Final = 0.4
"""The weight of our scores: callers trust their own scorer more. A guess; 0 would be "replace"."""
_SCALE: Final = 20
"""Brings mixed scores into the range of our own."""


def _by_first_letter(words: tuple[str, ...]) -> str:
    """Spell a pattern for any of *words* that reads the first letter only once."""
    rests: dict[str, list[str]] = {}
    for word in words:
        rests.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in rests.items())


_FILLER: Final = re.compile(rf"(?:{_by_first_letter(FILLERS)})(?=[,.!?\s])")
"""In lower case, where the pattern is tried much faster than in any."""
_LONGEST: Final = max(map(len, FILLERS)) + 1
"""Characters of a sentence that can be filler and what follows it."""
# Starting with a character set lets `re` skip all other text fast.
_NEGATION: Final = re.compile(
    r"[ncwNCW](?<!\w.)(?i:(?<=n)(?:o(?:t|ne|thing|body|r)?|ever|either)|(?<=c)annot|(?<=w)ithout)"
    r"(?!\w)|[nN](?<=\w.)['’][tT](?!\w)"
)
_NEGATING: Final = ("no", "never", "neither", "without", "n't")
"""One of these is in every negation that is in ASCII."""
_OTHER_CASES: Final = {"i": "\u0130\u0131", "k": "\u212a", "s": "\u017f"}
"""The characters beyond ASCII that are the same letter where case is ignored."""


def _cases(letter: str) -> str:
    return letter + letter.upper() + _OTHER_CASES.get(letter, "")


def _heads(filler: str) -> Iterator[str]:
    """Yield the first three characters of all sentences that open with a *filler*."""
    firsts = list(product(*map(_cases, filler[:3])))
    ends = _AFTER_FILLER if len(filler) < 3 else ("",)
    return ("".join(head) + end for head in firsts for end in ends)


_AFTER_FILLER: Final = (*",.!?", *filter(str.isspace, map(chr, range(0x3001))))
FILLER_HEADS: Final = frozenset(head for filler in FILLERS for head in _heads(filler))
"""The three characters with which each filler begins: no other sentence need be looked at."""


def is_filler(text: str, start: int, end: int) -> bool:
    """Tell whether a sentence opens as filler does; a negation or an answer is never filler."""
    sentence = text[start:end]
    opening = sentence[:_LONGEST]
    plain = opening if opening.isascii() else undisguised(opening)
    if _FILLER.match(plain.lower()) is None:
        return False
    return not _may_negate(sentence) or _NEGATION.search(text, start, end) is None


def _may_negate(sentence: str) -> bool:
    """Tell cheaply whether there can be a negation; beyond ASCII only the pattern can."""
    lower = sentence.lower()
    for letters in _NEGATING:
        if letters in lower:
            return True
    return not sentence.isascii()


_UNIT: Final = rf"(?i:{UNITS})(?![\w])"
WEIGHTS: Final = {"name": 3, "quantity": 2, "short": 2, "status": 3, "place": 2, "error": 6}
"""Points of each feature, by the contract. An error's name is not in it: with its colon it is what
a log is read for, and counts as much as two names."""
_ERROR_ENDS: Final = ("Error", "rning", "ption")
_BEFORE_SIGN: Final = rf"(?<![^\W{IDEOGRAPHS}])"
_PLACE_OR_STATUS: Final = (
    # The look-behind lets a dotted run be tried from its beginning only: linear, always.
    r"(?P<place>(?<![\w./-])[\w/-]++(?:\.[\w/-]++)++:[0-9]++:)"
    r"|(?P<status>PASS|FAIL|ERROR|WARNING|WARN)(?![\w])"
)
_OTHER_SIGN: Final = (
    rf"(?P<name>(?:{PASCAL}|{CAMEL}|{SNAKE})(?![\w]))"
    rf"|(?P<quantity>(?<![.,]){NUMBER}(?:%|\s?{_UNIT}|[{IDEOGRAPHS}]))"
    rf"|(?P<short>{VOWELLESS}(?![\w]))"
)
_ERROR: Final = rf"(?P<error>[A-Z][\w.]*+(?<={'|'.join(_ERROR_ENDS)})(?=:))"
FEATURES: Final = re.compile(rf"{_BEFORE_SIGN}(?:{_PLACE_OR_STATUS}|{_ERROR}|{_OTHER_SIGN})")
_PLAIN_WORD: Final = rf"[A-Z]?[{CONSONANTS}]*+[aeiouy][a-z]*+(?:[^\w./:-]++|\.(?=\s))"
"""A word with a vowel and without a sign, and what ends it: no feature begins with it."""
_FEATURES_OR_WORDS: Final = re.compile(
    rf"{_BEFORE_SIGN}(?:(?:{_PLAIN_WORD})++|{_PLACE_OR_STATUS}|{_ERROR}|{_OTHER_SIGN})"
)
"""The same, and the plain words between: they are read once, and not tried letter by letter."""
LONGEST_UNIT: Final = 16
"""How far beyond a sentence the unit of its last number may reach."""
_LONG: Final = 1_000
"""In longer sentences each name of an error is read once: `FEATURES` would read A.B.C.D from every
capital on. Up to this length that costs less than the care."""
_NOT_DOTTED: Final = re.compile(r"[^\w.]")
_EMPHATIC: Final = (
    *("importantly", "note that", "however", "critical", "crucial", "essential", "significant"),
    *("notably", "key point", "in particular", "specifically", "must", "require", "required"),
    *("requires", "never", "always"),
)
_INFERRING: Final = (
    *("therefore", "hence", "thus", "consequently", "accordingly", "it follows that"),
    *("we can conclude", "we can deduce", "we can infer", "this implies that"),
    *("this proves that", "this means that", "as a result", "given that", "in conclusion"),
)
EMPHASIS: Final = re.compile(rf"(?<!\w)(?:{'|'.join(_EMPHATIC)})(?!\w)", re.I)
INFERENCE: Final = re.compile(rf"(?<!\w)(?:{'|'.join(_INFERRING)})(?!\w)", re.I)
_STRESSING: Final = (*_EMPHATIC, *_INFERRING)
_STRESS: Final = re.compile(rf"(?<!\w)(?:{'|'.join(_STRESSING)})(?!\w)", re.ASCII)
"""In ASCII and lower case: most sentences are ruled out by one search where case counts."""

SIZE_POINTS: Final = 2
"""The contract's, for sentences between the two lengths below."""
SHORTEST: Final = 40
LONGEST: Final = 120
"""Sentences of this many characters say something, and not too much."""
_EMPHASIS_POINTS: Final = 4
"""The contract's."""
_INFERENCE_POINTS: Final = 3
"""A conclusion without a word of emphasis counts nearly as much."""


def count_features(text: str, start: int, end: int) -> int:
    """Return the points for all features that begin between *start* and *end*."""
    if end - start > _LONG:
        return count_in_long(text, start, end)
    points = 0
    for found in _FEATURES_OR_WORDS.finditer(text, start, end + LONGEST_UNIT):
        kind = found.lastgroup
        if kind is not None and found.start() < end:
            points += WEIGHTS[kind]
    return points


@cache
def _features_but_errors() -> re.Pattern[str]:
    """Return `FEATURES`, in which any capital may begin an error; rarely needed."""
    capital = "(?P<capital>(?=[A-Z]))"
    rest = f"(?:{_OTHER_SIGN}|(?(capital)[A-Z]|(?!)))"
    return re.compile(f"{_BEFORE_SIGN}(?:{_PLACE_OR_STATUS}|{capital}?+{rest})")


def count_in_long(text: str, start: int, end: int) -> int:
    """Return what `FEATURES` gives, in linear time whatever the text is.

    Capitals with nothing but word characters and dots between them would begin the same error.
    """
    limit = end + LONGEST_UNIT
    points = 0
    place = dotted = start
    is_error = False
    pattern = _features_but_errors()
    while (found := pattern.search(text, place, limit)) is not None and found.start() < end:
        place = found.end()
        if found["capital"] is not None:
            if found.start() >= dotted:
                after = _NOT_DOTTED.search(text, place, limit)
                dotted = limit if after is None else after.start()
                is_error = (
                    after is not None and after[0] == ":" and text.endswith(_ERROR_ENDS, 0, dotted)
                )
            if is_error:
                points += WEIGHTS["error"]
                place = dotted
                continue
        points += WEIGHTS.get(found.lastgroup or "", 0)
    return points


def _may_stress(text: str) -> Callable[[int, int], bool]:
    """Return a cheap test whether a sentence may hold emphasis or inference."""

    def holds(start: int, end: int) -> bool:
        return _STRESS.search(text[start:end].lower()) is not None

    if undisguised(text) == text:
        return holds
    # Beyond ASCII there are letters that count as others where case is ignored.
    return lambda start, end: not text[start:end].isascii() or holds(start, end)


def _count_emphasis(text: str, start: int, end: int) -> int:
    """Return the points for emphasis and inference, each of which counts once."""
    return _EMPHASIS_POINTS * (
        EMPHASIS.search(text, start, end) is not None
    ) + _INFERENCE_POINTS * (INFERENCE.search(text, start, end) is not None)


def best_sentence_score(text: str) -> int:
    """Return the score of the best sentence of *text*; of the whole text if it has none."""
    return max(score_sentences(text, sentence_spans(text)), default=0)


def score_sentences(text: str, sentences: Sequence[Span]) -> list[int]:
    """Score *sentences* of *text*; each begins and ends at a word."""
    may_stress = _may_stress(text)
    return [_score(text, start, end, may_stress) for start, end, _ in sentences]


def _score(text: str, start: int, end: int, may_stress: Callable[[int, int], bool]) -> int:
    score = count_features(text, start, end)
    if may_stress(start, end):
        score += _count_emphasis(text, start, end)
    if SHORTEST <= end - start <= LONGEST:
        score += SIZE_POINTS
    if text[start : start + 3] in FILLER_HEADS and is_filler(text, start, end):
        score += FILLER_PENALTY
    return score
