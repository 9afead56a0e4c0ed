"""Token counts of messages and folds; each distinct text is counted once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from refold.messages.folds import Fold
from refold.messages.message import Message
from refold.scan.tokens.counter import ForgivingCounter, TokenCounter

MESSAGE_OVERHEAD = 4
"""Tokens of the role and framing of one message: the most of all known providers."""

IMAGE_TOKENS = 1_100
"""Tokens of one image of unknown size: four tiles by the usual pricing rules, rounded up."""


class CountedTexts:
    """A counter that counts each distinct text once and never fails."""

    def __init__(
        self, counter: TokenCounter, fallback: TokenCounter, before: CountedTexts | None = None
    ) -> None:
        self._counter = ForgivingCounter(counter, fallback)
        self._known: dict[str, int] = {}
        self._before: Mapping[str, int] = {} if before is None else before._known
        """What an earlier counter knows."""
        self._messages: dict[Message, int] = {}

    @property
    def failures(self) -> int:
        """How many texts the counter failed on; the fallback counted them."""
        return self._counter.failures

    def count(self, text: str) -> int:
        """Return the tokens of *text*."""
        known = self._known.get(text)
        if known is None:
            known = self._before.get(text)
            known = self._known[text] = self._counter(text) if known is None else known
        return known

    __call__ = count

    def forget(self) -> None:
        """Forget all counts, because the counter has learned."""
        self._known.clear()
        self._before = {}
        self._messages.clear()

    def message(self, message: Message) -> int:
        """Return the tokens of a whole message: texts, calls, images, thinking, framing."""
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


def count_beside(turn: Message, count: TokenCounter) -> int:
    """Return the tokens of everything in a turn besides its texts."""
    total = IMAGE_TOKENS * turn.images + MESSAGE_OVERHEAD
    for text in turn.opaque:
        total += count(text)
    for call in turn.calls:
        total += count(call.text)
    for text in turn.thinking:
        total += count(text)
    return total


def count_plan(plan: Iterable[Fold], tokens: CountedTexts) -> int:
    """Return the tokens of the messages that *plan* becomes."""
    return sum(map(tokens.fold, plan))


@dataclass(frozen=True, slots=True)
class Share:
    """The tokens of one kind of content in one role."""

    role: str
    kind: str
    items: int
    tokens: int


def break_down(messages: Iterable[Message], tokens: CountedTexts) -> list[Share]:
    """Return the tokens of *messages* by role and kind of content, the largest first."""
    costs: dict[tuple[str, str], list[int]] = {}
    for message in messages:
        if not message.is_turn:
            continue
        pieces = [
            *(("tool result" if message.is_result(p) else "text", p.text) for p in message.parts),
            *(("tool call", call.text) for call in message.calls),
            *(("other", text) for text in message.opaque),
            *(("thinking", text) for text in message.thinking),
        ]
        fixed = [("media", IMAGE_TOKENS)] * message.images + [("framing", MESSAGE_OVERHEAD)]
        for kind, cost in [*((kind, tokens(text)) for kind, text in pieces), *fixed]:
            costs.setdefault((message.role, kind), []).append(cost)
    shares = [Share(role, kind, len(each), sum(each)) for (role, kind), each in costs.items()]
    return sorted(shares, key=lambda share: -share.tokens)
