"""The profiles: presets of one engine, one file each, imported when first used."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Final, Protocol

from refold.messages.folds import Plan
from refold.messages.message import Message
from refold.messages.token_count import CountedTexts
from refold.notation.spelling import PLAIN, Spelling
from refold.options import Options, Profile
from refold.plan.text_cache import TextCache

NO_PINS: Final[Mapping[int, str]] = MappingProxyType({})


class Shorten(Protocol):
    """Makes a plan without a budget."""

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
        """Plan the messages from *start* on; earlier ones are folded already.

        The messages in *hidden* cannot be read anymore, so nothing may refer to them; those in
        *pinned* stay as they are, for the reason given.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class BudgetTask:
    """A conversation to fit into a token budget."""

    messages: Sequence[Message]
    options: Options
    text_cache: TextCache
    untouchable: Mapping[int, str]
    """The messages that stay word for word: index to reason."""

    @property
    def tokens(self) -> CountedTexts:
        """Counts the tokens of texts and messages."""
        return self.text_cache.tokens

    @cached_property
    def total(self) -> int:
        """The tokens of all messages as given."""
        return sum(map(self.tokens.message, self.messages))


class Fitter(Protocol):
    """Fits one conversation to any number of targets, sharing work between them."""

    def __call__(self, target: int, token_budget: int, /) -> tuple[Plan, Sequence[str]]:
        """Return a plan of *target* tokens, at most *token_budget*, and the names of its steps."""
        ...


Fit = Callable[[BudgetTask], Fitter]
"""Prepares a conversation for fitting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Everything that distinguishes a profile from the others."""

    shorten: Shorten
    fit: Fit
    spelling: Spelling = PLAIN
    """How stand-ins are written."""
    yielding: Collection[str] = ()
    """Reasons for which messages are untouchable only while there is room for them."""
    fits_sealed: bool = False
    """Whether a plan is made again for fewer tokens if sealing makes it too long."""
    loses_nothing: bool = False
    """Whether it never drops anything, not even for a budget."""
    keeps_unread: bool = False
    """Whether results that no model has read yet stay whole if they fit."""
    refers_ahead: bool = False
    """Whether copies refer to a later one by default."""


def preset_of(profile: Profile) -> Preset:
    """Return the preset of *profile*."""
    preset: Preset = import_module(f"{__name__}.{profile}").PRESET
    return preset
