"""The summarizer protocol: something that shortens a text, usually a model, and is never trusted.

Everything around a model waits for it, so summarizers are asynchronous, and the synchronous face of
refold drives them on an event loop of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from refold.calling import Callee
from refold.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """One text to shorten."""

    text: str
    max_tokens: int = 300
    """About how long the answer may be."""
    must_keep: tuple[str, ...] = ()
    """Facts that an earlier answer lost and that this one has to say word for word."""
    context: str = ""
    """What the text is, such as the tool it comes from and the task at hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the answers of a model cost; can be added."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


def usage_of(error: BaseException) -> Usage:
    """Return what a call has cost that ended in *error*: a useless answer is paid for, too."""
    usage = getattr(error, "usage", None)  # other people's errors may say it, too
    return usage if isinstance(usage, Usage) else Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """An answer, not yet checked."""

    text: str
    usage: Usage = field(default_factory=Usage)


@runtime_checkable
class Summarizer(Protocol):
    """Shortens texts. May raise anything; the caller falls back to what needs no model."""

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Return a shorter text."""
        ...


TextFunction = Callable[[str], str | Awaitable[str]]
"""The simplest summarizer: a function from text to text, synchronous or not."""


class FunctionSummarizer:
    """A summarizer made of a function; a synchronous one runs in a thread, so calls overlap."""

    def __init__(self, function: TextFunction) -> None:
        self._call = Callee(function)

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Call the function with the text, followed by the facts to keep, if there are any."""
        text = request.text
        if request.must_keep:
            text += "\n\nKeep word for word: " + "; ".join(request.must_keep)
        answer = await self._call(text)
        if not isinstance(answer, str):
            raise TypeError(f"a summarizer must return a string, got {type(answer).__name__}")
        return Summary(text=answer, usage=Usage(calls=1))


def as_summarizer(value: object) -> Summarizer:
    """Accept a summarizer or a function from text to text."""
    if isinstance(value, Summarizer) and not isinstance(value, type):
        return value
    if callable(value):
        return FunctionSummarizer(value)
    raise ConfigError(
        f"summarizer must be a function from text to text or have summarize(); got {value!r}"
    )
