"""What is shown of a task that is too long to stay whole: how it begins and ends, what it forbids.

Whoever reads on must know what is to be done, how that is to be handed in and what is forbidden; a
traceback in the middle of an issue says none of it, and neither do examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from refold.plan.choose import Candidates
from refold.plan.corpus import Text
from refold.scan.acts import act_bits, act_worth, forbids

_OPENING: Final = 2
"""So many pieces say what it is about: a title and the first sentences."""
_CLOSING: Final = 2
"""Of the pieces that ask for something, so many of the last say how the work ends: harnesses put
there how it is submitted, people what they want in the end."""
_LEAST_WORTH: Final = 4
"""What a piece must do to be shown for it: more than hold a value or a name, which most do."""
_BOILERPLATE: Final = 0.5
"""Pieces that their kind weighs no more than this are frames and noise."""


def worth_as_act(candidates: Candidates, number: int, texts: Sequence[Text]) -> int:
    """Return what a candidate is worth by what it does: ask, forbid, decide, or only fill."""
    return act_worth(_text_of(candidates, number, texts))


def rank_task(candidates: Candidates, texts: Sequence[Text], task: int) -> list[int]:
    """Return the candidates in the message *task* that say what is wanted, the first ones first.

    How it begins and how it ends come before what it forbids, and that before all else it asks.
    """
    own = [n for n, place in enumerate(candidates.text) if texts[place].message.index == task]
    worths = {
        number: worth_as_act(candidates, number, texts)
        for number in own[_OPENING:]
        if candidates.grade[number].weight > _BOILERPLATE
    }
    acts = [number for number, worth in worths.items() if worth > _LEAST_WORTH]
    closing, rest = acts[-_CLOSING:], acts[:-_CLOSING]
    bans = {number for number in rest if _has_ban(_text_of(candidates, number, texts))}
    rest.sort(key=lambda number: (number in bans, worths[number]), reverse=True)
    return own[:_OPENING] + closing + rest


def _text_of(candidates: Candidates, number: int, texts: Sequence[Text]) -> str:
    return texts[candidates.text[number]].text[candidates.start[number] : candidates.end[number]]


def _has_ban(text: str) -> bool:
    return any(forbids(act_bits(line)) for line in text.splitlines())
