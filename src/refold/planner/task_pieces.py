"""What is shown of a task that is too long to stay whole: how it begins, and what it asks for.

Whoever reads on must know what is to be done and what is forbidden; a traceback in the middle of an
issue says neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from refold.planner.choose import Candidates
from refold.planner.corpus import Text
from refold.scoring.acts import act_worth

_OPENING: Final = 2
"""So many pieces say what it is about: a title and the first sentences."""
_LEAST_WORTH: Final = 4
"""What a piece must do to be shown for it: more than hold a value or a name, which most do."""
_BOILERPLATE: Final = 0.5
"""Pieces that their kind weighs no more than this are frames and noise."""


def worth_as_act(candidates: Candidates, number: int, texts: Sequence[Text]) -> int:
    """Return what a candidate is worth by what it does: ask, forbid, decide, or only fill."""
    start, end = candidates.start[number], candidates.end[number]
    return act_worth(texts[candidates.text[number]].text[start:end])


def rank_task(candidates: Candidates, texts: Sequence[Text], task: int) -> list[int]:
    """Return the candidates in the message *task* that say what is wanted, the first ones first."""
    own = [n for n, place in enumerate(candidates.text) if texts[place].message.index == task]
    worths = {
        number: worth_as_act(candidates, number, texts)
        for number in own[_OPENING:]
        if candidates.grade[number].weight > _BOILERPLATE
    }
    acts = [number for number, worth in worths.items() if worth > _LEAST_WORTH]
    return own[:_OPENING] + sorted(acts, key=worths.__getitem__, reverse=True)
