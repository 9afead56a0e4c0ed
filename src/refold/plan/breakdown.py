"""Where the tokens of a conversation go: by role and by kind of content."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from refold.messages.message import Message
from refold.plan.token_count import IMAGE_TOKENS, MESSAGE_OVERHEAD, CountedTexts


@dataclass(frozen=True, slots=True)
class Share:
    """The tokens of one kind of content under one role."""

    role: str
    kind: str
    items: int
    tokens: int


def break_down(messages: Iterable[Message], tokens: CountedTexts) -> list[Share]:
    """Count every message, largest share first."""
    sums: dict[tuple[str, str], list[int]] = {}
    for message in messages:
        for kind, cost in _pieces(message, tokens) if message.is_turn else ():
            entry = sums.setdefault((message.role, kind), [0, 0])
            entry[0] += 1
            entry[1] += cost
    shares = [Share(role, kind, items, cost) for (role, kind), (items, cost) in sums.items()]
    return sorted(shares, key=lambda share: -share.tokens)


def _pieces(message: Message, tokens: CountedTexts) -> Iterable[tuple[str, int]]:
    for part in message.parts:
        yield ("tool result" if message.is_result(part) else "text"), tokens(part.text)
    for call in message.calls:
        yield "tool call", tokens(call.text)
    for text in message.opaque:
        yield "other", tokens(text)
    for text in message.thinking:
        yield "thinking", tokens(text)
    for _ in range(message.images):
        yield "media", IMAGE_TOKENS
    yield "framing", MESSAGE_OVERHEAD
