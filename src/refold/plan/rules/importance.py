"""Keep messages that later ones refer to, if the options ask for it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from refold.plan.draft import Draft, Keep, RunContext, Verdict
from refold.scan.patterns import CAMEL, PASCAL, SNAKE, VOWELLESS
from refold.scan.signals import score_signals


def keep_important(draft: Draft, context: RunContext) -> Iterator[Verdict]:
    """Keep every text of a message whose importance reaches the threshold."""
    if not context.options.importance_scoring:
        return
    texts = ["\n".join(part.text for part in message.parts) for message in draft.messages]
    scores = score_importance(texts)
    for segment in draft.undecided():
        score = scores[segment.message.index]
        if score >= context.options.importance_threshold and not context.is_large(segment.message):
            yield segment, Keep(), f"importance:{score:.2f}"


_REFERENCE: Final = re.compile(
    rf"(?<![\w])(?:(?:{PASCAL}|{CAMEL}|{SNAKE}|{VOWELLESS})(?![\w])"
    r"|(?<![./-])[\w/-]++(?:\.[\w/-]++)++:[0-9]++)"
)
_MAX_LATER: Final = 256
"""Later mentions of one name that count; keeps the work linear."""


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
