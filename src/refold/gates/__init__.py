"""May a replacement be used? Placeholder table until the gates move in."""

from __future__ import annotations

from collections.abc import Sequence

from refold.gates.base import Refusal, Source


def check(source: Source, answer: str) -> tuple[Refusal, ...]:
    """Return every refusal."""
    if answer and len(answer) < len(source.text):
        return ()
    return (Refusal(gate="shorter", why="not shorter"),)


def repair(source: Source, answer: str, refusals: Sequence[Refusal]) -> str | None:
    """Return a repaired answer."""
    del source, answer, refusals
    return None
