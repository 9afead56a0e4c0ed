"""What a message costs: its texts, each counted once, and what comes on top of them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Protocol

from refold.messages.message import Message
from refold.messages.part import Call
from refold.plan.fold import Fold
from refold.scan.tokens.counter import ForgivingCounter, TokenCounter

MESSAGE_OVERHEAD = 4
"""Tokens that role and framing of one message cost with every provider we know, rounded up."""

IMAGE_TOKENS = 1_100
"""What one picture of unknown size costs: four tiles of the usual pricing rules, rounded up."""


class Countable(Protocol):
    """What a turn has beside the texts that may be replaced: a message, or one just read."""

    @property
    def opaque(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def calls(self) -> Sequence[Call]: ...  # noqa: D102
    @property
    def thinking(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def images(self) -> int: ...  # noqa: D102


class CountedTexts:
    """A counter that counts each distinct text once and never fails."""

    def __init__(self, counter: TokenCounter, fallback: TokenCounter) -> None:
        self._counter = ForgivingCounter(counter, fallback)
        self._known: dict[str, int] = {}
        self._messages: dict[Message, int] = {}

    @property
    def failures(self) -> int:
        """How many texts the counter could not count; the fallback did."""
        return self._counter.failures

    def count(self, text: str) -> int:
        """Return the tokens of *text*."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._counter(text)
        return known

    __call__ = count

    def forget(self) -> None:
        """Count everything anew from now on: the counter has learned."""
        self._known.clear()
        self._messages.clear()

    def keep_only(self, texts: Container[str]) -> None:
        """Forget all other texts, and the sums of messages, which are quick to make again."""
        self._known = {text: count for text, count in self._known.items() if text in texts}
        self._messages = {}

    def message(self, message: Message) -> int:
        """Return the tokens of a whole message: texts, tool arguments, pictures, framing."""
        known = self._messages.get(message)
        if known is None:
            known = self._messages[message] = self._count_message(message)
        return known

    def _count_message(self, message: Message) -> int:
        if not message.is_turn:  # a record that no model ever sees
            return 0
        total = self._beside(message)
        for part in message.parts:
            total += self.count(part.text)
        return total

    def fold(self, fold: Fold) -> int:
        """Return the tokens of the message that *fold* becomes."""
        first = fold.sources[0]
        if fold.is_kept:
            return self.message(first)
        total = MESSAGE_OVERHEAD if fold.is_rolled else self._beside(first)
        if fold.is_stripped:
            total -= sum(map(self.count, first.thinking))
            total += self.count(fold.note) if fold.note else 0
        for text in fold.texts_after:
            total += self.count(text)
        for number, call in fold.calls.items():
            total += self.count(call.text) - self.count(first.calls[number].text)
        return total

    def _beside(self, message: Message) -> int:
        return count_beside(message, self.count)


def count_beside(turn: Countable, count: TokenCounter) -> int:
    """Return what a turn costs beside the texts that may be replaced."""
    total = IMAGE_TOKENS * turn.images + MESSAGE_OVERHEAD
    for text in turn.opaque:
        total += count(text)
    for call in turn.calls:
        total += count(call.text)
    for text in turn.thinking:
        total += count(text)
    return total
