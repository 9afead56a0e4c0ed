"""The conversation while decisions are being made: stages add verdicts, the first one stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from refold.model.decision import Action, Decision, Keep
from refold.model.message import Message
from refold.model.segment import Segment

Verdict = tuple[Segment, Action, str]
"""A segment, what a stage wants done with it, and why."""


class Draft:
    """All segments of a conversation and the decisions made so far."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.segments: tuple[Segment, ...] = tuple(
            Segment(number=number, message=message, part=part)
            for number, (message, part) in enumerate(
                (message, part) for message in messages for part in message.parts
            )
        )
        self._by_message: dict[int, list[Segment]] = {}
        for segment in self.segments:
            self._by_message.setdefault(segment.message.index, []).append(segment)
        self._decisions: list[Decision | None] = [None] * len(self.segments)

    def decide(self, verdicts: Iterable[Verdict]) -> None:
        """Record verdicts; a segment that already has a decision keeps it."""
        for segment, action, reason in verdicts:
            if self._decisions[segment.number] is None:
                self._decisions[segment.number] = Decision(action=action, reason=reason)

    def pin(self, reasons: Mapping[int, str]) -> None:
        """Keep whole messages, by index, each for the reason given."""
        self.decide(
            (segment, Keep(), reason)
            for index, reason in reasons.items()
            for segment in self._by_message.get(index, ())
        )

    def decision(self, segment: Segment) -> Decision | None:
        """Return the decision on *segment*, if there is one yet."""
        return self._decisions[segment.number]

    def segments_of(self, message: Message) -> Sequence[Segment]:
        """Return the segments of one message."""
        return self._by_message.get(message.index, ())

    def undecided(self) -> Iterator[Segment]:
        """Yield the segments that no stage has claimed yet, in reading order."""
        return (s for s in self.segments if self._decisions[s.number] is None)

    def is_open(self, segment: Segment) -> bool:
        """Tell whether nothing has been decided on *segment* yet."""
        return self._decisions[segment.number] is None
