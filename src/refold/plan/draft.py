"""The conversation while decisions are being made: stages add verdicts, the first one stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from refold.messages.message import Message
from refold.plan.decision import Action, Decision, Keep


class Segment:
    """One text part of one message, numbered through the whole conversation; read-only."""

    __slots__ = ("message", "number", "text")

    def __init__(self, number: int, message: Message, text: str) -> None:
        self.number: Final = number
        self.message: Final = message
        self.text: Final = text
        """The text to decide on."""

    @property
    def id(self) -> str:
        """The id that references to this text use."""
        return self.message.id


Verdict = tuple[Segment, Action, str]
"""A segment, what a stage wants done with it, and why."""


class Draft:
    """All segments of a conversation and the decisions made so far."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self._first: list[int] = []
        """The number of the first segment of each message, by the index of the message."""
        segments: list[Segment] = []
        for message in messages:
            assert message.index == len(self._first), "messages are numbered through"
            self._first.append(len(segments))
            for part in message.parts:
                segments.append(Segment(len(segments), message, part.text))
        self.segments: tuple[Segment, ...] = tuple(segments)
        self._decisions: list[Decision | None] = [None] * len(segments)
        self._kept: dict[str, Decision] = {}
        """Decisions to keep, by reason: a few serve all messages."""

    def decide(self, verdicts: Iterable[Verdict]) -> None:
        """Record verdicts; a segment that already has a decision keeps it."""
        decisions = self._decisions
        for segment, action, reason in verdicts:
            if decisions[segment.number] is None:
                decisions[segment.number] = self._decision(action, reason)

    def _decision(self, action: Action, reason: str) -> Decision:
        if type(action) is not Keep:
            return Decision(action, reason)
        known = self._kept.get(reason)
        if known is None:
            known = self._kept[reason] = Decision(action, reason)
        return known

    def pin(self, reasons: Mapping[int, str]) -> None:
        """Keep whole messages, by index, each for the reason given."""
        for message in self.messages:
            reason = reasons.get(message.index)
            if reason is not None:
                self.decide([(s, Keep(), reason) for s in self.segments_of(message)])

    def decision(self, segment: Segment) -> Decision | None:
        """Return the decision on *segment*, if there is one yet."""
        return self._decisions[segment.number]

    def segments_of(self, message: Message) -> Sequence[Segment]:
        """Return the segments of one message."""
        first = self._first[message.index]
        return self.segments[first : first + len(message.parts)]

    def undecided(self) -> list[Segment]:
        """Return the segments that no stage has claimed yet, in reading order."""
        decisions = self._decisions
        return [segment for segment in self.segments if decisions[segment.number] is None]

    def is_open(self, segment: Segment) -> bool:
        """Tell whether nothing has been decided on *segment* yet."""
        return self._decisions[segment.number] is None
