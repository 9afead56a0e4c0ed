"""What a token counter is, and what a message costs beyond its texts."""

from __future__ import annotations

from collections.abc import Callable

from refold.model.message import Message

TokenCounter = Callable[[str], int]
"""Counts the tokens of a text."""

MESSAGE_OVERHEAD = 4
"""Tokens that role and framing of one message cost with every provider we know, rounded up."""

IMAGE_TOKENS = 1_100
"""What one picture of unknown size costs: four tiles of the usual pricing rules, rounded up."""


class CountedTexts:
    """A counter that counts each distinct text once."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Return the tokens of *text*."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._counter(text)
        return known

    def message(self, message: Message) -> int:
        """Return the tokens of a whole message: texts, tool arguments, pictures, framing."""
        if not message.is_turn:
            return 0
        texts = sum(self(part.text) for part in message.parts)
        opaque = sum(self(text) for text in message.opaque)
        return texts + opaque + IMAGE_TOKENS * message.images + MESSAGE_OVERHEAD
