"""Features of a sentence, as patterns: names, quantities, status words, places, emphasis."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from refold.text.alphabet import IDEOGRAPHS
from refold.text.name_patterns import CAMEL, NUMBER, PASCAL, SNAKE, VOWELLESS
from refold.text.patterns import UNITS

_UNIT: Final = rf"(?i:{UNITS})(?![\w])"
WEIGHTS: Final = {"name": 3, "quantity": 2, "short": 2, "status": 3, "place": 2, "error": 6}
"""Points of each feature, by the contract. An error's name is not in it: with its colon it is what
a log is read for, and counts as much as two names."""
ERROR_ENDS: Final = ("Error", "rning", "ption")
BEFORE_SIGN: Final = rf"(?<![^\W{IDEOGRAPHS}])"
PLACE_OR_STATUS: Final = (
    # The look-behind lets a dotted run be tried from its beginning only: linear, always.
    r"(?P<place>(?<![\w./-])[\w/-]++(?:\.[\w/-]++)++:[0-9]++:)"
    r"|(?P<status>PASS|FAIL|ERROR|WARNING|WARN)(?![\w])"
)
OTHER_SIGN: Final = (
    rf"(?P<name>(?:{PASCAL}|{CAMEL}|{SNAKE})(?![\w]))"
    rf"|(?P<quantity>(?<![.,]){NUMBER}(?:%|\s?{_UNIT}|[{IDEOGRAPHS}]))"
    rf"|(?P<short>{VOWELLESS}(?![\w]))"
)
FEATURES: Final = re.compile(
    rf"{BEFORE_SIGN}(?:{PLACE_OR_STATUS}"
    rf"|(?P<error>[A-Z][\w.]*+(?<={'|'.join(ERROR_ENDS)})(?=:))|{OTHER_SIGN})"
)
LONGEST_UNIT: Final = 16
"""How far beyond a sentence the unit of its last number may reach."""
_LONG: Final = 1_000
"""In longer sentences each name of an error is read once: `FEATURES` would read A.B.C.D from every
capital on. Up to this length that costs less than the care."""
_NOT_DOTTED: Final = re.compile(r"[^\w.]")
_EMPHATIC: Final = (
    "importantly|note that|however|critical|crucial|essential|significant|notably|key point"
    "|in particular|specifically|must|require[ds]?|never|always"
)
_INFERRING: Final = (
    "therefore|hence|thus|consequently|accordingly|it follows that"
    "|we can (?:conclude|deduce|infer)|this (?:implies|proves|means) that|as a result|given that"
    "|in conclusion"
)
EMPHASIS: Final = re.compile(rf"(?<!\w)(?:{_EMPHATIC})(?!\w)", re.I)
INFERENCE: Final = re.compile(rf"(?<!\w)(?:{_INFERRING})(?!\w)", re.I)
_EITHER: Final = re.compile(rf"(?<!\w)(?:{_EMPHATIC}|{_INFERRING})(?!\w)", re.ASCII)
"""In ASCII and lower case: most sentences are ruled out by one search where case counts."""

SIZE_POINTS: Final = 2
"""The contract's, for sentences between the two lengths below."""
SHORTEST: Final = 40
LONGEST: Final = 120
"""Sentences of this many characters say something, and not too much."""
EMPHASIS_POINTS: Final = 4
"""The contract's."""
INFERENCE_POINTS: Final = 3
"""A conclusion without a word of emphasis counts nearly as much."""


def count_features(text: str, start: int, end: int) -> int:
    """Return the points for all features that begin between *start* and *end*."""
    if end - start > _LONG:
        return count_in_long(text, start, end)
    points = 0
    for found in FEATURES.finditer(text, start, end + LONGEST_UNIT):
        if found.start() < end:
            points += WEIGHTS[found.lastgroup or "name"]
    return points


@cache
def _features_but_errors() -> re.Pattern[str]:
    """Return `FEATURES`, in which any capital may begin an error; it is seldom needed."""
    capital = "(?P<capital>(?=[A-Z]))"
    rest = f"(?:{OTHER_SIGN}|(?(capital)[A-Z]|(?!)))"
    return re.compile(f"{BEFORE_SIGN}(?:{PLACE_OR_STATUS}|{capital}?+{rest})")


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
                    after is not None and after[0] == ":" and text.endswith(ERROR_ENDS, 0, dotted)
                )
            if is_error:
                points += WEIGHTS["error"]
                place = dotted
                continue
        points += WEIGHTS.get(found.lastgroup or "", 0)
    return points


def count_emphasis(text: str, start: int, end: int) -> int:
    """Return the points for emphasis and inference, each of which counts once."""
    sentence = text[start:end]
    if sentence.isascii() and _EITHER.search(sentence.lower()) is None:
        return 0
    return EMPHASIS_POINTS * (EMPHASIS.search(text, start, end) is not None) + INFERENCE_POINTS * (
        INFERENCE.search(text, start, end) is not None
    )
