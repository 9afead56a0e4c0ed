"""A quick estimate of how many tokens a text costs, without any tokenizer."""

from __future__ import annotations

import math


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of *text*."""
    wide = 0 if text.isascii() else sum(1 for char in text if char > "\u0250")
    return math.ceil((len(text) - wide) / 3.6 + 0.8 * wide)
