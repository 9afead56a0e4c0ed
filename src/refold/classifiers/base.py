"""What a classifier is: something that says which texts are worth keeping word for word."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Verdict:
    """A classifier's word on a text."""

    decision: Literal["preserve", "compress"]
    confidence: float
    reason: str


@runtime_checkable
class Classifier(Protocol):
    """Judges texts."""

    async def classify(self, text: str) -> Verdict:
        """Return a verdict."""
        ...


class FunctionClassifier:
    """A classifier made of a function."""

    def __init__(self, function: Any) -> None:
        self._function = function

    async def classify(self, text: str) -> Verdict:
        """Call the function."""
        answer = await asyncio.to_thread(self._function, text)
        if inspect.isawaitable(answer):
            answer = await answer
        verdict: Verdict = answer
        return verdict


def as_classifier(value: Any) -> Classifier:
    """Accept a classifier or a function."""
    return value if isinstance(value, Classifier) else FunctionClassifier(value)
