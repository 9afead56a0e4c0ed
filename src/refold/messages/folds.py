"""The finished plan: each output message is a fold of one or more source messages.

Like messages, folds and outcomes are made by the thousand: they are dataclasses that are not
frozen, and nobody changes them; `dataclasses.replace` makes a variant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from refold.lazy import Lazy
from refold.messages.message import Call, Message
from refold.result import NO_PIECES, Piece

SUMMARIZED: Final = "summarized"
"""The reason of a digest that a model wrote."""


@dataclass(slots=True, eq=False)
class Outcome:
    """What happened to one text; the trace is made of these."""

    action: Final[str]
    reason: Final[str]
    input_chars: Final[int]
    output_chars: Final[int]
    shown: Final[str | None] = None
    """What a digest of several messages shows of this one, if that can be separated."""
    pieces: Final[Lazy[tuple[Piece, ...]]] = NO_PIECES
    """What happened to each piece, if the text was cut and a trace is wanted."""


@dataclass(slots=True, eq=False, kw_only=True)
class Fold:
    """One output message: its sources, and the texts and calls that replace those of the first.

    Without either, the one source is kept as it is.
    """

    sources: Final[tuple[Message, ...]]
    texts: Final[Mapping[int, str]] = field(default_factory=dict)
    """Part number of the first source → its new text."""
    calls: Final[Mapping[int, Call]] = field(default_factory=dict)
    """Number of a call of the first source → the same call, clipped."""
    outcomes: Final[tuple[tuple[Outcome, ...], ...]] = ()
    """One row per source, with one outcome per part (a message without text has one).

    If calls are clipped, an outcome for them comes last."""
    is_rolled: Final[bool] = False
    """Whether a new message, a digest, replaces all sources, including their calls."""
    role: Final[str] = "assistant"
    """The role of that message: the assistant's, unless the provider wants a user message there."""
    is_stripped: Final[bool] = False
    """Whether its thinking is removed, because what it is bound to has changed."""
    note: Final[str] = ""
    """The stand-in for removed thinking, where nothing else leads to the original."""

    @property
    def is_kept(self) -> bool:
        """Whether the message is unchanged."""
        return not self.is_marked and not self.is_stripped

    @property
    def is_marked(self) -> bool:
        """Whether any of its texts or calls is replaced."""
        return bool(self.texts or self.calls)

    @property
    def texts_after(self) -> list[str]:
        """The texts of the message that this becomes."""
        if self.is_rolled:
            return list(self.texts.values())
        return [self.texts.get(n, part.text) for n, part in enumerate(self.sources[0].parts)]

    def shows_same(self, other: Fold) -> bool:
        """Tell whether *other* becomes the same message, thinking aside."""
        return (
            self.texts == other.texts
            and self.is_rolled == other.is_rolled
            and self.role == other.role
            and [(n, call.text) for n, call in self.calls.items()]
            == [(n, call.text) for n, call in other.calls.items()]
            and len(self.sources) == len(other.sources)
            and all(map(_is_same_message, self.sources, other.sources))
        )


Plan = tuple[Fold, ...]
"""Folds in the order of the conversation; their sources tile it."""


def kept_fold(message: Message, reason: str) -> Fold:
    """Leave *message* as it is, for one reason."""
    sizes = [len(part.text) for part in message.parts] or [0]
    row = tuple([Outcome("preserved", reason, size, size) for size in sizes])
    return Fold(sources=(message,), outcomes=(row,))


def _is_same_message(one: Message, other: Message) -> bool:
    return one is other or one.digest == other.digest
