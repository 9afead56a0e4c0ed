"""Copies of a text, exact and near: which one stays, and which refer to it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from refold.classic.code import has_fence, has_prose
from refold.messages.wire import text_digest
from refold.scan.structure import bag_of, is_json, jaccard, normal_lines

if TYPE_CHECKING:
    from refold.classic.rules import Run, Text

MIN_CHARS: Final = 200
"""A reference costs about as much as a shorter copy."""
_MIN_LINES: Final = 2
"""Near copies are compared by lines, and a single line may be alike by chance."""
_MIN_LENGTH_RATIO: Final = 0.7
"""Texts whose lengths differ more cannot share enough lines for the usual threshold of .85."""
_MAX_FAMILIES: Final = 16
"""How many earlier families a text is compared with: keeps the work linear on any input."""


class Copy(NamedTuple):
    """A text that another one repeats, and stays."""

    of: Text
    similarity: float | None = None
    """Of a near copy, from 0 to 1."""


def find_copies(run: Run) -> dict[int, Copy]:
    """Map the numbers of open texts to the exact copies that they may refer to."""
    copies: dict[int, Copy] = {}
    groups: dict[tuple[bool, str], list[Text]] = {}
    for text in run.texts if run.options.dedup else ():
        if len(text.text) >= MIN_CHARS and run.may_refer(text.message):
            # A user's words never refer to those of others.
            groups.setdefault((text.message.role == "user", text.text), []).append(text)
    for group in groups.values():
        target = _target(group, run) if len(group) > 1 else None
        for text in group:
            if target is not None and text.message is not target.message and run.is_open(text):
                copies[text.number] = Copy(target)
    return copies


def _target(group: Sequence[Text], run: Run) -> Text | None:
    """Choose the copy that stays: the first recent one, else the latest.

    With `keep_duplicate="first"`, the first one, and only if it stays for a reason of its own: a
    later copy must not change what was shown before.
    """
    if run.options.keep_duplicate == "first":
        return group[0] if _is_kept_by_content(group[0], run) else None
    recent = (text for text in group if text.message.index >= run.recent_from)
    return next(recent, group[-1])


def _is_kept_by_content(text: Text, run: Run) -> bool:
    if run.is_large(text.message):
        return is_json(text.text)
    if has_fence(text.text):
        return not has_prose(text.text)
    return bool(run.detectors.first_hard(text.view)) or is_json(text.text)


def find_near_copies(run: Run) -> dict[int, Copy]:
    """Map the numbers of open texts to those that they repeat but for a few lines.

    Not all pairs are compared. Two texts that are alike enough share one of their rarest lines, if
    one more of these is looked at than either may lack. Lines that all texts have are looked at
    last, so a shared header costs nothing.
    """
    if not run.options.fuzzy_dedup:
        return {}
    lines = {
        text.number: lines_of
        for text in run.texts
        if len(text.text) >= MIN_CHARS
        and run.may_refer(text.message)
        and text.number not in run.copies
        and len(lines_of := normal_lines(text.text)) >= _MIN_LINES
    }
    # Rarity is known only where later texts may be looked at.
    frequency: Counter[str] = Counter()
    for lines_of in lines.values() if run.options.keep_duplicate == "latest" else ():
        frequency.update(set(lines_of))
    families: list[list[Text]] = []
    heads: dict[str, list[list[Text]]] = defaultdict(list)
    bags: dict[int, Counter[str]] = {}
    for number, lines_of in lines.items():
        rare = _rarest(lines_of, frequency, run.options.fuzzy_threshold)
        if not rare:
            continue
        text = run.texts[number]
        bags[number] = bag_of(lines_of)
        for family in _near_families(rare, heads):
            head = family[0]
            sizes = sorted((len(text.text), len(head.text)))
            if (
                (text.message.role == "user") == (head.message.role == "user")
                and sizes[0] >= _MIN_LENGTH_RATIO * sizes[1]
                and jaccard(bags[number], bags[head.number]) >= run.options.fuzzy_threshold
            ):
                family.append(text)
                break
        else:
            families.append([text])
            for line in rare:
                heads[line].append(families[-1])
    return dict(_references(families, bags, run))


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


def _near_families(rare: Sequence[str], heads: dict[str, list[list[Text]]]) -> Iterator[list[Text]]:
    """Yield the latest families that share one of the *rare* lines, each once."""
    tried: set[int] = set()
    for line in rare:
        for family in reversed(heads[line][-_MAX_FAMILIES:]):
            if family[0].number not in tried and len(tried) < _MAX_FAMILIES:
                tried.add(family[0].number)
                yield family


def _references(
    families: Sequence[Sequence[Text]], bags: dict[int, Counter[str]], run: Run
) -> Iterator[tuple[int, Copy]]:
    for family in families:
        target = _target(family, run) if len(family) > 1 else None
        for text in family:
            if target is None or text.message is target.message or not run.is_open(text):
                continue
            similarity = jaccard(bags[text.number], bags[target.number])
            if similarity >= run.options.fuzzy_threshold:
                yield text.number, Copy(target, similarity)
