"""Ways to shorten one text without a model, and the two sets of rules for summaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from refold.options import Depth
from refold.plan.shorten.extract import token_budget
from refold.plan.shorten.prose import char_budget
from refold.scan.tokens.estimate import estimate_tokens


class SummaryRules(NamedTuple):
    """How texts are measured, and how long their summaries may be."""

    finds_acts: bool
    """Whether sentences are rated by what they do (ask, decide, …), not by the contract's
    points."""
    measure: Callable[[str], int]
    """Measures a text, in characters or in tokens."""
    room: Callable[[int, Depth], int]
    """Returns the length of a summary, given that of its text and a depth."""
    short_text: int
    """Shorter texts stay as they are."""
    least_prose: int
    """A text with code and less prose stays as it is."""
    short_prose: int
    """A shorter stretch of prose between code stays as it is."""
    least_room: int
    """The least length of a summary of such a stretch."""


POINTS: Final = SummaryRules(False, len, char_budget, 120, 80, 60, 40)
"""The rules of `classic`, in characters."""
ACTS: Final = SummaryRules(True, estimate_tokens, token_budget, 30, 20, 15, 10)
"""The rules of `standard`: the same lengths in tokens of four characters, fair to every script."""
