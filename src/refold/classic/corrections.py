"""What other messages say about one: later ones that refer to it, or that correct it."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from refold.classic.sentences import is_word, tokens_of
from refold.classic.texts import View
from refold.classic.words import (
    COMPATIBILITY_WORDS,
    CONSTRAINING,
    CORRECTION_WORDS,
    CORRECTIVE,
    DECISION_WORDS,
    DECISIVE,
    SIGNAL_WORDS,
    Words,
    words_of,
)
from refold.scan.patterns import CAMEL, IDEOGRAPHS, PASCAL, SNAKE, VOWELLESS

if TYPE_CHECKING:
    from refold.classic.rules import Run, Text

DECISION_WEIGHT, CORRECTION_WEIGHT, CONSTRAINT_WEIGHT = 0.15, 0.25, 0.10
MAX_SIGNALS: Final = 0.4
"""Words alone do not make a message important."""
REFERENCE_WEIGHT: Final = 0.5
RECENCY_WEIGHT: Final = 0.1
_MAX_LATER: Final = 256
"""Later mentions of one name that count: keeps the work linear."""
_MIN_CHARS: Final = 50
"""A reference to the correction of a shorter statement would cost as much."""
_OTHER_ROLE_FACTOR: Final = 1.5
"""A correction in another role must have so much more in common with the statement. A guess."""
_REACH: Final = 64
"""How many statements back a correction looks: keeps the work linear."""

# Words that decide, correct, constrain.

_DECISIONS: Final = (
    *("do not", "don't", "don’t", "rather than", "the approach is", "the solution is"),
    *("the fix is", "the answer is", "decide to", "decided to"),
    *(f"{we} {act}" for we in ("we'll", "we’ll", "we will") for act in ("go with", "use")),
    *("we'll implement", "we’ll implement", "we will implement"),
)
_CORRECTION: Final = re.compile(
    r"\bno(?:[,.]?\s(?:use|it['’]s|that['’]s|the)\b|t \w+[,.]?\s(?:but|use|it['’]s)\b)"
    r"|\bscratch that\b|\bignore (?:that|my|the previous)\b|\b(?:wait|sorry|instead),"
)
_COMPATIBILITY: Final = re.compile(r"\b(?:breaking change|backwards? compat)")


def score_signals(view: View) -> float:
    """Return how strongly a text decides, corrects or constrains, from 0 to 0.4."""
    seen = view.words
    decides = not DECISIVE.isdisjoint(seen) or (
        not DECISION_WORDS.isdisjoint(seen) and any(map(view.has, _DECISIONS))
    )
    corrects = not CORRECTIVE.isdisjoint(seen) or (
        not CORRECTION_WORDS.isdisjoint(seen) and _CORRECTION.search(view.lower) is not None
    )
    constrains = not CONSTRAINING.isdisjoint(seen) or (
        not COMPATIBILITY_WORDS.isdisjoint(seen) and _COMPATIBILITY.search(view.lower) is not None
    )
    score = (
        DECISION_WEIGHT * decides + CORRECTION_WEIGHT * corrects + CONSTRAINT_WEIGHT * constrains
    )
    return min(MAX_SIGNALS, score)


# Importance.

_REFERENCE: Final = re.compile(
    rf"(?<!\w)(?:(?:{PASCAL}|{CAMEL}|{SNAKE}|{VOWELLESS})(?!\w)"
    r"|(?<![./-])[\w/-]++(?:\.[\w/-]++)++:[0-9]++)"
)
_LONGEST_NAME: Final = 500
"""Characters of a token that are looked at: what is longer is data."""


def find_importance(run: Run) -> list[float]:
    """Score every message of a run."""
    views = [run.whole_view(message) for message in run.messages]
    return score_importance(views, least=run.options.importance_threshold)


def score_importance(views: Sequence[View], least: float = 0.0) -> list[float]:
    """Score texts from 0 to 1: later references, signal words, and a little for recency.

    References and recency reach 0.6, so where no text has the signals to be worth *least* with
    them, names are not looked for.
    """
    signals = [score_signals(view) for view in views]
    last = max(len(views) - 1, 1)
    if max(signals, default=0.0) + REFERENCE_WEIGHT + RECENCY_WEIGHT < least:
        return signals
    names = _names_of(views)
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
        min(
            1.0,
            REFERENCE_WEIGHT * (count / most if most else 0)
            + signal
            + RECENCY_WEIGHT * index / last,
        )
        for index, (count, signal) in enumerate(zip(references, signals, strict=True))
    ]


def _names_of(views: Sequence[View]) -> list[set[str]]:
    """Return the names in each text, in lower case; each token is looked through once."""
    known: dict[bytes, tuple[str, ...]] = {}
    rows: list[set[str]] = []
    for view in views:
        tokens = set(tokens_of(view.text))
        for token in tokens - known.keys():
            names: tuple[str, ...] = ()
            if not is_word(token):
                matches = _REFERENCE.findall(token[:_LONGEST_NAME].decode("latin-1"))
                names = tuple(map(str.lower, matches))
            known[token] = names
        rows.append(set(chain.from_iterable([known[token] for token in tokens])))
    return rows


# Corrections.

_X: Final = r"\s[\w'-]{1,40}"
_RETRACTED: Final = (
    r"(?:that|this|what i|my (?:last|previous|earlier)|the (?:previous|last|earlier|above))\b"
)


class _Signal(NamedTuple):
    """A way to correct what was said: its name, words of which it needs one, and its pattern."""

    name: str
    words: Words
    pattern: re.Pattern[str]


_SIGNALS: Final = tuple(
    _Signal(name, words_of(words), re.compile(pattern))
    for name, words, pattern in (
        ("explicit_correction", "actually correction", r"\b(?:actually|correction)[,.:]"),
        (
            "negation_directive",
            "no",
            r"\bno[,.]?\s{1,4}(?:use|it['’]s|that['’]s|it should|we should)\b",
        ),
        (
            "instead_directive",
            "instead rather",
            r"\b(?:instead|rather)[,.]?\s{1,4}(?:use|do|we|you)\b",
        ),
        # A bare "ignore" is an ordinary verb: "should ignore upper and lower case".
        (
            "retraction",
            "scratch disregard ignore",
            rf"\bscratch that\b|\bdisregard\b|\bignore {_RETRACTED}",
        ),
        ("dont_directive", "don dont", r"\bdon['’]?t\s{1,4}(?:use|do|add|include|import)\b"),
        ("not_but_pattern", "not", rf"\bnot{_X}[,.;]?\s{{1,4}}(?:but|use|go with)\b"),
        ("wait_correction", "wait", r"\bwait[,.]\s"),
        ("sorry_correction", "sorry", r"\bsorry[,.]\s{1,4}(?:i|that|the)\b"),
        ("self_correction", "wrong", r"\bi was wrong\b"),
        ("rephrase", "let", r"\blet me (?:correct|rephrase|clarify)\b"),
    )
)


def correction_signal(view: View) -> str:
    """Return the first way in which a text corrects something said before; "" if none does."""
    seen = view.words & SIGNAL_WORDS
    for signal in _SIGNALS if seen else ():
        if not signal.words.isdisjoint(seen) and signal.pattern.search(view.lower):
            return signal.name
    return ""


_SHORT_WORDS: Final = frozenset(
    bytes(pair) for a in range(97, 123) for pair in ([a], *([a, b] for b in range(97, 123)))
)
_TOPIC_LETTERS: Final = bytes(
    byte if 97 <= byte < 123 or byte == 95 else byte + 32 if 65 <= byte < 91 else 32
    for byte in range(256)
)
_WORD: Final = re.compile(
    # Identifiers whole; the look-behind lets a run be tried from its beginning only.
    rf"(?<!\w)[^\W_]++(?:_++[^\W_]++)++|[^\W\d_{IDEOGRAPHS}]{{3,}}+|[{IDEOGRAPHS}]{{2}}"
)


def _topic(view: View) -> frozenset[bytes]:
    """Return the words by which the topic of a text is told."""
    if view.text.isascii():
        return frozenset(view.plain.translate(_TOPIC_LETTERS).split()) - _SHORT_WORDS
    matches = _WORD.findall(view.text)
    return frozenset([word.lower().encode("utf-8", "replace") for word in matches])


class Correction(NamedTuple):
    """The text that corrects another one, and how it says so."""

    by: Text
    signal: str


class Corrections(NamedTuple):
    """Corrected texts and those that correct them, by their numbers."""

    corrected: dict[int, Correction]
    correcting: dict[int, str]
    """The id of the first message that each corrects."""


def find_corrections(run: Run) -> Corrections:
    """Decide which open texts are corrected: none of them corrects another one as well."""
    both = Corrections({}, {})
    for old, (new, signal) in find_nearest(run).items():
        by = run.read_at(new)  # what became a reference to a copy is read there
        is_free = run.is_open(old) and old.number not in both.correcting
        # References name whole messages, so a message cannot refer to itself.
        if is_free and by.message is not old.message:
            both.corrected[old.number] = Correction(by, signal)
            if run.is_open(by) and by.number not in both.corrected:
                both.correcting.setdefault(by.number, old.message.id)
    return both


def find_nearest(run: Run) -> dict[Text, Correction]:
    """Map statements to the first correction that is more like them than like any other.

    Where nothing corrects, no words are compared.
    """
    nearest: dict[Text, Correction] = {}
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
            nearest.setdefault(stated[best], Correction(stated[place], signal))
    return nearest
