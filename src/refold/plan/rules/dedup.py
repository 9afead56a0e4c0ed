"""Replace exact copies of a long text by references to one that stays readable."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from refold.messages.message import DERIVED_ID
from refold.notation.spelling import REFERENCE
from refold.plan.draft import Draft, Keep, Refer, RunContext, Segment, Verdict
from refold.plan.rules.structure import is_kept_by_content

MIN_CHARS: Final = 200
"""Characters, by the contract; a reference costs about as much as a shorter copy."""
TARGET_REASON: Final = "duplicate_target"


def dedup(draft: Draft, context: RunContext) -> Iterator[Verdict]:
    """Refer each copy to the one that is kept."""
    for group in _copies(draft, context) if context.options.dedup else ():
        target = choose_target(group, context)
        if target is not None:
            yield from refer_all(draft, [(copy, None) for copy in group], target, "exact_duplicate")


def _copies(draft: Draft, context: RunContext) -> Collection[list[Segment]]:
    """Group equal long texts; a user's words never refer to those of others."""
    by_user: dict[str, Segment] = {}
    by_others: dict[str, Segment] = {}
    copies: dict[int, list[Segment]] = {}
    for segment in draft.segments:
        if len(segment.text) >= MIN_CHARS and context.may_refer(segment.message):
            first = by_user if segment.message.role == "user" else by_others
            known = first.setdefault(segment.text, segment)
            if known is not segment:
                copies.setdefault(known.number, [known]).append(segment)
    return copies.values()


def choose_target(group: Sequence[Segment], context: RunContext) -> Segment | None:
    """Choose the copy that stays: the first recent one, else the latest.

    With `keep_duplicate="first"`, the first one, and only if it stays for a reason of its own: a
    later copy must not change what was shown before.
    """
    if context.options.keep_duplicate == "first":
        return group[0] if is_kept_by_content(group[0], context) else None
    for segment in group:
        if context.is_recent(segment.message):
            return segment
    return group[-1]


def refer_all(
    draft: Draft, copies: Sequence[tuple[Segment, float | None]], target: Segment, reason: str
) -> Iterator[Verdict]:
    """Refer every open copy to *target*, and keep that: a reference needs a readable text."""
    referring = [
        (segment, similarity)
        for segment, similarity in copies
        if draft.is_open(segment) and segment.message is not target.message
    ]
    for segment, similarity in referring:
        yield segment, Refer(to=target.number, similarity=similarity), reason
    if referring:
        yield target, Keep(), TARGET_REASON


def keep_referred(draft: Draft, _: RunContext) -> Iterator[Verdict]:
    """Keep the texts of messages to which a stand-in of an earlier fold refers."""
    targets = {
        _name(found[1])
        for message in draft.messages
        if message.is_stand_in
        for part in message.parts
        if (found := REFERENCE.match(part.text))
    }
    if targets:
        for segment in draft.undecided():
            if _name(segment.message.id) in targets:
                yield segment, Keep(), TARGET_REASON


def _name(id_: str) -> str:
    """Return the part of a message id that does not change from fold to fold."""
    derived = DERIVED_ID.fullmatch(id_)
    return derived[1] if derived else id_
