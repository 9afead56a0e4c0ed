"""What other messages say about one: that they repeat it, refer to it, or correct it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from refold.classic import english
from refold.classic.english import words_of
from refold.classic.sentences import is_word, tokens_of
from refold.classic.structured import has_fence, has_prose
from refold.classic.texts import View
from refold.lazy import regex
from refold.messages.wire import text_digest
from refold.scan.patterns import CAMEL, IDEOGRAPHS, PASCAL, SNAKE, VOWELLESS
from refold.scan.structure import bag_of, is_json, jaccard, normal_lines

if TYPE_CHECKING:
    from refold.classic.rules import Run, Text

# Copies, exact and near: which one stays, and which refer to it.

LEAST_COPIED: Final = 200  # a reference costs about as much as a shorter copy
_MIN_LINES: Final = 2  # near copies are compared by lines: a single one may be alike by chance
_MIN_LENGTH_RATIO: Final = 0.7
"""Texts whose lengths differ more cannot share enough lines for the usual threshold of .85."""
_MAX_FAMILIES: Final = 16
"""How many earlier families a text is compared with: keeps the work linear on any input."""

Copies = dict["Text", "tuple[Text, float | None]"]
"""What open texts are copies of, and how similar near copies are, from 0 to 1."""


def find_copies(run: Run) -> Copies:
    """Map open texts to the exact copies that they may refer to."""
    copies: Copies = {}
    groups: dict[tuple[bool, str], list[Text]] = {}
    for text in run.texts if run.options.dedup else ():
        if len(text.text) >= LEAST_COPIED and run.may_refer(text.message):
            # A user's words never refer to those of others.
            groups.setdefault((text.message.role == "user", text.text), []).append(text)
    for group in groups.values():
        copies.update((text, (target, None)) for text, target in _references(group, run))
    return copies


def _references(group: Sequence[Text], run: Run) -> Iterator[tuple[Text, Text]]:
    """Yield the open texts of a group that may refer to the copy that stays, and that one.

    The first recent copy stays, else the latest. With `keep_duplicate="first"`, the first one, and
    only if it stays for a reason of its own: a later copy must not change what was shown before.
    """
    if len(group) < 2:
        return
    target = group[0]
    if run.options.keep_duplicate == "latest":
        recent = (text for text in group if text.message.index >= run.recent_from)
        target = next(recent, group[-1])
    elif not _is_kept_by_content(target, run):
        return
    for text in group:
        if text.message is not target.message and text.verdict is None:
            yield text, target


def _is_kept_by_content(text: Text, run: Run) -> bool:
    if run.is_large(text.message):
        return is_json(text.text)
    if has_fence(text.text):
        return not has_prose(text.text)
    return bool(run.reader.detectors.first_hard(text.view)) or is_json(text.text)


def find_near_copies(run: Run) -> Copies:
    """Map open texts to those that they repeat but for a few lines.

    Not all pairs are compared. Two texts that are alike enough share one of their rarest lines, if
    one more of these is looked at than either may lack. Lines that all texts have are looked at
    last, so a shared header costs nothing.
    """
    if not run.options.fuzzy_dedup:
        return {}
    lines = {
        text: lines_of
        for text in run.texts
        if len(text.text) >= LEAST_COPIED
        and run.may_refer(text.message)
        and not ((copy := run.copies.get(text)) and copy.to)
        and len(lines_of := normal_lines(text.text)) >= _MIN_LINES
    }
    # Rarity is known only where later texts may be looked at.
    frequency: Counter[str] = Counter()
    for lines_of in lines.values() if run.options.keep_duplicate == "latest" else ():
        frequency.update(set(lines_of))
    families: list[list[Text]] = []
    heads: dict[str, list[list[Text]]] = defaultdict(list)
    bags: dict[Text, Counter[str]] = {}
    for text, lines_of in lines.items():
        rare = _rarest(lines_of, frequency, run.options.fuzzy_threshold)
        if not rare:
            continue
        bags[text] = bag_of(lines_of)
        known = (family for line in rare for family in reversed(heads[line][-_MAX_FAMILIES:]))
        tried = {family[0]: family for family in known}
        for family in islice(tried.values(), _MAX_FAMILIES):
            head = family[0]
            sizes = sorted((len(text.text), len(head.text)))
            if (
                (text.message.role == "user") == (head.message.role == "user")
                and sizes[0] >= _MIN_LENGTH_RATIO * sizes[1]
                and jaccard(bags[text], bags[head]) >= run.options.fuzzy_threshold
            ):
                family.append(text)
                break
        else:
            families.append([text])
            for line in rare:
                heads[line].append(families[-1])
    copies: Copies = {}
    for family in families:
        for text, target in _references(family, run):
            similarity = jaccard(bags[text], bags[target])
            if similarity >= run.options.fuzzy_threshold:
                copies[text] = (target, similarity)
    return copies


def _rarest(lines: Sequence[str], frequency: Counter[str], threshold: float) -> list[str]:
    """Return the lines of which a near copy must share at least one.

    Lines that no other text has would come first but match nothing, so they are only counted.
    """
    counts = Counter(lines)
    left = int((1 - threshold) * len(lines)) + 1
    left -= sum([count for line, count in counts.items() if frequency.get(line, 0) == 1])
    rare: list[str] = []
    # Equals in the order of their digests: in that of the alphabet, headers would come first.
    shared = [line for line in counts if frequency.get(line, 0) != 1] if left > 0 else []
    for line in sorted(shared, key=lambda line: (frequency.get(line, 0), text_digest(line))):
        if left <= 0:
            break
        rare.append(line)
        left -= counts[line]
    return rare


# Importance: words that decide, correct, constrain, and later references.

DECISION_WEIGHT, CORRECTION_WEIGHT, CONSTRAINT_WEIGHT = 0.15, 0.25, 0.10
MAX_SIGNALS: Final = 0.4  # words alone do not make a message important
REFERENCE_WEIGHT, RECENCY_WEIGHT = 0.5, 0.1
_MAX_LATER: Final = 256  # later mentions of one name that count: keeps the work linear
_LEAST_STATED: Final = 50  # a reference to the correction of a shorter statement would cost as much
_OTHER_ROLE_FACTOR: Final = 1.5
"""A correction in another role must have so much more in common with the statement. A guess."""
_REACH: Final = 64  # how many statements back a correction looks: keeps the work linear

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
    """Return the words that make up the topic of a text."""
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
        text
        for text in run.texts
        if len(text.text) >= _LEAST_STATED and run.may_refer(text.message)
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
