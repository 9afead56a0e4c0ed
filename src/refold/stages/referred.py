"""Keep what stand-ins of an earlier round refer to: a reference needs readable text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.model.decision import Keep
from refold.model.draft import Draft, Verdict
from refold.notation.classic import REFERENCE
from refold.stages.base import RunContext
from refold.stages.dedup import TARGET_REASON

_DERIVED_ID: Final = re.compile(r"m[0-9]+-([0-9a-f]{8})")
"""Index and content; the index is another one once messages before it were folded into one."""


def keep_referred(draft: Draft, _: RunContext) -> Iterator[Verdict]:
    """Keep the texts of every message that a stand-in already points to."""
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
    """Return what is the same in every round of the id of a message."""
    derived = _DERIVED_ID.fullmatch(id_)
    return derived[1] if derived else id_
