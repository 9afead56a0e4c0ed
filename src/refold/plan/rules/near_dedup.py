"""Replace near copies of a text by references, without comparing all pairs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from refold.messages.wire import text_digest
from refold.plan.draft import Draft, RunContext, Segment, Verdict
from refold.plan.rules.dedup import MIN_CHARS, choose_target, refer_all
from refold.scan.structure import bag_of, jaccard, normal_lines

_MIN_LINES: Final = 2
"""Texts are compared by their lines, and a single line may be alike by chance."""
_MIN_LENGTH_RATIO: Final = 0.7
"""Texts whose lengths differ more cannot share enough lines for the usual threshold of .85."""
_MAX_CANDIDATES: Final = 16
"""How many earlier families a text is compared with; keeps the work linear on any input."""


class _Text:
    """A text as lines; they are counted only if it is compared."""

    __slots__ = ("_bag", "lines", "segment")

    def __init__(self, segment: Segment, lines: list[str]) -> None:
        self.segment = segment
        self.lines = lines
        self._bag: Counter[str] | None = None

    @property
    def bag(self) -> Counter[str]:
        """How often each line occurs."""
        if self._bag is None:
            self._bag = bag_of(self.lines)
        return self._bag


@dataclass(slots=True)
class _Family:
    """A text and its near copies."""

    head: _Text
    members: list[_Text] = field(default_factory=list)


def near_dedup(draft: Draft, context: RunContext) -> Iterator[Verdict]:
    """Refer each near copy to the one of its family that is kept."""
    if not context.options.fuzzy_dedup:
        return
    texts = [
        _Text(segment, lines)
        for segment in draft.segments
        if len(segment.text) >= MIN_CHARS
        and context.may_refer(segment.message)
        and _is_free(draft, segment)
        and len(lines := normal_lines(segment.text)) >= _MIN_LINES
    ]
    threshold = context.options.fuzzy_threshold
    looks_ahead = context.options.keep_duplicate == "latest"
    for family in _families(texts, threshold, looks_ahead=looks_ahead):
        target = choose_target([text.segment for text in family.members], context)
        if target is None:
            continue
        bag = next(text.bag for text in family.members if text.segment is target)
        copies: list[tuple[Segment, float | None]] = [
            (text.segment, similarity)
            for text in family.members
            if text.segment is not target and (similarity := jaccard(text.bag, bag)) >= threshold
        ]
        yield from refer_all(draft, copies, target, "fuzzy_duplicate")


def _is_free(draft: Draft, segment: Segment) -> bool:
    """Tell whether *segment* is not already a reference to an exact copy."""
    decision = draft.decision(segment)
    return decision is None or decision.reason != "exact_duplicate"


def _families(texts: list[_Text], threshold: float, *, looks_ahead: bool) -> list[_Family]:
    """Group texts with their near copies.

    Two bags of lines with a Jaccard similarity of *threshold* must share one of their rarest lines,
    if enough of these are considered: more than one bag may lack of the other. Shared headers are
    common lines, so they match nothing. Rarity is known only if later texts may be looked at;
    without that, lines are considered in a random order.
    """
    frequency: Counter[str] = Counter()
    for text in texts if looks_ahead else ():
        frequency.update(set(text.lines))
    index: dict[str, list[_Family]] = defaultdict(list)
    families: list[_Family] = []
    for text in texts:
        rare = _rarest(text, frequency, threshold)
        family = _find_family(text, rare, index, threshold)
        if family is None:
            family = _Family(text)
            families.append(family)
            for line in rare:
                index[line].append(family)
        family.members.append(text)
    return [family for family in families if len(family.members) > 1]


def _rarest(text: _Text, frequency: Counter[str], threshold: float) -> list[str]:
    """Return the lines of which a near copy must share at least one.

    Lines that no other text has would come first but match nothing, so they are only counted. In
    most texts they are enough, and nothing needs to be sorted.
    """
    lonely = sum(1 for line in text.lines if frequency.get(line, 0) == 1)
    may_lack = int((1 - threshold) * len(text.lines)) + 1 - lonely
    if may_lack <= 0:
        return []
    shared = [line for line in text.bag if frequency.get(line, 0) != 1]
    prefix: list[str] = []
    for line in sorted(shared, key=lambda line: (frequency.get(line, 0), text_digest(line))):
        if may_lack <= 0:
            break
        prefix.append(line)
        may_lack -= text.bag[line]
    return prefix


def _find_family(
    text: _Text, rare: list[str], index: dict[str, list[_Family]], threshold: float
) -> _Family | None:
    tried: set[int] = set()
    for line in rare:
        for family in reversed(index[line][-_MAX_CANDIDATES:]):
            if id(family) in tried:
                continue
            tried.add(id(family))
            if _is_near(text, family.head, threshold):
                return family
            if len(tried) >= _MAX_CANDIDATES:
                return None
    return None


def _is_near(a: _Text, b: _Text, threshold: float) -> bool:
    lengths = sorted((len(a.segment.text), len(b.segment.text)))
    same_speaker = (a.segment.message.role == "user") == (b.segment.message.role == "user")
    return (
        same_speaker
        and lengths[0] >= _MIN_LENGTH_RATIO * lengths[1]
        and jaccard(a.bag, b.bag) >= threshold
    )
