"""Keep messages that later ones build on, when asked to."""

from __future__ import annotations

from collections.abc import Iterator

from refold.model.decision import Keep
from refold.model.draft import Draft, Verdict
from refold.scoring.importance import score_importance
from refold.stages.base import RunContext


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
