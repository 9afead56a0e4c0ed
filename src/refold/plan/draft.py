"""A conversation while the rules decide on it, and what every rule gets to see.

Rules add verdicts; the first one on a segment stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from refold.messages.message import Message
from refold.options import Options
from refold.plan.text_cache import TextCache


@dataclass(frozen=True, slots=True)
class Keep:
    """Leave the text as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refer:
    """Replace a copy by a reference to the one that stays."""

    to: int
    similarity: float | None = None
    """The similarity of a near copy, from 0 to 1; `None` for an exact copy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersede:
    """Shorten a statement that a later message corrects, and refer to the correction."""

    by: int
    signal: str


@dataclass(frozen=True, slots=True)
class SplitCode:
    """Keep fenced code word for word and shorten the prose around it."""


@dataclass(frozen=True, slots=True)
class Summarize:
    """Summarize prose, together with its neighbors of the same role."""


Action = Keep | Refer | Supersede | SplitCode | Summarize


class Decision:
    """What will happen to one segment, and why; read-only."""

    __slots__ = ("action", "reason")

    def __init__(self, action: Action, reason: str) -> None:
        self.action: Final[Action] = action
        self.reason: Final = reason


class Segment:
    """One text of one message, numbered through the conversation; read-only."""

    __slots__ = ("message", "number", "text")

    def __init__(self, number: int, message: Message, text: str) -> None:
        self.number: Final = number
        self.message: Final = message
        self.text: Final = text

    @property
    def id(self) -> str:
        """The id by which references name this text."""
        return self.message.id


Verdict = tuple[Segment, Action, str]
"""A segment, what a rule wants done with it, and why."""


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
        """Decisions to keep, by reason; shared by all segments."""

    def decide(self, verdicts: Iterable[Verdict]) -> None:
        """Add verdicts; a segment that already has a decision keeps it."""
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
        """Keep whole messages, given as a map from index to reason."""
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
        """Return the segments without a decision, in reading order."""
        decisions = self._decisions
        return [segment for segment in self.segments if decisions[segment.number] is None]

    def is_open(self, segment: Segment) -> bool:
        """Tell whether *segment* has no decision yet."""
        return self._decisions[segment.number] is None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What the rules of one run share: the options, the text cache, the recency window."""

    options: Options
    text_cache: TextCache
    recent_from: int
    """Index of the first message inside the recency window."""
    hidden: frozenset[int] = frozenset()
    """Indices of messages that are folded already: nothing may refer to their texts."""

    shortens_beside_calls: bool = False
    """Whether texts beside tool calls may be shortened; the calls stay."""

    leaves_all_to_classifier: bool = False
    """Whether a classifier decides on structured texts, too."""

    @classmethod
    def of(
        cls, messages: Sequence[Message], options: Options, text_cache: TextCache, window: int
    ) -> RunContext:
        """Return the context of a run in which the last *window* turns are recent."""
        recent_from = len(messages)
        turns = 0
        for message in reversed(messages):
            if turns == window:
                break
            if message.is_turn:
                turns += 1
                recent_from = message.index
        return cls(
            options=options,
            text_cache=text_cache,
            recent_from=recent_from,
            leaves_all_to_classifier=text_cache.may_judge and options.classifier_mode == "full",
        )

    def is_recent(self, message: Message) -> bool:
        """Tell whether *message* is inside the recency window."""
        return message.index >= self.recent_from

    def is_large(self, message: Message) -> bool:
        """Tell whether *message* is so large that recency and structure do not protect it."""
        limit = self.options.observation_threshold
        return limit is not None and self.text_cache.tokens.message(message) > limit

    def may_refer(self, message: Message) -> bool:
        """Tell whether *message* may become a reference, or the target of one."""
        return (
            message.role not in self.options.preserve
            and not message.calls
            and not message.is_stand_in
            and message.is_turn
            and message.index not in self.hidden
        )


Rule = Callable[[Draft, RunContext], Iterator[Verdict]]
"""Looks at the draft and yields verdicts on segments."""
