"""The profiles: presets of one engine, one file each, loaded when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Final, Protocol

from refold.messages.message import Message
from refold.notation.spelling import PLAIN, Spelling
from refold.options import Options, Profile
from refold.plan.fold import Plan
from refold.plan.shorten import ACTS, SummaryRules
from refold.plan.text_cache import TextCache
from refold.plan.token_count import CountedTexts

NO_PINS: Final[Mapping[int, str]] = MappingProxyType({})


class Shorten(Protocol):
    """Says everything shorter as far as nobody misses anything: what happens without a budget."""

    def __call__(
        self,
        messages: Sequence[Message],
        options: Options,
        text_cache: TextCache,
        *,
        start: int = 0,
        hidden: frozenset[int] = frozenset(),
        pinned: Mapping[int, str] = NO_PINS,
    ) -> Plan:
        """Plan the messages from *start* on; those before are dealt with.

        The messages in *hidden* cannot be read any more, so nothing may refer to them; those in
        *pinned* stay as they are, for the reason given.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class BudgetTask:
    """A conversation that is to take no more than so many tokens."""

    messages: Sequence[Message]
    options: Options
    text_cache: TextCache
    untouchable: Mapping[int, str]
    """The messages that stay word for word: index to reason."""

    @property
    def tokens(self) -> CountedTexts:
        """The counter of all texts."""
        return self.text_cache.tokens

    @cached_property
    def total(self) -> int:
        """The tokens of all messages as they are."""
        return sum(map(self.tokens.message, self.messages))


class Fitter(Protocol):
    """Fits one conversation into one target after the other: what they share can be made once."""

    def __call__(self, target: int, token_budget: int, /) -> tuple[Plan, Sequence[str]]:
        """Plan for *target* tokens, or at most for the budget; return the rungs taken, too."""
        ...


Fit = Callable[[BudgetTask], Fitter]
"""Begins to spend budgets over a conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """What sets a profile apart from the others; everything else is the same for all of them."""

    shorten: Shorten
    fit: Fit
    spelling: Spelling = PLAIN
    """How what stands in for texts is spelled."""
    summary_rules: SummaryRules = ACTS
    """By which rules prose is summarized."""
    yielding: Collection[str] = ()
    """For which reasons messages stay only while there is room for them."""
    fits_sealed: bool = False
    """Whether it is planned anew for less if a seal makes it too long."""
    loses_nothing: bool = False
    """Whether whatever it shows says all that was said: then no budget makes it cut anything."""
    keeps_unread: bool = False
    """Whether results that no model has read yet stay whole where they fit."""
    refers_ahead: bool = False
    """Whether copies refer to a later one, unless the options say otherwise."""
    counts_names: bool = False
    """Whether the names that were kept are counted with the finder of the text cache."""


def preset_of(profile: Profile) -> Preset:
    """Return what sets *profile* apart."""
    preset: Preset = import_module(f"{__name__}.{profile}").PRESET
    return preset
