"""A summary by a model in place of the oldest digest, where it fits the same room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refold.model.message import Message
from refold.model.plan import SUMMARIZED, Outcome, Plan
from refold.notation.recognize import body_of
from refold.planner.writing import Line, write_digest
from refold.stages import TextCache


def add_model_summary(plan: Plan, text_cache: TextCache) -> Plan:
    """Let what a model wrote for the oldest digest of *plan* be its text, if that fits its room.

    It was checked line by line: nothing in it is invented or turned round, and it keeps more of the
    stretch per token than the digest does. Without a model, or while it has not been asked, the
    plan is as it was.
    """
    place = next((n for n, fold in enumerate(plan) if fold.is_rolled), None)
    if place is None:
        return plan
    digest = plan[place]
    told = "\n\n".join(_tell(digest.sources))
    summary = text_cache.written_for_stretch(told, body_of(digest.texts[0]))
    if summary is None:
        return plan
    summarized = write_digest(digest.sources, list(_lines(digest.sources, summary)))
    if text_cache.tokens.fold(summarized) > text_cache.tokens.fold(digest):
        return plan
    text_cache.note_use(summarized.texts[0], told)
    return (*plan[:place], summarized, *plan[place + 1 :])


def _tell(stretch: Sequence[Message]) -> Iterator[str]:
    """Yield what a stretch says and does, in order, with who says it."""
    for message in stretch:
        if message.is_turn:
            said = [part.text for part in message.parts if part.text.strip()]
            calls = [call.text for call in message.calls]
            # No "user: ": an answer with such labels would read like turns, and pass for a quote.
            yield from (f"({message.role})\n{text}" for text in (*said, *calls))


def _lines(stretch: Sequence[Message], summary: str) -> Iterator[Line]:
    """Yield what the digest shows: the *summary*, which speaks for all messages alike."""
    share = len(summary) // len(stretch)
    for message in stretch:
        shown, summary = summary, ""
        outcome = Outcome("digested", SUMMARIZED, message.chars, share)
        yield Line("", shown, len(shown), message.chars, 0, outcome)
