"""The finished plan: each output message is a fold of one or more source messages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from refold.lazy import Lazy
from refold.messages.message import Call, Message
from refold.result import NO_PIECES, Piece

SUMMARIZED: Final = "summarized"
"""The reason of a digest that a model wrote."""


class Outcome:
    """What happened to one text; the trace is made of these. Read-only."""

    __slots__ = ("action", "input_chars", "output_chars", "pieces", "reason", "shown")

    def __init__(
        self,
        action: str,
        reason: str,
        input_chars: int,
        output_chars: int,
        shown: str | None = None,
        *,
        pieces: Lazy[tuple[Piece, ...]] = NO_PIECES,
    ) -> None:
        self.action: Final = action
        self.reason: Final = reason
        self.input_chars: Final = input_chars
        self.output_chars: Final = output_chars
        self.shown: Final = shown
        """What a digest of several messages shows of this one, if that can be told apart."""
        self.pieces: Final = pieces
        """What happened to each piece, if the text was cut and a trace is wanted."""

    def with_pieces(self, pieces: Lazy[tuple[Piece, ...]]) -> Outcome:
        """Return the same outcome with its *pieces*."""
        return Outcome(
            self.action,
            self.reason,
            self.input_chars,
            self.output_chars,
            self.shown,
            pieces=pieces,
        )

    def with_output(self, chars: int) -> Outcome:
        """Return the same outcome with another output length."""
        return Outcome(
            self.action, self.reason, self.input_chars, chars, self.shown, pieces=self.pieces
        )


NO_TEXTS: Final[Mapping[int, str]] = MappingProxyType({})
NO_CALLS: Final[Mapping[int, Call]] = MappingProxyType({})
"""No replacements; shared by all messages that are kept."""


class Fold:
    """One output message: its sources, and the texts and calls that replace those of the first.

    Without either, the one source is kept as it is. Read-only, and a plain class like `Message`.
    Most folds have one source with one text, which is stored without a container around it: each
    container is one more object for the garbage collector to visit.
    """

    __slots__ = (
        "_outcomes",
        "_texts",
        "calls",
        "is_rolled",
        "is_stripped",
        "note",
        "role",
        "sources",
    )

    def __init__(
        self,
        *,
        sources: tuple[Message, ...],
        texts: Mapping[int, str] = NO_TEXTS,
        calls: Mapping[int, Call] = NO_CALLS,
        outcomes: tuple[tuple[Outcome, ...], ...] = (),
        is_rolled: bool = False,
        role: str = "assistant",
        is_stripped: bool = False,
        note: str = "",
    ) -> None:
        self.sources: Final = sources
        lone = texts.get(0) if len(texts) == 1 else None
        self._texts: Final = lone or texts
        self.calls: Final = calls or NO_CALLS
        """Number of a call of the first source → the same call, clipped."""
        has_one = len(outcomes) == 1 and len(outcomes[0]) == 1
        self._outcomes: Final = outcomes[0][0] if has_one else outcomes
        self.is_rolled: Final = is_rolled
        """Whether a new message, a digest, replaces all sources, including their calls."""
        self.role: Final = role
        """The role of that message: the assistant's, unless the provider wants a user message
        there."""
        self.is_stripped: Final = is_stripped
        """Whether its thinking is removed, because what it is bound to has changed."""
        self.note: Final = note
        """The stand-in for removed thinking, where nothing else leads to the original."""

    @property
    def texts(self) -> Mapping[int, str]:
        """Part number of the first source → its new text."""
        texts = self._texts
        return {0: texts} if isinstance(texts, str) else texts

    @property
    def outcomes(self) -> tuple[tuple[Outcome, ...], ...]:
        """One row per source, with one outcome per part (a message without text has one).

        If calls are clipped, an outcome for them comes last.
        """
        outcomes = self._outcomes
        return ((outcomes,),) if isinstance(outcomes, Outcome) else outcomes

    @property
    def is_kept(self) -> bool:
        """Whether the message is unchanged."""
        return not self.is_marked and not self.is_stripped

    @property
    def is_marked(self) -> bool:
        """Whether any of its texts or calls is replaced."""
        return bool(self._texts or self.calls)

    def changed(
        self,
        *,
        sources: tuple[Message, ...] | None = None,
        texts: Mapping[int, str] | None = None,
        calls: Mapping[int, Call] | None = None,
        outcomes: tuple[tuple[Outcome, ...], ...] | None = None,
    ) -> Fold:
        """Return the same fold with these fields replaced; `None` leaves a field as it is."""
        return Fold(
            sources=self.sources if sources is None else sources,
            texts=self.texts if texts is None else texts,
            calls=self.calls if calls is None else calls,
            outcomes=self.outcomes if outcomes is None else outcomes,
            is_rolled=self.is_rolled,
            role=self.role,
            is_stripped=self.is_stripped,
            note=self.note,
        )

    def stripped(self, note: str = "") -> Fold:
        """Return the same fold without thinking, with a *note* in its place, if given."""
        return Fold(
            sources=self.sources,
            texts=self.texts,
            calls=self.calls,
            outcomes=self.outcomes,
            is_rolled=self.is_rolled,
            role=self.role,
            is_stripped=True,
            note=note,
        )

    def shows_same(self, other: Fold) -> bool:
        """Tell whether *other* becomes the same message, thinking aside."""
        return (
            len(self.sources) == len(other.sources)
            and self._texts == other._texts
            and _spelled(self.calls) == _spelled(other.calls)
            and self.is_rolled == other.is_rolled
            and self.role == other.role
            and all(map(_is_same_message, self.sources, other.sources))
        )

    @property
    def texts_after(self) -> list[str]:
        """The texts of the message that this becomes."""
        texts, parts = self._texts, self.sources[0].parts
        if isinstance(texts, str) and (self.is_rolled or len(parts) == 1):
            return [texts]
        if self.is_rolled:
            return list(self.texts.values())
        return [self.texts.get(number, part.text) for number, part in enumerate(parts)]


def _spelled(calls: Mapping[int, Call]) -> dict[int, str]:
    return {number: call.text for number, call in calls.items()}


Plan = tuple[Fold, ...]
"""Folds in the order of the conversation; their sources tile it."""


def kept_fold(message: Message, reason: str) -> Fold:
    """Leave *message* as it is, for one reason."""
    sizes = [len(part.text) for part in message.parts] or [0]
    row = tuple([Outcome("preserved", reason, size, size) for size in sizes])
    return Fold(sources=(message,), outcomes=(row,))


def _is_same_message(one: Message, other: Message) -> bool:
    return one is other or one.digest == other.digest
