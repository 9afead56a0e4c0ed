"""Summaries by servers with OpenAI's chat completions: OpenAI, vLLM, llama.cpp, Ollama, xAI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final, Unpack

from refold.llm.summarizers.base import Summary, Usage
from refold.llm.summarizers.models import (
    ModelSummarizer,
    key_for,
    leads_to,
    make_once,
    missing_package,
)
from refold.llm.summarizers.prompt import Prompt, PromptOptions

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletion

_THINKING_TOKENS: Final = 2_000
"""Room to think before the answer, which OpenAI counts with it. A guess, as for Gemini."""
_DOMAINS: Final = ("openai.com", "openai.azure.com")


class OpenAISummarizer(ModelSummarizer):
    """Asks *model* at *base_url*, OpenAI itself if there is none.

    *api_key* defaults to what the SDK finds (`OPENAI_API_KEY`), but only for OpenAI itself: no
    other server is sent that key unasked. *client* is an `AsyncOpenAI` of your own, which you close
    and use on one event loop only. *thinking_tokens* is the room a model gets to think before it
    answers, by default 2,000 at OpenAI and none elsewhere. *extra_body* is added to each request,
    for instance `{"reasoning_effort": "low"}`. The SDK retries.
    """

    provider: ClassVar[str] = "openai"

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        client: AsyncOpenAI | None = None,
        thinking_tokens: int | None = None,
        temperature: float | None = None,
        extra_body: Mapping[str, object] | None = None,
        **options: Unpack[PromptOptions],
    ) -> None:
        try:
            from openai import AsyncOpenAI, OpenAIError
        except ImportError as error:
            raise missing_package("openai", "openai") from error

        def make() -> AsyncOpenAI:
            return AsyncOpenAI(base_url=base_url, api_key=key_for(base_url, api_key, *_DOMAINS))

        sample = make_once(make, OpenAIError, "OpenAI") if client is None else client
        self._is_openai = leads_to(str(sample.base_url), *_DOMAINS)
        if thinking_tokens is None:
            thinking_tokens = _THINKING_TOKENS if self._is_openai else 0
        super().__init__(
            model,
            own=client,
            make=make,
            thinking_tokens=thinking_tokens,
            temperature=temperature,
            options=options,
        )
        self._extra_body = dict(extra_body or {})

    async def _ask(self, client: AsyncOpenAI, prompt: Prompt) -> Summary:
        # OpenAI's newer models know only the new name, many other servers only the old one.
        limit = "max_completion_tokens" if self._is_openai else "max_tokens"
        answer = await client.chat.completions.create(
            model=self.model,
            messages=[
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            extra_body={limit: self._limit(prompt), **self._temperature, **self._extra_body},
        )
        return self._read(answer, prompt)

    def _read(self, answer: ChatCompletion, prompt: Prompt) -> Summary:
        choices = getattr(answer, "choices", None)  # the SDK does not check what it got
        if not choices:
            raise self._withheld("the reply is no chat completion; check base_url", Usage(calls=1))
        usage = _usage(answer)
        message, reason = choices[0].message, choices[0].finish_reason
        if reason == "length":
            raise self._cut_off(prompt, usage)
        if message.refusal or reason == "content_filter":
            raise self._withheld(message.refusal or "filtered by the provider", usage)
        return Summary(text=_without_thoughts(message.content or ""), usage=usage)


def _usage(answer: ChatCompletion) -> Usage:
    counted = answer.usage
    if counted is None:
        return Usage(calls=1)
    return Usage(
        calls=1, input_tokens=counted.prompt_tokens, output_tokens=counted.completion_tokens
    )


def _without_thoughts(text: str) -> str:
    """Drop the thoughts that some servers leave at the beginning of an answer."""
    text = text.strip()
    if text.startswith("<think>"):
        return text.partition("</think>")[2].strip()
    return text
