"""Refuses an answer that weakens or turns a limit: at least for at most."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from refold.llm.gates._counts import in_digits
from refold.llm.gates._limits import limits_of
from refold.llm.gates._values import read_values
from refold.llm.gates.base import Gate, Refusal, Source
from refold.notation.recognize import KEPT_LINE

_OPPOSED: Final = {
    "most": {"least", "above", "about", "not below"},
    "least": {"most", "below", "about", "not above"},
    "below": {"above", "above?", "least"},
    "above": {"below", "below?", "most"},
    "below?": {"above", "above?"},
    "above?": {"below", "below?"},
    "not above": {"least", "above", "about", "not below"},
    "not below": {"most", "below", "about", "not above"},
    "not before": {"not after"},
    "not after": {"not before"},
    "before": {"after", "earliest"},
    "after": {"before", "latest"},
    "earliest": {"latest", "before"},
    "latest": {"earliest", "after"},
}
_STRONG: Final = frozenset({"most", "least", "above", "below", "not above", "not below"})
"""A value that the source only states with one of these is not said without any."""
_ADDED: Final = frozenset({"least", "below"})
"""A value that the source states without a limit is not said with one of these."""


def _check(source: Source, answer: str) -> Refusal | None:
    turned = next(_turned_limits(source, KEPT_LINE.sub("", answer)), None)
    if turned is None:
        return None
    return Refusal(gate="limits_kept", why=f"it weakens or turns: {turned[:80]!r}", is_false=True)


def _turned_limits(source: Source, answer: str) -> Iterator[str]:
    """Yield values that the answer limits the other way round, or no longer."""
    told = limits_of(answer)
    for value in read_values(in_digits(answer)):
        forms = (value.normal, *value.others)
        ours = set().union(*(source.limits.get(form, ()) for form in forms))
        theirs = told.get(value.normal, {""})
        for name in ours - {""}:
            opposed = theirs & _OPPOSED.get(name, set())
            if opposed and name not in theirs and not ours & opposed:
                yield value.text
        if ours == {""} and theirs <= _ADDED:
            yield value.text
        if ours & _STRONG and "" not in ours and theirs == {""}:
            yield value.text


GATE: Final = Gate("limits_kept", _check)
