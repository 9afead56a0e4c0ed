"""The signs of worth in sentences, word by word: fast where nothing is compiled.

Nearly every sign lies inside one word, and most words come again, so each distinct word is looked
at once, with all its digits taken for zeros: no sign depends on which digit it is. Only what
reaches over several words is searched for in the sentence itself, and only where one of its words
says that it may be there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from refold.native import Span
from refold.scoring.crowded import count_crowded_signs
from refold.scoring.sentence_features import (
    EMPHASIS,
    EMPHATIC,
    IN_PHRASE,
    INFERENCE,
    INFERRING,
    SPACED_QUANTITY,
    TELLING,
    WEIGHTS,
    count_signs,
    flag_points,
)
from refold.text.name_patterns import PLAIN_NUMBER, PLAIN_WORD
from refold.text.scan import undisguised

# The mark of a word: its points, and above them a one for each thing that it says besides. Marks
# are added up, so each has room enough for any number of words.
_ROOM: Final = (1 << 32) - 1
_NUMBER: Final = 1 << 32
"""The word ends in a number: its unit may be the next word."""
_EMPHATIC: Final = 1 << 64
_INFERRING: Final = 1 << 96
_IN_PHRASE: Final = 1 << 128
_MAX_KNOWN: Final = 50_000
"""Words remembered at a time."""
_LONG_WORD: Final = 60
"""Words longer than this hardly come again and are not remembered."""

_ZEROS: Final = bytes.maketrans(b"123456789", b"000000000")
_LETTERS: Final = re.compile(r"[a-z]{4,}+")
"""No telling word is shorter."""
_LONG: Final = 1_000
_SOMETHING: Final = re.compile("[0-9A-Za-z\u0130\u0131\u017f\u212a]")
"""No sign is without one of these."""
_PHRASE_WORD: Final = re.compile(
    r"\A(?:point|particular|conclu|result|deduce|infer)|\A(?:follows|implies|proves|means)\Z"
    r"|(?<!\w)(?:note|given)\Z",
    re.I,
)
"""The word by which each of the phrases of several words is known."""


class WordMarks(dict[str, int]):
    """What words are worth; each is looked at when it is first asked for."""

    def __missing__(self, word: str) -> int:
        mark = mark_word(word)
        if len(word) <= _LONG_WORD:
            self[word] = mark
        return mark


def points_by_words(text: str, sentences: Sequence[Span], known: WordMarks) -> list[int]:
    """Return the points for all signs in each of the *sentences* of *text*."""
    if len(known) > _MAX_KNOWN:
        known.clear()
    plain = _zeroed(text)
    recall = known.__getitem__
    points: list[int] = []
    for start, end, _ in sentences:
        mark = sum(map(recall, plain[start:end].split()))
        points.append(mark if mark <= _ROOM else _points(text, start, end, mark))
    return points


def _zeroed(text: str) -> str:
    """Return *text* with zeros for all digits."""
    return text.encode("utf-8", "surrogatepass").translate(_ZEROS).decode("utf-8", "surrogatepass")


def mark_word(word: str) -> int:
    """Work out what one *word* is worth and what it says about its sentence."""
    plain = PLAIN_WORD.fullmatch(word)
    if plain is not None and ":" not in word:
        return _flags(plain["core"] or "")
    number = _NUMBER * (word[-1] in "0123456789")
    if PLAIN_NUMBER.fullmatch(word):
        return number
    if not word.isascii() and _SOMETHING.search(word) is None:
        return 0
    return _signs(word, 0, len(word)) + number + _flags(word)


def _signs(text: str, start: int, end: int) -> int:
    """Count signs; where there is much, so that what may be an error is looked at only once."""
    return (count_crowded_signs if end - start > _LONG else count_signs)(text, start, end)


def _flags(word: str) -> int:
    plain = word if word.isascii() else undisguised(word)
    if TELLING.keys().isdisjoint(_LETTERS.findall(plain.lower())):
        return 0
    return (
        _EMPHATIC * (EMPHASIS.search(word) is not None)
        + _INFERRING * (INFERENCE.search(word) is not None)
        + _IN_PHRASE * (_PHRASE_WORD.search(word) is not None)
    )


def _points(text: str, start: int, end: int, mark: int) -> int:
    """Return what the words of a sentence are worth, alone and together."""
    points = mark & _ROOM
    if mark & _NUMBER * _ROOM:
        spaced = SPACED_QUANTITY.findall(text, start, end)
        points += WEIGHTS["quantity"] * len(spaced)
        is_plain = all(not more and (unit.islower() or unit.isupper()) for unit, more in spaced)
        if not is_plain or text[end - 1] in "0123456789":
            points = _signs(text, start, end)
    if mark < _EMPHATIC:
        return points
    flags = (
        EMPHATIC * (mark & _EMPHATIC * _ROOM != 0)
        | INFERRING * (mark & _INFERRING * _ROOM != 0)
        | IN_PHRASE * (mark & _IN_PHRASE * _ROOM != 0)
    )
    return points + flag_points(text, start, end, flags)
