"""What a classifier is: something that says which texts are worth keeping word for word."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args, runtime_checkable

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


@runtime_checkable
class Classifier(Protocol):
    """Judges texts. May raise anything; the caller goes on without it."""

    async def classify(self, text: str) -> Verdict:
        """Return a verdict."""
        ...


VerdictFunction = Callable[[str], Verdict | Awaitable[Verdict]]
"""The simplest classifier: a function from text to verdict, synchronous or not."""


class FunctionClassifier:
    """A classifier made of a function; a synchronous one runs in a thread, so calls overlap."""

    def __init__(self, function: VerdictFunction) -> None:
        self._call = Callee(function)

    async def classify(self, text: str) -> Verdict:
        """Return what the function says."""
        verdict = await self._call(text)
        if not isinstance(verdict, Verdict):
            raise TypeError(f"a classifier must return a Verdict, got {type(verdict).__name__}")
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
