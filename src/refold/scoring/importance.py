"""How much later messages build on a message, and how much it decides."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from refold.scoring.signals import score_signals
from refold.text.name_patterns import CAMEL, PASCAL, SNAKE, VOWELLESS

_REFERENCE: Final = re.compile(
    rf"(?<![\w])(?:(?:{PASCAL}|{CAMEL}|{SNAKE}|{VOWELLESS})(?![\w])"
    r"|(?<![./-])[\w/-]++(?:\.[\w/-]++)++:[0-9]++)"
)
_MAX_LATER: Final = 256
"""Later mentions of one name beyond this many add nothing: it keeps the work linear."""


def score_importance(texts: Sequence[str]) -> list[float]:
    """Score every text from 0 to 1: later references, signal words, and a little for recency."""
    names = [set(map(str.lower, _REFERENCE.findall(text))) for text in texts]
    mentions: dict[str, list[int]] = defaultdict(list)
    references = [0] * len(texts)
    for index in range(len(texts) - 1, -1, -1):
        later: set[int] = set()
        for name in names[index]:
            later.update(mentions[name])
            if len(mentions[name]) < _MAX_LATER:
                mentions[name].append(index)
        references[index] = len(later)
    most = max(references, default=0)
    last = max(len(texts) - 1, 1)
    return [
        min(1.0, 0.5 * (count / most if most else 0) + score_signals(text) + 0.1 * index / last)
        for index, (text, count) in enumerate(zip(texts, references, strict=True))
    ]
