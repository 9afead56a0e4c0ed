"""What other messages say about one: later ones that refer to it, or that correct it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from refold.classic import english
from refold.classic.english import words_of
from refold.classic.sentences import is_word, tokens_of
from refold.classic.texts import View
from refold.lazy import regex
from refold.scan.patterns import CAMEL, IDEOGRAPHS, PASCAL, SNAKE, VOWELLESS

if TYPE_CHECKING:
    from refold.classic.rules import Run, Text

DECISION_WEIGHT, CORRECTION_WEIGHT, CONSTRAINT_WEIGHT = 0.15, 0.25, 0.10
MAX_SIGNALS: Final = 0.4  # words alone do not make a message important
REFERENCE_WEIGHT, RECENCY_WEIGHT = 0.5, 0.1
_MAX_LATER: Final = 256  # later mentions of one name that count: keeps the work linear
_MIN_CHARS: Final = 50  # a reference to the correction of a shorter statement would cost as much
_OTHER_ROLE_FACTOR: Final = 1.5
"""A correction in another role must have so much more in common with the statement. A guess."""
_REACH: Final = 64  # how many statements back a correction looks: keeps the work linear

# Words that decide, correct, constrain.

_CORRECTION: Final = regex(
    r"\bno(?:[,.]?\s(?:use|it['’]s|that['’]s|the)\b|t \w+[,.]?\s(?:but|use|it['’]s)\b)"
    r"|\bscratch that\b|\bignore (?:that|my|the previous)\b|\b(?:wait|sorry|instead),"
)
_COMPATIBILITY: Final = regex(r"\b(?:breaking change|backwards? compat)")


def score_signals(view: View) -> float:
    """Return how strongly a text decides, corrects or constrains, from 0 to 0.4."""
    if not view.has_any(english.WEIGHTY_WORDS):  # as in most texts
        view.forget()
        return 0.0
    decides = view.has_any(english.DECISIVE) or bool(english.DECISIONS.seen_in(view))
    corrects = view.has_any(english.CORRECTIVE) or (
        view.has_any(english.CORRECTION_WORDS) and _CORRECTION.search(view.lower) is not None
    )
    constrains = view.has_any(english.CONSTRAINING) or (
        view.has_any(english.COMPATIBILITY_WORDS) and _COMPATIBILITY.search(view.lower) is not None
    )
    view.forget()
    score = DECISION_WEIGHT * decides + CORRECTION_WEIGHT * corrects
    return min(MAX_SIGNALS, score + CONSTRAINT_WEIGHT * constrains)


# Importance.

_REFERENCE: Final = regex(
    rf"(?<!\w)(?:(?:{PASCAL}|{CAMEL}|{SNAKE}|{VOWELLESS})(?!\w)"
    r"|(?<![./-])[\w/-]++(?:\.[\w/-]++)++:[0-9]++)"
)
_LONGEST_NAME: Final = 500  # characters of a token that are looked at: what is longer is data


def score_importance(views: Sequence[View], least: float = 0.0) -> list[float]:
    """Score texts from 0 to 1: later references, signal words, and a little for recency.

    References and recency reach 0.6, so where no text has the signals to be worth *least* with
    them, names are not looked for.
    """
    signals = [score_signals(view) for view in views]
    last = max(len(views) - 1, 1)
    if max(signals, default=0.0) + REFERENCE_WEIGHT + RECENCY_WEIGHT < least:
        return signals
    names = [set(chain.from_iterable(map(_names_in, set(tokens_of(view.text))))) for view in views]
    mentions: dict[str, list[int]] = defaultdict(list)
    references = [0] * len(views)
    for index in range(len(views) - 1, -1, -1):
        later: set[int] = set()
        for name in names[index]:
            places = mentions[name]
            later.update(places)
            if len(places) < _MAX_LATER:
                places.append(index)
        references[index] = len(later)
    most = max(references, default=0)
    return [
        min(1.0, REFERENCE_WEIGHT * count / (most or 1) + signal + RECENCY_WEIGHT * index / last)
        for index, (count, signal) in enumerate(zip(references, signals, strict=True))
    ]


@lru_cache(maxsize=20_000)
def _names_in(token: bytes) -> tuple[str, ...]:
    """Return the names in a token, in lower case."""
    if is_word(token):
        return ()
    return tuple(map(str.lower, _REFERENCE.findall(token[:_LONGEST_NAME].decode("latin-1"))))


# Corrections.

_X, _GO = r"\s[\w'-]{1,40}", r"[,.]?\s{1,4}"
# A bare "ignore" is an ordinary verb: "should ignore upper and lower case".
_RETRACTED: Final = (
    r"\bscratch that\b|\bdisregard\b|\bignore "
    r"(?:that|this|what i|my (?:last|previous|earlier)|the (?:previous|last|earlier|above))\b"
)
_SIGNALS: Final = tuple(
    (name, words_of(hints), regex(pattern))
    for name, hints, pattern in (
        ("explicit_correction", "actually correction", r"\b(?:actually|correction)[,.:]"),
        ("negation_directive", "no", rf"\bno{_GO}(?:use|it['’]s|that['’]s|(?:it|we) should)\b"),
        ("instead_directive", "instead rather", rf"\b(?:instead|rather){_GO}(?:use|do|we|you)\b"),
        ("retraction", "scratch disregard ignore", _RETRACTED),
        ("dont_directive", "don dont", r"\bdon['’]?t\s{1,4}(?:use|do|add|include|import)\b"),
        ("not_but_pattern", "not", rf"\bnot{_X}[,.;]?\s{{1,4}}(?:but|use|go with)\b"),
        ("wait_correction", "wait", r"\bwait[,.]\s"),
        ("sorry_correction", "sorry", r"\bsorry[,.]\s{1,4}(?:i|that|the)\b"),
        ("self_correction", "wrong", r"\bi was wrong\b"),
        ("rephrase", "let", r"\blet me (?:correct|rephrase|clarify)\b"),
    )
)
"""Ways to correct what was said: their names, words of which each needs one, and patterns."""


def correction_signal(view: View) -> str:
    """Return the first way in which a text corrects something said before; "" if none does."""
    seen = view.words & english.SIGNAL_WORDS
    for name, hints, pattern in _SIGNALS if seen else ():
        if not hints.isdisjoint(seen) and pattern.search(view.lower):
            return name
    return ""


_SHORT_WORDS: Final = frozenset(
    bytes(pair) for a in range(97, 123) for pair in ([a], *([a, b] for b in range(97, 123)))
)
_TOPIC_LETTERS: Final = bytes(
    byte if 97 <= byte < 123 or byte == 95 else byte + 32 if 65 <= byte < 91 else 32
    for byte in range(256)
)
_WORD: Final = regex(
    # Identifiers whole; the look-behind lets a run be tried from its beginning only.
    rf"(?<!\w)[^\W_]++(?:_++[^\W_]++)++|[^\W\d_{IDEOGRAPHS}]{{3,}}+|[{IDEOGRAPHS}]{{2}}"
)


def _topic(view: View) -> frozenset[bytes]:
    """Return the words by which the topic of a text is told."""
    if view.text.isascii():
        return frozenset(view.plain.translate(_TOPIC_LETTERS).split()) - _SHORT_WORDS
    matches = _WORD.findall(view.text)
    return frozenset([word.lower().encode("utf-8", "replace") for word in matches])


def find_corrections(run: Run) -> dict[Text, tuple[str, Text | None]]:
    """Map texts that are corrected, or correct others, to why, and to what corrects them.

    No text does both.
    """
    reasons: dict[Text, tuple[str, Text | None]] = {}
    for old, (new, signal) in find_nearest(run).items():
        by = (new.verdict and new.verdict.to) or new  # a reference is read where it leads
        # References name whole messages, so a message cannot refer to itself.
        if old.verdict is None and old not in reasons and by.message is not old.message:
            reasons[old] = (f"contradicted:{signal}", by)
            if by.verdict is None:
                reasons.setdefault(by, (f"corrects:{old.message.id}", None))
    return reasons


def find_nearest(run: Run) -> dict[Text, tuple[Text, str]]:
    """Map statements to the first correction that is more like them than like any other.

    Where nothing corrects, no words are compared.
    """
    nearest: dict[Text, tuple[Text, str]] = {}
    if not run.options.contradiction_detection:
        return nearest
    stated = [
        text for text in run.texts if len(text.text) >= _MIN_CHARS and run.may_refer(text.message)
    ]
    signals = [correction_signal(text.view) for text in stated]
    if not any(signals[1:]):
        return nearest
    threshold = run.options.contradiction_topic_threshold
    topics = [_topic(text.view) for text in stated]
    for text in stated:
        text.view.forget()
    frequency = Counter(chain.from_iterable(topics))
    weights = {word: math.log(1 + len(stated) / count) for word, count in frequency.items()}
    if len(stated) < 3:  # rarity says nothing yet
        weights = dict.fromkeys(weights, 1.0)
    masses = [math.fsum(map(weights.__getitem__, topic)) for topic in topics]
    for place, signal in enumerate(signals):
        most, best = 0.0, -1
        for earlier in range(max(0, place - _REACH), place) if signal else ():
            shared = math.fsum(map(weights.__getitem__, topics[place] & topics[earlier]))
            similarity = 2 * shared / ((masses[place] + masses[earlier]) or 1)
            same_role = stated[earlier].message.role == stated[place].message.role
            needed = threshold * (1 if same_role else _OTHER_ROLE_FACTOR)
            if similarity >= max(needed, most):
                most, best = similarity, earlier
        if best >= 0:
            nearest.setdefault(stated[best], (stated[place], signal))
    return nearest
