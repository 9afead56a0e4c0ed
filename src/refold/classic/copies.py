"""Copies of a text, exact and near: which one stays, and which refer to it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from refold.classic.structured import has_fence, has_prose
from refold.messages.wire import text_digest
from refold.scan.structure import bag_of, is_json, jaccard, normal_lines

if TYPE_CHECKING:
    from refold.classic.rules import Run, Text

MIN_CHARS: Final = 200  # a reference costs about as much as a shorter copy
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
        if len(text.text) >= MIN_CHARS and run.may_refer(text.message):
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
        if len(text.text) >= MIN_CHARS
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
