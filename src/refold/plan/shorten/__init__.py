"""Ways to shorten one text without a model, and the rules by which prose is summarized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from refold.options import Depth
from refold.plan.shorten.extract import token_budget
from refold.plan.shorten.prose import char_budget
from refold.scan.tokens.estimate import estimate_tokens


class SummaryRules(NamedTuple):
    """How long texts are, and how long what is left of them may be."""

    finds_acts: bool
    """Whether sentences go by what they do; else by the points of the contract."""
    measure: Callable[[str], int]
    """The length of a text, in characters or in tokens."""
    room: Callable[[int, Depth], int]
    """How long the summary of a text of some length may be."""
    short_text: int
    """A text shorter than this gains nothing and stays."""
    least_prose: int
    """With less prose than this, a text with code stays."""
    short_prose: int
    """A stretch of prose between code that is shorter than this stays."""
    least_room: int
    """The least room for what is left of such a stretch."""


POINTS: Final = SummaryRules(False, len, char_budget, 120, 80, 60, 40)
"""The rules of the contract, in characters."""
ACTS: Final = SummaryRules(True, estimate_tokens, token_budget, 30, 20, 15, 10)
"""The same lengths at four characters a token, so that they are as long in every script."""
