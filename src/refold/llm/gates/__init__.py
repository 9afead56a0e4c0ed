"""May a replacement be used? One gate per file, one ordered table; all must agree."""

from __future__ import annotations

from typing import Final

from refold.llm.gates import (
    facts_present,
    json_valid,
    known_names,
    limits_kept,
    negations_kept,
    no_instruction,
    no_markup,
    no_refusal,
    no_turn,
    not_empty,
    nothing_invented,
    on_topic,
    only_summary,
    plain_characters,
    same_language,
    shorter,
    supported,
)
from refold.llm.gates.base import Gate, Refusal, Source

__all__ = ["GATES", "Gate", "Refusal", "Source", "check", "only_lacks"]

GATES: Final[tuple[Gate, ...]] = (
    not_empty.GATE,
    no_refusal.GATE,
    only_summary.GATE,
    no_turn.GATE,
    no_instruction.GATE,
    no_markup.GATE,
    plain_characters.GATE,
    shorter.GATE,
    json_valid.GATE,
    same_language.GATE,
    on_topic.GATE,
    nothing_invented.GATE,
    known_names.GATE,
    supported.GATE,
    limits_kept.GATE,
    facts_present.GATE,
    negations_kept.GATE,
)
"""In the order in which refusals are reported: the plainest first."""


def check(source: Source, answer: str) -> tuple[Refusal, ...]:
    """Return every refusal, in the order of the table; none means that *answer* may be used."""
    refusals = (gate.check(source, answer) for gate in GATES)
    return tuple(refusal for refusal in refusals if refusal is not None)


def only_lacks(refusals: tuple[Refusal, ...]) -> bool:
    """Tell whether all that is wrong with an answer is what it leaves out."""
    return all(refusal.missing and not refusal.is_false for refusal in refusals)
