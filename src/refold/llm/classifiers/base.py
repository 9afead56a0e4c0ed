"""What a classifier is: something that says which texts are worth keeping word for word."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from refold.calling import Callee
from refold.errors import ConfigError

Decision = Literal["preserve", "compress"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A classifier's word on a text."""

    decision: Decision
    confidence: float
    """From 0, a guess, to 1."""
    reason: str

    def __post_init__(self) -> None:
        if self.decision not in get_args(Decision):
            raise ValueError(f"decision must be preserve or compress, got {self.decision!r}")


def as_verdict(value: object) -> Verdict | None:
    """Read a verdict, or a mapping with the same names; None if it is neither."""
    match value:
        case Verdict():
            return value
        case {"confidence": bool()}:
            return None
        case {
            "decision": "preserve" | "compress" as decision,
            "confidence": int() | float() as confidence,
            "reason": str() as reason,
        }:
            return Verdict(decision, float(min(1, max(0, confidence))), reason)
        case _:
            return None


@runtime_checkable
class Classifier(Protocol):
    """Judges texts. May raise anything; the caller goes on without it."""

    async def classify(self, text: str) -> Verdict:
        """Return a verdict."""
        ...


def confidence_of(reasons: Sequence[str]) -> float:
    """Return how sure the detectors are: the more *reasons* they see, the surer; prose is a guess.

    No number of reasons makes certain.
    """
    return round(min(0.95, 0.70 + 0.05 * len(reasons)), 2) if reasons else 0.65


AnyVerdict = Verdict | Mapping[str, Any]
"""A verdict, or a mapping with its names: `decision`, `confidence`, `reason`."""

VerdictFunction = Callable[[str], AnyVerdict | Awaitable[AnyVerdict]]
"""The simplest classifier: a function from text to verdict, synchronous or not."""


class FunctionClassifier:
    """A classifier made of a function; a synchronous one runs in a thread, so calls overlap."""

    def __init__(self, function: VerdictFunction) -> None:
        self._call = Callee(function)

    async def classify(self, text: str) -> Verdict:
        """Return what the function says."""
        return expect_verdict(await self._call(text))


def expect_verdict(value: object) -> Verdict:
    """Read what a classifier returned, which may be anything."""
    verdict = as_verdict(value)
    if verdict is None:
        raise TypeError(f"a classifier must return a Verdict, got {value!r:.80}")
    return verdict


def as_classifier(value: object) -> Classifier:
    """Accept a classifier or a function from text to verdict."""
    if isinstance(value, Classifier) and not isinstance(value, type):
        return value
    if callable(value):
        return FunctionClassifier(value)
    raise ConfigError(
        f"classifier must be a function from text to Verdict or have classify(); got {value!r}"
    )
