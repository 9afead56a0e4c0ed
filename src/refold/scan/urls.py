"""Where a web address ends: what follows it in a text often looks like a part of it."""

from __future__ import annotations

from typing import Final

_AFTER: Final = ".,;:!?'*_…"
"""Punctuation that closes the sentence, not the address."""
_BRACKETS: Final = {")": "(", "]": "[", "}": "{"}


def trim_url(url: str) -> str:
    """Return *url* without what belongs to the text around: punctuation, brackets never opened."""
    surplus = {close: url.count(close) - url.count(open_) for close, open_ in _BRACKETS.items()}
    end = len(url)
    while end:
        last = url[end - 1]
        if surplus.get(last, 0) > 0:
            surplus[last] -= 1
        elif last not in _AFTER:
            break
        end -= 1
    return url[:end]
