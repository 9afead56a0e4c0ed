"""Prose as sentences: what each is worth, and which of them make a summary."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from refold.classic.texts import View
from refold.classic.words import EMPHATIC, INFERRING, STRESS_WORDS
from refold.options import Depth
from refold.scan.patterns import (
    CAMEL,
    IDEOGRAPHS,
    NUMBER,
    PASCAL,
    SNAKE,
    UNITS,
    VOWELLESS,
)
from refold.scan.truncate import cut_words

JOINT: Final = " ... "
ELLIPSIS: Final = "..."

# Where sentences end.

_PARAGRAPHS: Final = re.compile(r"\n[ \t\r]*\n\s*")
# A line break before a small letter, or after a long line before a word, only wraps.
_WRAPPED: Final = (
    r"\n(?:(?=[ \t]{0,7}[a-zß-öø-ÿα-ωа-яё])"
    r"|(?<=[^\n]{60}\n)(?=[ \t]{0,7}[^\W_])(?![ \t]*\(?[0-9]{1,3}[.)][ \t]))"
)
_SPACED: Final = ".!?"
_CLOSERS: Final = "\"')\\]*_"
_ALL_SPACED: Final = ".!?…"
_ALL_CLOSERS: Final = "\"'”’)\\]»*_」』）》"
_UNSPACED: Final = "。！？｡﹒︒।॥۔؟։።፧။។៕།༎"
"""Marks after which no blank has to follow: Chinese, Japanese, Hindi, Arabic, Khmer and others."""
_PHRASE: Final = "\u0e01-\u0e4e\u0e81-\u0ecf"
_PHRASE_STARTS: Final = "\u0e01-\u0e30\u0e40-\u0e45\u0e81-\u0eb0\u0ec0-\u0ec5"
"""Thai and Lao put a blank between phrases where others put a mark; a word can begin with these."""


def _sentence(spaced: str, closers: str, unspaced: str, phrase: str, starts: str) -> str:
    """Spell a sentence: up to a mark before a blank, or a mark that needs none."""
    stop = rf"[{spaced}]++[{closers}]*+"
    end = f"{stop}|[{unspaced}]++[{closers}]*+" if unspaced else stop
    gap = f"(?<=[{phrase}]) {{1,2}}(?=[{starts}])" if phrase else ""
    # A blank between phrases ends one, so it may not be read over.
    plain = rf"[^{spaced}{unspaced}\n ]++|{gap and f'(?!{gap})'} " if phrase else ""
    inner = plain or rf"[^{spaced}{unspaced}\n]++"
    return rf"(?:{inner}|[{spaced}]++(?![{closers}]*+(?:\s|\Z))|{_WRAPPED})++(?:{end})?+|(?:{end})"


_SENTENCE: Final = re.compile(_sentence(_SPACED, _CLOSERS, "", "", ""))
_ANY_SENTENCE: Final = re.compile(_sentence(_ALL_SPACED, _ALL_CLOSERS, _UNSPACED, "", ""))
_THAI_SENTENCE: Final = re.compile(
    _sentence(_ALL_SPACED, _ALL_CLOSERS, _UNSPACED, _PHRASE, _PHRASE_STARTS)
)
_HAS_PHRASES: Final = re.compile(f"[{_PHRASE}]")
# After these, a full stop ends no sentence: read back from it, and on from it.
_ABBREVIATIONS: Final = (
    "cf vs Dr Mr Mrs Ms Prof Fig Eq approx resp Nr ca bzw vgl ggf evtl inkl Sr".split()
)
_SHORTENED: Final = re.compile(
    rf"(?:^|[\s(\[\"'])(?:{'|'.join(_ABBREVIATIONS)}|[A-Z]|[a-z]\.[ \xa0]?(?:[A-Za-z]|ex|ej))\.$"
)
_ENDS: Final = frozenset(word[-2:] for word in (*_ABBREVIATIONS, "No", "ex", "ej"))
_FIRST_LETTER: Final = re.compile(r"(?:^|[\s(\[\"'])[a-z]\.$")
_SECOND_LETTER: Final = re.compile(r"[ \xa0]?(?:[A-Za-z]|ex|ej)\.")
_NUMBER_SIGN: Final = re.compile(r"\bNo\.$")
_DAY: Final = re.compile(r"(?:^|[\s(\[\"'])[0-3]?[0-9]\.$")
_MONTH: Final = re.compile(
    r"[ \xa0](?:Jan|Jän|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)[a-zä]*+(?!\w)"
)
_LABEL: Final = re.compile(r"\s*(?:\(?[0-9]{1,3}|[A-Za-z])[.)]$")
_TAIL: Final = 16
"""So many characters before a full stop tell whether it belongs to an abbreviation or a label."""
_LONGEST_LABEL: Final = 6
"""Of an item of a list, such as `(12)`; what is longer is a word."""


def split(text: str) -> list[str]:
    """Return the sentences of *text*; a line of a list or a heading is one."""
    return [sentence for _, sentence in _split(text)]


def _split(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of *text*, each with the number of its paragraph."""
    pattern = _SENTENCE
    if not text.isascii():
        pattern = _THAI_SENTENCE if _HAS_PHRASES.search(text) else _ANY_SENTENCE
    number = -1
    for paragraph in _PARAGRAPHS.split(text):
        if not paragraph or paragraph.isspace():
            continue
        number += 1
        begun: list[str] = []  # pieces of a sentence after whose full stops it may go on
        tail = ""
        for piece in pattern.findall(paragraph):
            if not begun and not (piece[-1] == "." and _may_go_on(piece)):
                if sentence := piece.strip():
                    yield number, sentence
                continue
            if begun and not (piece[0].isspace() and _goes_on(tail, piece)):
                yield number, "".join(begun).strip()
                begun, tail = [], ""
            begun.append(piece)
            tail = (tail + piece)[-_TAIL:]
            if not (piece[-1] == "." and _may_go_on(tail)):
                if sentence := "".join(begun).strip():
                    yield number, sentence
                begun, tail = [], ""
        if begun:
            yield number, "".join(begun).strip()


def _may_go_on(piece: str) -> bool:
    """Tell cheaply whether the full stop at the end of *piece* may end no sentence."""
    if len(piece) <= _LONGEST_LABEL:
        return True
    last, before = piece[-2], piece[-3]
    return before in " .([\"'\n" or piece[-3:-1] in _ENDS or not last.islower()


def _goes_on(piece: str, after: str) -> bool:
    """Tell whether the full stop of *piece* belongs to an abbreviation or to a label."""
    tail = piece[-9:]
    if _SHORTENED.search(tail) or (_SECOND_LETTER.match(after) and _FIRST_LETTER.search(tail)):
        return True
    if _NUMBER_SIGN.search(tail):
        return after.strip()[:1].isdigit()
    if _MONTH.match(after) and _DAY.search(tail):
        return True
    return len(piece.strip()) <= _LONGEST_LABEL and _LABEL.match(piece) is not None


# What they are worth: points of the contract.

# Each is the contract's, except for conclusions, which count nearly as much as emphasis, and for
# the name of an error with its colon, which is what a log is read for.
IDENTIFIER_POINTS: Final = 3
EMPHASIS_POINTS: Final = 4
INFERENCE_POINTS: Final = 3
QUANTITY_POINTS: Final = 2
ABBREVIATION_POINTS: Final = 2
STATUS_POINTS: Final = 3
PLACE_POINTS: Final = 2
ERROR_POINTS: Final = 6
SIZE_POINTS: Final = 2
FILLER_POINTS: Final = -10
SHORTEST, LONGEST = 40, 120
"""Sentences of this many characters say something, and not too much."""

_FEATURES: Final = re.compile(
    r"(?<!\w)(?:(?P<place>(?<![./-])[\w/-]++(?:\.[\w/-]++)++:[0-9]++:)"
    r"|(?P<status>(?:PASS|FAIL|ERROR|WARNING|WARN)(?!\w))"
    r"|(?P<error>[A-Z][\w.]*+(?<=Error|rning|ption)(?=:))"
    rf"|(?P<name>(?:{PASCAL}|{CAMEL}|{SNAKE})(?!\w))"
    rf"|(?P<quantity>(?<![.,]){NUMBER}(?:%|(?i:{UNITS})(?!\w)))"
    rf"|(?P<number>(?<![.,]){NUMBER}(?=\Z))"
    rf"|(?P<short>{VOWELLESS}(?!\w)))"
)
_OPEN: Final = 1 << 24
"""Marks a token that ends in a number, whose unit may be the next token."""
_POINTS: Final[Mapping[str | None, int]] = {
    "place": PLACE_POINTS,
    "status": STATUS_POINTS,
    "error": ERROR_POINTS,
    "name": IDENTIFIER_POINTS,
    "quantity": QUANTITY_POINTS,
    "number": _OPEN,
    "short": ABBREVIATION_POINTS,
}
_SPACED_QUANTITY: Final = re.compile(rf"(?<![\w.,]){NUMBER}\s(?i:{UNITS})(?!\w)")
HAN_QUANTITY: Final = re.compile(
    rf"[0-9](?<![^\W{IDEOGRAPHS}].)(?<![.,].)[0-9]*+(?:[.,][0-9]++)*+[{IDEOGRAPHS}]{{1,2}}"
)
"""A number and its unit where nothing stands between words."""
_SIGNS: Final = bytes(32 if byte in b'()[]{}<>;,!?"`*|=#' else byte for byte in range(256))
_VOWELS: Final = frozenset(b"aeiouyAEIOUY")
_LONGEST_TOKEN: Final = 2_000
"""Characters of a token that are looked at: what is longer is data."""
_MOST_TOKENS: Final = 20_000
"""How many tokens are remembered: more take more memory than a text that has so many."""


class TokenPoints(dict[bytes, int]):
    """The points of tokens between blanks; most were seen before, which makes them a look-up."""

    def __missing__(self, token: bytes) -> int:
        points = _points_of(token)
        if len(self) < _MOST_TOKENS:
            self[token] = points
        return points


@lru_cache(maxsize=_MOST_TOKENS)
def _points_of(token: bytes) -> int:
    if token.isdigit():
        return _OPEN
    if is_word(token) or not (word := token.strip(b".:'*-/")):
        return 0
    if word is not token and word.isalpha() and not token.endswith(b":"):
        return _points_of(word)
    text = token[:_LONGEST_TOKEN].decode("latin-1")
    return sum([_POINTS[feature.lastgroup] for feature in _FEATURES.finditer(text)])


def is_word(token: bytes) -> bool:
    """Tell whether a token is a small or capitalized word with a vowel: it has no points."""
    return (
        token.isalpha() and (token.islower() or token.istitle()) and not _VOWELS.isdisjoint(token)
    )


def tokens_of(text: str) -> list[bytes]:
    """Cut *text* at blanks and signs; what is beyond Latin-1 is a question mark, hence a cut."""
    return text.encode("latin-1", "replace").translate(_SIGNS).split()


_EMPHASIS: Final = re.compile(rf"(?<!\w)(?:{'|'.join(EMPHATIC)})(?!\w)")
_INFERENCE: Final = re.compile(rf"(?<!\w)(?:{'|'.join(INFERRING)})(?!\w)")
FILLERS: Final = (
    *("great", "sure", "okay", "ok", "thanks", "thank you", "got it", "right", "alright"),
    *("absolutely", "exactly", "indeed", "cool", "nice", "perfect", "wonderful", "awesome"),
    *("fantastic", "sounds good", "makes sense", "i see", "i understand", "understood", "noted"),
    *("certainly", "of course", "no problem", "no worries", "will do", "let me", "i'll", "i can"),
    *("i would", "well", "so", "now", "hi", "hey", "hello", "dear all", "good morning"),
    *("good afternoon", "good evening", "good day"),
)
_FILLER: Final = re.compile(rf"(?:{'|'.join(FILLERS)})(?=[,.!?\s])")
_FILLER_HEADS: Final = frozenset(
    head for filler in FILLERS for head in (filler[:2], filler[:2].upper(), filler[:2].capitalize())
)
_NO_ANSWER: Final = re.compile(r"no (?:problem|worries)\b", re.I)
"""A negation that negates nothing."""
_NEGATION: Final = re.compile(
    r"\b(?:no(?:t|ne|thing|body|r)?|never|neither|cannot|without)\b|n['’]t\b", re.I
)


def is_filler(sentence: str) -> bool:
    """Tell whether a sentence opens as filler does; a negation or an answer is never filler."""
    if not _FILLER.match(sentence[:20].lower()):
        return False
    return not _NEGATION.search(_NO_ANSWER.sub("", sentence))


class Sentences(NamedTuple):
    """The sentences of a text, each once, as columns."""

    texts: list[str]
    scores: list[int]
    paragraphs: list[int]


def read(view: View, points: TokenPoints) -> Sentences:
    """Return the scored sentences of a text; of repeated ones only the first counts."""
    known = view.sentences
    if known is not None:
        return known
    text = view.text
    stress = [word.decode() for word in view.words & STRESS_WORDS]
    is_ascii = text.isascii()
    paragraphs: dict[str, int] = {}
    scores: list[int] = []
    look_up = points.__getitem__
    for paragraph, spelled in _split(text):
        sentence = " ".join(spelled.split()) if "\n" in spelled else spelled
        if sentence in paragraphs:
            continue
        paragraphs[sentence] = paragraph
        score = sum(map(look_up, tokens_of(sentence)))
        if score >= _OPEN:
            score = score % _OPEN + QUANTITY_POINTS * len(_SPACED_QUANTITY.findall(sentence))
        if SHORTEST <= len(sentence) <= LONGEST:
            score += SIZE_POINTS
        if not is_ascii:
            score += QUANTITY_POINTS * len(HAN_QUANTITY.findall(sentence))
        if stress:
            lower = sentence.lower()
            for word in stress:
                if word in lower:
                    score += EMPHASIS_POINTS * (_EMPHASIS.search(lower) is not None)
                    score += INFERENCE_POINTS * (_INFERENCE.search(lower) is not None)
                    break
        if sentence[:2] in _FILLER_HEADS and is_filler(sentence):
            score += FILLER_POINTS
        scores.append(score)
    view.sentences = known = Sentences(list(paragraphs), scores, list(paragraphs.values()))
    return known


def best_sentence_score(text: str) -> int:
    """Return the score of the best sentence of *text*."""
    return max(read(View(text), TokenPoints()).scores, default=0)


# How many of them make a summary.

_SHARE_AND_BOUNDS: Final[Mapping[Depth, tuple[float, int, int]]] = {
    "gentle": (0.3, 200, 600),
    "moderate": (0.15, 100, 400),
    "aggressive": (0.05, 40, 120),
}
"""The share of a text that its summary may take, and the least and the most characters of it."""
_LONG_TEXT: Final = 5_000
"""For texts of more characters, the most of a gentle summary grows with the logarithm."""
_GROWTH: Final = 0.75  # by so much a tenfold length


def char_budget(length: int, depth: Depth = "gentle") -> int:
    """Return how many characters a summary of *length* characters may have."""
    share, least, most = _SHARE_AND_BOUNDS[depth]
    cap = float(most)
    if depth == "gentle" and length > _LONG_TEXT:
        cap += cap * math.log10(length / _LONG_TEXT) * _GROWTH
    return max(least, min(int(share * length + 0.5), int(cap + 0.5)))


def summarize(groups: Sequence[Sentences], budget: int) -> str:
    """Join the best sentences of some texts: one of each, the best of paragraphs, what fits."""
    both = join(groups)
    if not both.texts:
        return ""
    if chosen := pack(both, budget, _best_of_each(groups)):
        return JOINT.join([both.texts[place] for place in chosen])
    return cut(both.texts[both.scores.index(max(both.scores))], budget)


def join(groups: Sequence[Sentences]) -> Sentences:
    """Concatenate the sentences of several texts, to choose from them together."""
    if len(groups) == 1:
        return groups[0]
    both = Sentences([], [], [])
    for one in groups:
        base = both.paragraphs[-1] + 1 if both.paragraphs else 0
        both.texts.extend(one.texts)
        both.scores.extend(one.scores)
        both.paragraphs.extend([base + number for number in one.paragraphs])
    return both


def _best_of_each(groups: Sequence[Sentences]) -> list[int]:
    """Return the place of the best sentence of each of several texts, without duplicates."""
    best_places: dict[str, int] = {}
    before = 0
    for one in groups if len(groups) > 1 else ():
        if one.texts:
            best = one.scores.index(max(one.scores))
            best_places[one.texts[best]] = before + best
        before += len(one.texts)
    return list(best_places.values())


def pack(sentences: Sentences, budget: int, first: Sequence[int] = ()) -> list[int]:
    """Choose sentences for *budget* characters; return their places in reading order.

    First those in *first*, whatever they cost, then the best of each paragraph, then what fits.
    """
    texts, scores, paragraphs = sentences
    chosen = list(first)
    taken = {texts[place] for place in first}
    left = budget + len(JOINT) - sum([len(text) + len(JOINT) for text in taken])
    lead: dict[int, int] = {}
    for place, score in enumerate(scores):
        best = lead.setdefault(paragraphs[place], place)
        if score > scores[best]:
            lead[paragraphs[place]] = place
    ranked = sorted(spread(len(texts)), key=scores.__getitem__, reverse=True)
    leads = set(lead.values())
    shortest = min(map(len, texts), default=0) + len(JOINT)
    for place in chain([p for p in ranked if p in leads], [p for p in ranked if p not in leads]):
        if left < shortest:
            break
        cost = len(texts[place]) + len(JOINT)
        if cost <= left and scores[place] >= 0 and texts[place] not in taken:
            chosen.append(place)
            taken.add(texts[place])
            left -= cost
    return sorted(chosen)


@lru_cache(maxsize=256)
def spread(count: int) -> tuple[int, ...]:
    """Order places so that the first few cover a text: first, middle, first quarter.

    Among sentences with equal scores, a summary should not just take the beginning.
    """
    order = [0]
    while len(order) < count:
        order = [2 * place for place in order] + [2 * place + 1 for place in order]
    return tuple([place for place in order if place < count])


def cut(text: str, budget: int) -> str:
    """Cut *text* between words if it is longer than *budget*."""
    if len(text) <= budget:
        return text
    return cut_words(text, budget - len(ELLIPSIS)) + ELLIPSIS
