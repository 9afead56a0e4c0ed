"""Summarizers made of a function of the caller's that asks a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from refold.calling import Callee
from refold.errors import ConfigError
from refold.llm.summarizers.base import Summarizer, Summary, SummaryRequest, TextFunction, Usage
from refold.llm.summarizers.prompt import DEFAULT_COMPRESSION_PROMPT, Prompt, PromptWriter


class _GeneratesText(Protocol):
    def generate_text(self, messages: Any, /) -> Any: ...


class _Generates(Protocol):
    def generate(self, messages: Any, /) -> Any: ...


Generate = Callable[[Sequence[Mapping[str, str]]], Any] | _GeneratesText | _Generates
"""From a list of role and content to the answer: a string, or an object with text and usage.

A function, or an object with such a method, called `generate_text` or `generate`.
"""


def create_summarizer(
    call: TextFunction,
    *,
    max_response_tokens: int = 300,
    system_prompt: str = "",
    preserve_terms: Iterable[str] = (),
) -> Summarizer:
    """Make a summarizer of *call*, a function (async or not) from a prompt to a model's answer."""
    if not callable(call):
        raise ConfigError(f"call must be a function from prompt to answer, got {call!r}")
    writer = PromptWriter(max_response_tokens, system_prompt, preserve_terms)
    return _Calling(call, writer, lambda prompt: f"{prompt.system}\n\n{prompt.user}")


def generating(generate: Generate, prompt: str = DEFAULT_COMPRESSION_PROMPT) -> Summarizer:
    """Make a summarizer of *generate*, which is told what the text is and how long to answer."""
    methods = (getattr(generate, name, None) for name in ("generate_text", "generate"))
    call = generate if callable(generate) else next(filter(callable, methods), None)
    if call is None:
        raise ConfigError(
            f"generate must be a function, or have generate_text() or generate(); got {generate!r}"
        )
    if not isinstance(prompt, str) or not prompt.strip():
        raise ConfigError(f"prompt must be a non-empty string, got {prompt!r}")
    return _Calling(
        call,
        PromptWriter(instructions=prompt),
        lambda asked: [
            {"role": "system", "content": asked.system},
            {"role": "user", "content": asked.user},
        ],
    )


class _Calling:
    """Asks a model through a function of the caller's, which takes what *put* makes of a prompt."""

    def __init__(
        self, call: Callable[..., Any], writer: PromptWriter, put: Callable[[Prompt], Any]
    ) -> None:
        self._call = Callee(call)
        self._writer = writer
        self._put = put
        self.version = writer.version

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Return what the function answers."""
        prompt = self._writer.write(request)
        summary = read_answer(await self._call(self._put(prompt)))
        return replace(summary, text=prompt.clean(summary.text))


def read_answer(answer: Any) -> Summary:
    """Read what came back: a string, or an object or mapping with a text and maybe usage."""
    if isinstance(answer, str):
        return Summary(text=answer, usage=Usage(calls=1))
    text = _first(answer, "text", "content", "output")
    if not isinstance(text, str):
        raise TypeError(f"a summarizer must return text, got {type(answer).__name__}")
    usage = _first(answer, "usage")
    counts = [
        value if isinstance(value := _first(usage, *names), int) and value >= 0 else 0
        for names in (("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens"))
    ]
    return Summary(text=text, usage=Usage(calls=1, input_tokens=counts[0], output_tokens=counts[1]))


def _first(holder: Any, *names: str) -> Any:
    for name in names:
        value = holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
        if value is not None:
            return value
    return None
