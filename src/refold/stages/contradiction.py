"""Shorten statements that a later message corrects, and keep the correction."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from refold.model.decision import Keep, Refer, Supersede
from refold.model.draft import Draft, Verdict
from refold.model.segment import Segment
from refold.scoring.signals import correction_signal
from refold.stages.base import Setting
from refold.text.alphabet import IDEOGRAPHS

_MIN_CHARS: Final = 50
_OTHER_ROLE_FACTOR: Final = 1.5
_MAX_MENTIONS: Final = 24
"""Earlier mentions of a word that are looked at, newest first: keeps the work linear."""
_WORD: Final = re.compile(
    # Identifiers whole; the look-behind lets a run be tried from its beginning only.
    rf"(?<!\w)[^\W_]++(?:_++[^\W_]++)++|[^\W\d_{IDEOGRAPHS}]{{3,}}+|[{IDEOGRAPHS}]{{2}}"
)


@dataclass(frozen=True, slots=True)
class _Statement:
    segment: Segment
    words: frozenset[str]


def supersede(draft: Draft, setting: Setting) -> Iterator[Verdict]:
    """Find for every correction the statement that it is about."""
    if not setting.options.contradiction_detection:
        return
    statements = [
        _Statement(segment, _words(segment.text))
        for segment in draft.segments
        if len(segment.text) >= _MIN_CHARS and setting.may_refer(segment.message)
    ]
    for old, new, signal in _corrections(statements, setting.options.contradiction_topic_threshold):
        readable = _readable(draft, new)
        # A message is named as a whole, so none can be referred to from within itself.
        if draft.is_open(old) and readable.message is not old.message:
            yield readable, Keep(), f"corrects:{old.id}"
            yield old, Supersede(by=readable.number, signal=signal), f"contradicted:{signal}"


def _words(text: str) -> frozenset[str]:
    if text.isascii():  # beyond it, a few letters fall apart when they become small
        return frozenset(_WORD.findall(text.lower()))
    return frozenset(map(str.lower, _WORD.findall(text)))


def _readable(draft: Draft, segment: Segment) -> Segment:
    """Return the copy of *segment* that can be read, if it is only a reference itself."""
    decision = draft.decision(segment)
    if decision is not None and isinstance(decision.action, Refer):
        return draft.segments[decision.action.to]
    return segment


def _corrections(
    statements: list[_Statement], threshold: float
) -> list[tuple[Segment, Segment, str]]:
    """Return (old, new, signal) for every correction; the first correction of a statement wins."""
    weights = _weights(statements)
    mentions: dict[str, deque[int]] = defaultdict(lambda: deque(maxlen=_MAX_MENTIONS))
    masses: list[float] = []
    found: dict[int, tuple[Segment, Segment, str]] = {}
    for place, statement in enumerate(statements):
        masses.append(sum(weights[word] for word in statement.words))
        signal = correction_signal(statement.segment.text)
        if signal is not None and place:
            shared = _shared_weights(statement, mentions, weights)
            old = _nearest(statements, place, shared, masses, threshold)
            if old is not None and old not in found:
                found[old] = (statements[old].segment, statement.segment, signal)
        for word in statement.words:
            mentions[word].append(place)
    return list(found.values())


def _weights(statements: list[_Statement]) -> Mapping[str, float]:
    """Weigh words by rarity; with fewer than three statements all weigh the same."""
    document_frequency = Counter(word for statement in statements for word in statement.words)
    if len(statements) < 3:
        return dict.fromkeys(document_frequency, 1.0)
    return {
        word: math.log(1 + len(statements) / count) for word, count in document_frequency.items()
    }


def _shared_weights(
    statement: _Statement, mentions: Mapping[str, deque[int]], weights: Mapping[str, float]
) -> dict[int, float]:
    """Map each earlier statement to the weight of the words that it shares with *statement*.

    Words that are equally rare weigh the same, so their mentions are counted together.
    """
    mentioned: dict[float, list[deque[int]]] = defaultdict(list)
    for word in statement.words:
        if word in mentions:
            mentioned[weights[word]].append(mentions[word])
    shared: dict[int, float] = defaultdict(float)
    for weight in sorted(mentioned):  # sorted: sums of floats depend on their order
        for earlier, times in Counter(chain.from_iterable(mentioned[weight])).items():
            shared[earlier] += weight * times
    return shared


def _nearest(
    statements: list[_Statement],
    place: int,
    shared: Mapping[int, float],
    masses: list[float],
    threshold: float,
) -> int | None:
    """Return the earlier statement with the most similar topic, the nearer one on a tie."""
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
