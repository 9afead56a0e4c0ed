"""Classifiers made of a model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from refold.calling import Callee
from refold.checks import check_whole
from refold.classifiers.base import Classifier, Verdict, confidence_of
from refold.classifiers.prompt import read_verdict, write_prompt
from refold.errors import ConfigError

AnswerFunction = Callable[[str], str | Awaitable[str]]
"""From a prompt to a model's answer, synchronous or not."""

HardReasons = Callable[[str], Sequence[str]]
"""From a text to the reasons why it must not be changed, if there are any."""


class CallClassifier:
    """Asks a model through a function from prompt to answer."""

    def __init__(self, call: AnswerFunction, write: Callable[[str], str]) -> None:
        self._call = Callee(call)
        self._write = write

    async def classify(self, text: str) -> Verdict:
        """Ask once; an answer that nobody understands is a verdict without confidence."""
        answer = await self._call(self._write(text))
        if not isinstance(answer, str):
            raise TypeError(f"a model's answer must be a string, got {type(answer).__name__}")
        return read_verdict(answer)


class EscalatingClassifier:
    """Takes *inner*'s verdict if it has any confidence, and else goes by *hard_reasons*."""

    def __init__(self, inner: Classifier, hard_reasons: HardReasons) -> None:
        self._inner = inner
        self._hard_reasons = hard_reasons

    async def classify(self, text: str) -> Verdict:
        """Return a verdict, always; its reason names the error if *inner* raised one."""
        problem = ""
        try:
            verdict = await self._inner.classify(text)
        except Exception as error:  # noqa: BLE001 - a model's client may raise anything
            problem = f" ({type(error).__name__})"
        else:
            if verdict.confidence > 0:
                return verdict
        reasons = self._hard_reasons(text)
        confidence = confidence_of(reasons)
        if reasons:
            return Verdict("preserve", confidence, f"heuristic_t0{problem}")
        return Verdict("compress", confidence, f"heuristic_fallback{problem}")


def create_classifier(
    call: AnswerFunction,
    *,
    max_response_tokens: int = 100,
    system_prompt: str = "",
    always_preserve: Iterable[str] = (),
    always_compress: Iterable[str] = (),
) -> Classifier:
    """Make a classifier of *call*, a function (async or not) from a prompt to a model's answer.

    *always_preserve* and *always_compress* describe, in words, what else to keep and to shorten.
    """
    if not callable(call):
        raise ConfigError(f"call must be a function from prompt to answer, got {call!r}")
    check_whole("max_response_tokens", max_response_tokens, least=1)
    for name, items in (("always_preserve", always_preserve), ("always_compress", always_compress)):
        if isinstance(items, str):
            raise ConfigError(f"{name} must be a list of descriptions, got {items!r}")
    write = partial(
        write_prompt,
        max_response_tokens=max_response_tokens,
        system_prompt=system_prompt,
        always_preserve=tuple(always_preserve),
        always_compress=tuple(always_compress),
    )
    return CallClassifier(call, write)
