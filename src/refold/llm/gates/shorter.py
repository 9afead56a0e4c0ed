"""Refuses an answer that is not shorter than its source, in characters and in tokens."""

from __future__ import annotations

from typing import Final

from refold.llm.gates.base import Gate, Refusal, Source


def _check(source: Source, answer: str) -> Refusal | None:
    before, after = len(source.text), len(answer)
    if after >= before:
        return Refusal(f"{after} characters, the source has {before}")
    spent = source.count_tokens(answer)
    if spent >= source.tokens:
        return Refusal(f"{spent} tokens, the source has {source.tokens}")
    return None


GATE: Final = Gate("shorter", _check)
