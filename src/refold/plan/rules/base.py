"""What every stage gets to see besides the draft: options, and what is known of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from refold.messages.message import Message
from refold.options import Options
from refold.plan.draft import Draft, Verdict
from refold.plan.text_cache import TextCache


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What every stage of one run shares: the options, the text cache, the recency window."""

    options: Options
    text_cache: TextCache
    recent_from: int
    """Index of the first message inside the recency window."""
    hidden: frozenset[int] = frozenset()
    """Indices of messages that are already folded: nothing may refer to their texts."""

    shortens_beside_calls: bool = False
    """Whether what is said beside tool calls may be shortened; the calls stay."""

    leaves_all_to_classifier: bool = False
    """Whether a classifier decides on structure, too."""

    @classmethod
    def of(
        cls, messages: Sequence[Message], options: Options, text_cache: TextCache, window: int
    ) -> RunContext:
        """Set up a run in which the last *window* turns are recent."""
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
        """Tell whether *message* is so large that being recent or structured does not save it."""
        limit = self.options.observation_threshold
        return limit is not None and self.text_cache.tokens.message(message) > limit

    def may_refer(self, message: Message) -> bool:
        """Tell whether *message* may be replaced by, or serve as, the other end of a reference."""
        return (
            message.role not in self.options.preserve
            and not message.calls
            and not message.is_stand_in
            and message.is_turn
            and message.index not in self.hidden
        )


Stage = Callable[[Draft, RunContext], Iterator[Verdict]]
"""A step of the pipeline: looks at the draft and yields verdicts on segments."""
