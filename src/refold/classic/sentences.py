"""Prose as sentences: what each is worth, and which of them make a summary."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from refold.classic.english import EMPHATIC, INFERRING, has_phrase
from refold.classic.texts import View
from refold.lazy import regex
from refold.options import Depth
from refold.scan.patterns import CAMEL, IDEOGRAPHS, NUMBER, PASCAL, SNAKE, UNITS, VOWELLESS
from refold.scan.truncate import cut_words

JOINT: Final = " ... "
ELLIPSIS: Final = "..."

# Where sentences end.

_PARAGRAPHS: Final = regex(r"\n[ \t\r]*\n\s*")
# A line break before a small letter, or after a long line before a word, only wraps.
_WRAPPED: Final = (
    r"\n(?:(?=[ \t]{0,7}[a-zß-öø-ÿα-ωа-яё])"
    r"|(?<=[^\n]{60}\n)(?=[ \t]{0,7}[^\W_])(?![ \t]*\(?[0-9]{1,3}[.)][ \t]))"
)
_UNSPACED: Final = "。！？｡﹒︒।॥۔؟։።፧။។៕།༎"
"""Marks after which no blank has to follow: Chinese, Japanese, Hindi, Arabic, Khmer and others."""
_PHRASE: Final = "\u0e01-\u0e4e\u0e81-\u0ecf"
_PHRASE_STARTS: Final = "\u0e01-\u0e30\u0e40-\u0e45\u0e81-\u0eb0\u0ec0-\u0ec5"
"""Thai and Lao put a blank between phrases where others put a mark; a word can begin with these."""


def _sentence(spaced: str, closers: str, unspaced: str = "", gap: str = "") -> re.Pattern[str]:
    """Spell a sentence: up to a mark before a blank, a mark that needs none, or a *gap*."""
    stop = rf"[{spaced}]++[{closers}]*+"
    end = f"{stop}|[{unspaced}]++[{closers}]*+" if unspaced else stop
    # A blank between phrases ends one, so it may not be read over.
    inner = rf"[^{spaced}{unspaced}\n ]++|(?!{gap}) " if gap else rf"[^{spaced}{unspaced}\n]++"
    more = rf"[{spaced}]++(?![{closers}]*+(?:\s|\Z))"
    return regex(rf"(?:{inner}|{more}|{_WRAPPED})++(?:{end})?+|(?:{end})")


_SENTENCE: Final = _sentence(".!?", "\"')\\]*_")
_EVERYWHERE: Final = (".!?…", "\"'”’)\\]»*_」』）》", _UNSPACED)
_ANY_SENTENCE: Final = _sentence(*_EVERYWHERE)
_THAI_SENTENCE: Final = _sentence(*_EVERYWHERE, f"(?<=[{_PHRASE}]) {{1,2}}(?=[{_PHRASE_STARTS}])")
_HAS_PHRASES: Final = regex(f"[{_PHRASE}]")
# After these, a full stop ends no sentence: read back from it, and on from it.
_ABBREVIATIONS: Final = (
    "cf vs Dr Mr Mrs Ms Prof Fig Eq approx resp Nr ca bzw vgl ggf evtl inkl Sr".split()
)
_SHORTENED: Final = regex(
    rf"(?:^|[\s(\[\"'])(?:{'|'.join(_ABBREVIATIONS)}|[A-Z]|[a-z]\.[ \xa0]?(?:[A-Za-z]|ex|ej))\.$"
)
_ENDS: Final = frozenset(word[-2:] for word in (*_ABBREVIATIONS, "No", "ex", "ej"))
_FIRST_LETTER: Final = regex(r"(?:^|[\s(\[\"'])[a-z]\.$")
_SECOND_LETTER: Final = regex(r"[ \xa0]?(?:[A-Za-z]|ex|ej)\.")
_NUMBER_SIGN: Final = regex(r"\bNo\.$")
_DAY: Final = regex(r"(?:^|[\s(\[\"'])[0-3]?[0-9]\.$")
_MONTH: Final = regex(
    r"[ \xa0](?:Jan|Jän|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)[a-zä]*+(?!\w)"
)
_LABEL: Final = regex(r"\s*(?:\(?[0-9]{1,3}|[A-Za-z])[.)]$")
_TAIL: Final = 16  # characters before a full stop that show what it belongs to
_LONGEST_LABEL: Final = 6  # of an item of a list, such as `(12)`; what is longer is a word


def split(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of *text*, each with the number of its paragraph.

    A line of a list or a heading is one.
    """
    pattern = _SENTENCE
    if not text.isascii():
        pattern = _THAI_SENTENCE if _HAS_PHRASES.search(text) else _ANY_SENTENCE
    number = -1
    for paragraph in _PARAGRAPHS.split(text):
        if not paragraph or paragraph.isspace():
            continue
        number += 1
        begun: list[str] = []  # pieces of a sentence after whose full stops it may continue
        tail = ""
        for piece in pattern.findall(paragraph):
            if begun and not (_may_go_on(tail) and piece[0].isspace() and _goes_on(tail, piece)):
                if sentence := "".join(begun).strip():
                    yield number, sentence
                begun, tail = [], ""
            begun.append(piece)
            tail = (tail + piece)[-_TAIL:]
        if sentence := "".join(begun).strip():
            yield number, sentence


def _may_go_on(piece: str) -> bool:
    """Tell cheaply whether *piece* ends in a full stop that may end no sentence."""
    if piece[-1] != ".":
        return False
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


# What they are worth. Points are the contract's, except for conclusions, which count nearly as much
# as emphasis, and for the name of an error with its colon, which is what a log is read for.

IDENTIFIER_POINTS, ABBREVIATION_POINTS, QUANTITY_POINTS, PLACE_POINTS = 3, 2, 2, 2
STATUS_POINTS, ERROR_POINTS = 3, 6
EMPHASIS_POINTS, INFERENCE_POINTS, SIZE_POINTS, FILLER_POINTS = 4, 3, 2, -10
SHORTEST, LONGEST = 40, 120  # sentences of so many characters say something, and not too much

_FEATURES: Final = regex(
    r"(?<!\w)(?:(?P<place>(?<![./-])[\w/-]++(?:\.[\w/-]++)++:[0-9]++:)"
    r"|(?P<status>(?:PASS|FAIL|ERROR|WARNING|WARN)(?!\w))"
    r"|(?P<error>[A-Z][\w.]{0,99}+(?<=Error|rning|ption)(?=:))"
    rf"|(?P<name>(?:{PASCAL}|{CAMEL}|{SNAKE})(?!\w))"
    rf"|(?P<quantity>(?<![.,]){NUMBER}(?:%|(?i:{UNITS})(?!\w)))"
    rf"|(?P<number>(?<![.,]){NUMBER}(?=\Z))"
    rf"|(?P<short>{VOWELLESS}(?!\w)))"
)
_OPEN: Final = 1 << 24  # marks a token that ends in a number, whose unit may be the next token
_POINTS: Final[Mapping[str | None, int]] = {
    "place": PLACE_POINTS,
    "status": STATUS_POINTS,
    "error": ERROR_POINTS,
    "name": IDENTIFIER_POINTS,
    "quantity": QUANTITY_POINTS,
    "number": _OPEN,
    "short": ABBREVIATION_POINTS,
}
_SPACED_QUANTITY: Final = regex(  # begins with a digit, so that `re` can skip all other text
    rf"[0-9](?<![\w.,].)[0-9]*+(?:[.,][0-9]++)*+\s(?i:{UNITS})(?!\w)"
)
HAN_QUANTITY: Final = regex(
    rf"[0-9](?<![^\W{IDEOGRAPHS}].)(?<![.,].)[0-9]*+(?:[.,][0-9]++)*+[{IDEOGRAPHS}]{{1,2}}"
)
"""A number and its unit where nothing stands between words."""
_IDEOGRAPH: Final = regex(f"[{IDEOGRAPHS}]")
_SIGNS: Final = bytes(32 if byte in b'()[]{}<>;,!?"`*|=#' else byte for byte in range(256))
_VOWELS: Final = frozenset(b"aeiouyAEIOUY")
_LONGEST_TOKEN: Final = 2_000  # characters of a token that are looked at; more are data


@lru_cache(maxsize=20_000)
def points_of(token: bytes) -> int:
    """Return the points of a token between blanks; most were seen before, so that is a look-up."""
    if token.isdigit():
        return _OPEN
    if is_word(token) or not (word := token.strip(b".:'*-/")):
        return 0
    if word is not token and word.isalpha() and not token.endswith(b":"):
        return points_of(word)
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


FILLERS: Final = (
    *("great", "sure", "okay", "ok", "thanks", "thank you", "got it", "right", "alright"),
    *("absolutely", "exactly", "indeed", "cool", "nice", "perfect", "wonderful", "awesome"),
    *("fantastic", "sounds good", "makes sense", "i see", "i understand", "understood", "noted"),
    *("certainly", "of course", "no problem", "no worries", "will do", "let me", "i'll", "i can"),
    *("i would", "well", "so", "now", "hi", "hey", "hello", "dear all", "good morning"),
    *("good afternoon", "good evening", "good day"),
)
_FILLER: Final = regex(rf"(?:{'|'.join(FILLERS)})(?=[,.!?\s])")
_FILLER_HEADS: Final = frozenset(
    head for filler in FILLERS for head in (filler[:2], filler[:2].upper(), filler[:2].capitalize())
)
_NO_ANSWER: Final = regex(r"no (?:problem|worries)\b", re.I)  # negates nothing
_NEGATION: Final = regex(
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


def read(view: View) -> Sentences:
    """Return the scored sentences of a text; of repeated ones only the first counts."""
    if view.sentences is not None:
        return view.sentences
    text = view.text
    emphatic, inferring = EMPHATIC.seen_in(view), INFERRING.seen_in(view)
    has_ideographs = not text.isascii() and _IDEOGRAPH.search(text) is not None
    paragraphs: dict[str, int] = {}
    scores: list[int] = []
    for paragraph, spelled in split(text):
        sentence = " ".join(spelled.split()) if "\n" in spelled else spelled
        if sentence in paragraphs:
            continue
        paragraphs[sentence] = paragraph
        score = sum(map(points_of, tokens_of(sentence)))
        if score >= _OPEN:
            score = score % _OPEN + QUANTITY_POINTS * len(_SPACED_QUANTITY.findall(sentence))
        if SHORTEST <= len(sentence) <= LONGEST:
            score += SIZE_POINTS
        if has_ideographs:
            score += QUANTITY_POINTS * len(HAN_QUANTITY.findall(sentence))
        if emphatic or inferring:
            lower = sentence.lower()
            score += EMPHASIS_POINTS * has_phrase(lower, emphatic)
            score += INFERENCE_POINTS * has_phrase(lower, inferring)
        if sentence[:2] in _FILLER_HEADS and is_filler(sentence):
            score += FILLER_POINTS
        scores.append(score)
    known = view.sentences = Sentences(list(paragraphs), scores, list(paragraphs.values()))
    return known


# How many of them make a summary.

_SHARE_AND_BOUNDS: Final[Mapping[Depth, tuple[float, int, int]]] = {
    "gentle": (0.3, 200, 600),
    "moderate": (0.15, 100, 400),
    "aggressive": (0.05, 40, 120),
}
"""The share of a text that its summary may take, and the least and the most characters of it."""
_LONG_TEXT, _GROWTH = 5_000, 0.75
"""For longer texts, the most of a gentle summary grows by so much a tenfold length."""


def char_budget(length: int, depth: Depth = "gentle") -> int:
    """Return how many characters a summary of *length* characters may have."""
    share, least, most = _SHARE_AND_BOUNDS[depth]
    cap = float(most)
    if depth == "gentle" and length > _LONG_TEXT:
        cap += cap * math.log10(length / _LONG_TEXT) * _GROWTH
    return max(least, min(int(share * length + 0.5), int(cap + 0.5)))


def summarize(groups: Sequence[Sentences], budget: int) -> str:
    """Join the best sentences of some texts: one of each, the best of paragraphs, what fits."""
    both, first, before = join(groups), dict[str, int](), 0
    for one in groups if len(groups) > 1 else ():
        if one.texts:
            best = one.scores.index(max(one.scores))
            first[one.texts[best]] = before + best
        before += len(one.texts)
    if chosen := pack(both, budget, [*first.values()]):
        return JOINT.join([both.texts[place] for place in chosen])
    return cut(both.texts[both.scores.index(max(both.scores))], budget) if both.texts else ""


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


def pack(sentences: Sentences, budget: int, first: Sequence[int] = ()) -> list[int]:
    """Choose sentences for *budget* characters; return their places in reading order.

    First those in *first*, whatever they cost, then the best of each paragraph, then what fits.
    """
    texts, scores, paragraphs = sentences
    chosen = list(first)
    taken = {texts[place] for place in first}
    left = budget + len(JOINT) - sum([len(text) + len(JOINT) for text in taken])
    leads: dict[int, int] = {}
    for place in sorted(range(len(texts)), key=scores.__getitem__, reverse=True):
        leads.setdefault(paragraphs[place], place)
    others = set(range(len(texts))).difference(leads.values())
    ranked = sorted(spread(len(texts)), key=scores.__getitem__, reverse=True)
    shortest = min(map(len, texts), default=0) + len(JOINT)
    for place in sorted(ranked, key=others.__contains__):
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
