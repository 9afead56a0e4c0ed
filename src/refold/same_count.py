"""One message out for every message in, for callers that cannot take one for several.

What a digest says of each of its messages stands in the place of that message's text then, and
calls stay where they are. So a budget buys less, and may not be kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from refold.model.handles import handle_of
from refold.model.message import Message
from refold.model.plan import Fold, Outcome, Plan, kept_fold
from refold.notation.marks import excerpt

_REASON: Final = "same_count"


def spread(plan: Plan) -> Plan:
    """Return *plan* with a fold for every message; itself if it has one."""
    if all(len(fold.sources) == 1 and not fold.is_rolled for fold in plan):
        return plan
    return tuple(row for fold in plan for row in _rows(fold))


def _rows(fold: Fold) -> Iterator[Fold]:
    if len(fold.sources) == 1 and not fold.is_rolled:
        yield fold
        return
    for source, row in zip(fold.sources, fold.outcomes, strict=True):
        yield _row(source, row[0].shown or "")


def _row(source: Message, shown: str) -> Fold:
    """Fold one message into what was shown of it; its first text says that, the others nothing."""
    handle = handle_of((source,))
    texts: dict[int, str] = {}
    outcomes: list[Outcome] = []
    for number, part in enumerate(source.parts):
        size = len(part.text)
        text = excerpt(shown, 100 * len(shown) // max(1, size), handle)
        if len(text) < size:
            texts[number], shown = text, ""
        outcomes.append(Outcome("compressed", _REASON, size, min(size, len(text))))
    if not texts:
        return kept_fold(source, _REASON)
    return Fold(sources=(source,), texts=texts, outcomes=(tuple(outcomes),))
