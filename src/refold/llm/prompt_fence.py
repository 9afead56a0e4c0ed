"""Fences around untrusted text inside a prompt: put around it, and taken out of answers.

The fence is made of a digest of the text, so no text can contain its own fence, and the
same text is always asked about in the same words, so that caches hit.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

_DIGEST_CHARS: Final = 12
"""48 bits: too many to forge a fence by trial and error."""


def short_digest(text: str) -> str:
    """Return a short word that follows from *text*."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARS]


def make_mark(*texts: str) -> str:
    """Return a word that follows from *texts* and occurs in none of them."""
    mark = short_digest("\0".join(texts))
    while any(mark in text for text in texts):  # a digest that was forged after all
        mark = short_digest(mark + "\0".join(texts))
    return mark


def fences(label: str, mark: str) -> tuple[str, str]:
    """Return the lines before and after a text that is called *label*."""
    return f"<<<{label} {mark}", f"{mark} {label}>>>"


def strip_fences(answer: str, mark: str) -> str:
    """Return *answer* without fences made of *mark*: a model may copy them along with the text."""
    return re.sub(rf"(?:<{{1,3}}\w{{1,5}} )?{mark}(?: \w{{1,5}}>{{1,3}})?", "", answer).strip()
