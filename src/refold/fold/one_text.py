"""Fold one text without its conversation: for tools and managers."""

from __future__ import annotations

from typing import Final

from refold.fold.fold import Folder
from refold.fold.kinds import kind_of
from refold.lazy import regex
from refold.messages.formats import load
from refold.messages.token_count import MESSAGE_OVERHEAD, CountedTexts
from refold.notation.recognize import body_of
from refold.scan.tokens.counter import TokenCounter
from refold.scan.tokens.estimate import estimate_tokens

_AROUND: Final = MESSAGE_OVERHEAD + 12
"""Tokens of a message, and of the mark of an excerpt, which is left out here."""
_END: Final = regex(r"(?<=[.!?])[ \t]++(?=\S)|(?<=[。！？])(?=[^\s。！？])")
"""Between two sentences."""


def fold_text(text: str, max_tokens: int, count: TokenCounter) -> str | None:
    """Return the pieces of *text* that are worth most, in about *max_tokens*.

    Where others are missing stands a sign, and sentences of prose stand on lines of their own.
    `None` if nothing is shown, or nothing saved.
    """
    # Prose has no lines to choose from, but sentences.
    lines = _END.sub("\n", text) if kind_of(text) == "prose" else text
    message = load([{"role": "tool", "content": lines, "id": "text"}])
    most = max_tokens + _AROUND
    (fold,) = Folder(message, {}, CountedTexts(count, estimate_tokens)).fold(most, most)
    short = body_of(fold.texts.get(0, ""))
    return short if short and count(short) < count(text) else None
