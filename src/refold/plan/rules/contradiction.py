"""Shorten statements that a later message corrects; keep the correction."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from refold.plan.draft import Draft, Keep, Refer, RunContext, Segment, Supersede, Verdict
from refold.scan.patterns import IDEOGRAPHS
from refold.scan.signals import correction_signal

_MIN_CHARS: Final = 50
"""Characters; a reference to the correction of a shorter statement would cost as much."""
_OTHER_ROLE_FACTOR: Final = 1.5
"""A correction in another role must have so much more in common with the statement: it is less
often one. A guess."""
_MAX_MENTIONS: Final = 24
"""How many earlier mentions of a word are considered, the newest; keeps the work linear."""
_ASCII_WORD: Final = re.compile(r"[a-z]{3,}+")
_WORD: Final = re.compile(
    # Identifiers whole; the look-behind lets a run be tried from its beginning only.
    rf"(?<!\w)[^\W_]++(?:_++[^\W_]++)++|[^\W\d_{IDEOGRAPHS}]{{3,}}+|[{IDEOGRAPHS}]{{2}}"
)


@dataclass(frozen=True, slots=True)
class _Statement:
    segment: Segment
    words: frozenset[str]


class _Mentions:
    """The newest statements that mention a word; compared by identity, so it hashes fast."""

    __slots__ = ("places",)

    def __init__(self, places: tuple[int, ...]) -> None:
        self.places: Final = places


_NEVER: Final = _Mentions(())


def supersede(draft: Draft, context: RunContext) -> Iterator[Verdict]:
    """Find the statement that each correction is about."""
    if not context.options.contradiction_detection:
        return
    statements = [
        _Statement(segment, _words(segment.text))
        for segment in draft.segments
        if len(segment.text) >= _MIN_CHARS and context.may_refer(segment.message)
    ]
    for old, new, signal in _corrections(statements, context.options.contradiction_topic_threshold):
        readable = _readable(draft, new)
        # References name whole messages, so a message cannot refer to itself.
        if draft.is_open(old) and readable.message is not old.message:
            yield readable, Keep(), f"corrects:{old.id}"
            yield old, Supersede(by=readable.number, signal=signal), f"contradicted:{signal}"


def _words(text: str) -> frozenset[str]:
    if text.isascii():  # beyond it, a few letters fall apart when they become small
        word = _WORD if "_" in text else _ASCII_WORD  # the same without identifiers, but faster
        return frozenset(word.findall(text.lower()))
    return frozenset(map(str.lower, _WORD.findall(text)))


def _readable(draft: Draft, segment: Segment) -> Segment:
    """Return *segment*, or the copy that stays readable if it became a reference."""
    decision = draft.decision(segment)
    if decision is not None and isinstance(decision.action, Refer):
        return draft.segments[decision.action.to]
    return segment


def _corrections(
    statements: list[_Statement], threshold: float
) -> list[tuple[Segment, Segment, str]]:
    """Return (old, new, signal) for every correction; of one statement, the first."""
    weights = _weights(statements)
    mentions: dict[str, _Mentions] = {}
    masses: list[float] = []
    found: dict[int, tuple[Segment, Segment, str]] = {}
    for place, statement in enumerate(statements):
        masses.append(sum(weights[word] for word in statement.words))
        signal = correction_signal(statement.segment.text)
        if signal is not None and place:
            shared = _shared_weights(statement.words, mentions, weights)
            old = _nearest(statements, place, shared, masses, threshold)
            if old is not None and old not in found:
                found[old] = (statements[old].segment, statement.segment, signal)
        _mention(place, statement.words, mentions)
    return list(found.values())


def _mention(place: int, words: frozenset[str], mentions: dict[str, _Mentions]) -> None:
    """Note that *words* are mentioned at *place*; words with the same mentions share one object.

    Words that occur together mostly recur together, so a few objects serve many words.
    """
    longer: dict[_Mentions, _Mentions] = {}
    for word in words:
        before = mentions.get(word, _NEVER)
        after = longer.get(before)
        if after is None:
            after = longer[before] = _Mentions((*before.places[1 - _MAX_MENTIONS :], place))
        mentions[word] = after


def _weights(statements: list[_Statement]) -> Mapping[str, float]:
    """Weigh words by rarity; with fewer than three statements, all the same."""
    document_frequency = Counter(chain.from_iterable(s.words for s in statements))
    if len(statements) < 3:
        return dict.fromkeys(document_frequency, 1.0)
    return {
        word: math.log(1 + len(statements) / count) for word, count in document_frequency.items()
    }


def _shared_weights(
    words: frozenset[str], mentions: Mapping[str, _Mentions], weights: Mapping[str, float]
) -> dict[int, float]:
    """Map each earlier statement to the weight of the *words* that it shares.

    Words of equal rarity have the same weight, so their mentions are counted together.
    """
    mentioned: dict[float, dict[_Mentions, int]] = defaultdict(dict)
    for word in words:
        if word in mentions:
            alike, places = mentioned[weights[word]], mentions[word]
            alike[places] = alike.get(places, 0) + 1
    shared: dict[int, float] = defaultdict(float)
    for weight in sorted(mentioned):  # sorted: sums of floats depend on their order
        for earlier, times in _count_places(mentioned[weight]).items():
            shared[earlier] += weight * times
    return shared


def _count_places(mentioned: Mapping[_Mentions, int]) -> dict[int, int]:
    """Count how many words each statement shares."""
    counts: dict[int, int] = {}
    for mentions, words in mentioned.items():
        if counts:
            for place in mentions.places:
                counts[place] = counts.get(place, 0) + words
        else:
            counts = dict.fromkeys(mentions.places, words)
    return counts


def _nearest(
    statements: list[_Statement],
    place: int,
    shared: Mapping[int, float],
    masses: list[float],
    threshold: float,
) -> int | None:
    """Return the earlier statement with the most similar topic; on a tie, the later one."""
    own, role = masses[place], statements[place].segment.message.role
    most, best = 0.0, -1
    for earlier, weight in shared.items():
        similarity = 2 * weight / (own + masses[earlier])
        if similarity < threshold or (similarity, earlier) < (most, best):
            continue
        same_role = statements[earlier].segment.message.role == role
        if same_role or similarity >= threshold * _OTHER_ROLE_FACTOR:
            most, best = similarity, earlier
    return best if best >= 0 else None
