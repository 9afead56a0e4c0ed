"""Thinking that a provider would refuse: it is bound to everything that was said before it.

The newest Claude models check each block of thinking that is sent back against what comes before
it. Once an earlier message has changed, all thinking from there on has to go; thinking that came
after the change was thought with it, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import Final

from refold.messages.formats import find_format
from refold.messages.handles import anchor_of, handle_of
from refold.messages.provenance import find_anchors
from refold.notation.marks import excerpt
from refold.plan.fold import Fold, Plan

_VERSION: Final = re.compile(r"(?<![\d.])(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_FIRST_BOUND: Final = {"fable": (5, 1), "opus": (5, 5), "sonnet": (5, 5), "haiku": (5, 5)}
"""The first version of each family that checks."""


def is_bound(model: str | None) -> bool:
    """Tell whether *model* may check thinking; of one that nobody names, it is supposed."""
    if model is None:
        return True
    name = model.lower()
    family = next((family for family in _FIRST_BOUND if family in name), None)
    if family is None:
        return "claude" in name and _VERSION.search(name) is None
    versions = [(int(major), int(minor or 0)) for major, minor in _VERSION.findall(name)]
    return not versions or max(versions) >= _FIRST_BOUND[family]


def strip_thinking(
    plan: Plan,
    shown: Sequence[Fold] = (),
    rewritten: Container[int] = (),
    *,
    is_named: bool = False,
    is_resumed: bool = False,
) -> Plan:
    """Return a sealed *plan* without the thinking from its first change on; itself if all stays.

    *shown* is what the view before showed: a change is what differs from it, and what was stripped
    there stays so. Without one, it is the first message that is not as it was given: because it is
    folded, was *rewritten* before, or because those before it were dropped. A conversation that
    *is_resumed* may have been sent in another form than the one given: nobody knows what its
    thinking is bound to, and all of it goes.

    What is stripped is found again by the stand-ins before it, or because its conversation
    *is_named*; where there is neither, a note takes the place of the thinking.
    """
    stripped: list[Fold] = []
    is_changed = is_resumed
    is_anchored = is_named
    expected = 0
    for place, fold in enumerate(plan):
        before = shown[place] if place < len(shown) else None
        source = fold.sources[0]
        is_kept = fold.is_kept and source.index == expected and source.index not in rewritten
        expected = fold.sources[-1].index + 1
        is_same = is_kept if before is None else before.shows_same(fold)
        is_changed = is_changed or not is_same
        if is_changed or (before is not None and before.is_stripped):
            fold = _without(fold, is_anchored=is_anchored)  # noqa: PLW2901
        stripped.append(fold)
        is_linked = bool(source.link) and source.provenance is not None
        is_shown = fold.is_marked or fold.note or (is_linked and find_anchors(source.wire))
        if is_shown and not source.has_envelope:
            is_anchored = True
    return plan if all(map(_is_same, stripped, plan)) else tuple(stripped)


def _is_same(one: Fold, other: Fold) -> bool:
    return one is other


def _without(fold: Fold, *, is_anchored: bool) -> Fold:
    source = fold.sources[0]
    if fold.is_rolled or fold.is_stripped or not source.thinking:
        return fold
    if find_format(source.format).strip is None:
        return fold
    is_empty = not (source.parts or source.calls or source.images or source.opaque)
    is_unknown = not (fold.is_marked or source.has_envelope or is_anchored)
    if not (is_empty or is_unknown):
        return fold.stripped()
    handle = anchor_of(fold.sources) if is_unknown else handle_of(fold.sources)
    return fold.stripped(excerpt("", 0, handle))
