"""The end of a conversation, by messages, by tokens or both: in whole blocks, for any provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refold.budget.blocks import find_blocks
from refold.checks import check_whole
from refold.errors import ConfigError
from refold.formats import load
from refold.model.message import Message
from refold.model.wire import clone
from refold.tokens.base import CountedTexts
from refold.tokens.counter import TokenCounter
from refold.tokens.estimate import estimate_tokens

_SYSTEM = ("system", "developer")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlidingWindow:
    """Keeps system prompts, the first messages, and as many of the last as the bounds allow.

    A tool call and its results are one block: kept together, or not at all. The newest block is
    kept whatever its size, unless `last_messages` is 0: this is a view of the end, and promises
    nothing about a model's window. For that there is `ContextWindowManager`.
    """

    last_messages: int | None = None
    """How many of the last messages to keep at most; 0 keeps none."""
    max_tokens: int | None = None
    """How many tokens to keep at most, system prompts and first messages included."""
    anchor_first: int = 0
    """How many messages at the beginning, system prompts aside, always stay."""
    counter: TokenCounter = estimate_tokens

    def __post_init__(self) -> None:
        if self.last_messages is None and self.max_tokens is None:
            raise ConfigError("give last_messages=… or max_tokens=… or both")
        for name in ("last_messages", "max_tokens", "anchor_first"):
            value: object = getattr(self, name)
            if value is None and name != "anchor_first":
                continue
            check_whole(name, value)

    def __call__(self, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return copies of the messages that stay, in their order."""
        loaded = load(messages)
        tokens = CountedTexts(self.counter, estimate_tokens)
        blocks = find_blocks(loaded)
        kept = self._anchored(loaded, blocks)
        self._add_end(loaded, blocks, kept, tokens)
        return [clone(dict(message.wire)) for message in loaded if message.index in kept]

    def _anchored(self, messages: Sequence[Message], blocks: Sequence[range]) -> set[int]:
        said = [m.index for m in messages if m.role not in _SYSTEM and m.is_turn]
        first = set(said[: self.anchor_first])
        kept = {m.index for m in messages if m.role in _SYSTEM or not m.is_turn}
        for block in blocks:
            if first & set(block):
                kept.update(block)
        return kept

    def _add_end(
        self,
        messages: Sequence[Message],
        blocks: Sequence[range],
        kept: set[int],
        tokens: CountedTexts,
    ) -> None:
        """Add blocks from the end as long as both bounds allow."""
        room = len(messages) if self.last_messages is None else self.last_messages
        budget = self.max_tokens
        spent = sum(tokens.message(messages[index]) for index in kept)
        is_newest = True
        for block in reversed(blocks):
            fresh = [index for index in block if index not in kept]
            if not fresh:
                room -= sum(messages[index].role not in _SYSTEM for index in block)
                continue
            room -= len(fresh)
            spent += sum(tokens.message(messages[index]) for index in fresh)
            is_over = room < 0 or (budget is not None and spent > budget)
            if is_over and not (is_newest and self.last_messages != 0):
                break
            kept.update(fresh)
            is_newest = False
