"""May a replacement be used? One gate per file, one ordered table; all must agree."""

from __future__ import annotations

from typing import Final

from refold.gates import (
    facts_present,
    json_valid,
    known_names,
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
)
from refold.gates._values import values_in
from refold.gates.base import WORD, Gate, Refusal, Source
from refold.notation.notes import kept_facts
from refold.text.facts import find_quotes

__all__ = ["GATES", "Gate", "Refusal", "Source", "check", "repair", "values_in"]

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
    facts_present.GATE,
    negations_kept.GATE,
)
"""In the order in which refusals are reported: the plainest first."""

_ROUNDS: Final = 2
"""Completing one kind of fact may show that another is missing; then once more."""
_SHORT: Final = 2
"""A fact of more words than these is a sentence, which may hold other facts."""


def check(source: Source, answer: str) -> tuple[Refusal, ...]:
    """Return every refusal, in the order of the table; none means that *answer* may be used."""
    refusals = (gate.check(source, answer) for gate in GATES)
    return tuple(refusal for refusal in refusals if refusal is not None)


def repair(source: Source, answer: str, refusals: tuple[Refusal, ...]) -> str | None:
    """Append the facts that *answer* lacks, word for word, as a last line `[kept: a; b]`.

    Return None if that does not help: it is no longer shorter than the source, or a gate still
    refuses, or refused for something else than missing facts. What says the opposite of a fact
    stays false with the fact behind it.
    """
    missing: list[str] = []
    for _ in range(_ROUNDS):
        if not refusals or not all(r.missing and not r.is_false for r in refusals):
            return None
        missing += (fact for refusal in refusals for fact in refusal.missing)
        completed = answer.rstrip() + kept_facts(_widest(missing))
        refusals = check(source, completed)
        if not refusals:
            return completed
    return None


def _widest(facts: list[str]) -> list[str]:
    """Leave out the values, names and quotations that a longer fact says already."""
    distinct = list(dict.fromkeys(facts))
    quotes = {fact for fact in distinct if next(find_quotes(fact), "") == fact}
    longer = [fact for fact in distinct if fact in quotes or len(fact.split()) > _SHORT]
    stated = set().union(*map(values_in, longer))
    words = {word for fact in longer for word in WORD.findall(fact)}
    quoted = {quote for fact in longer if fact not in quotes for quote in find_quotes(fact)}

    def is_said(fact: str) -> bool:
        if fact in quotes or len(fact.split()) > _SHORT:
            return fact in quoted
        values = values_in(fact)
        return values <= stated if values else fact in words

    return [fact for fact in distinct if not is_said(fact)]
