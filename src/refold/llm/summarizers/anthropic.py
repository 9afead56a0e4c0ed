"""Summaries by Claude, through Anthropic's SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Unpack

from refold.llm.summarizers.base import Summary, Usage
from refold.llm.summarizers.models import (
    ModelSummarizer,
    key_for,
    make_once,
    missing_package,
)
from refold.llm.summarizers.prompt import Prompt, PromptOptions

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message

_DOMAIN: Final = "anthropic.com"


class AnthropicSummarizer(ModelSummarizer):
    """Asks *model* at Anthropic, or at a *base_url* that speaks its Messages API.

    *api_key* defaults to what the SDK finds (`ANTHROPIC_API_KEY`), but only for Anthropic itself.
    *client* is an `AsyncAnthropic` of your own, which you close and use on one event loop only.
    *thinking_tokens* is room on top of the answer for models that think without being asked to. The
    SDK retries.
    """

    provider: ClassVar[str] = "anthropic"

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        client: AsyncAnthropic | None = None,
        thinking_tokens: int = 0,
        temperature: float | None = None,
        **options: Unpack[PromptOptions],
    ) -> None:
        try:
            from anthropic import AnthropicError, AsyncAnthropic
        except ImportError as error:
            raise missing_package("anthropic", "anthropic") from error

        def make() -> AsyncAnthropic:
            return AsyncAnthropic(base_url=base_url, api_key=key_for(base_url, api_key, _DOMAIN))

        if client is None:
            make_once(make, AnthropicError, "Anthropic")
        super().__init__(
            model,
            own=client,
            make=make,
            thinking_tokens=thinking_tokens,
            temperature=temperature,
            options=options,
        )

    async def _ask(self, client: AsyncAnthropic, prompt: Prompt) -> Summary:
        answer = await client.messages.create(
            model=self.model,
            system=prompt.system,
            messages=[{"role": "user", "content": prompt.user}],
            max_tokens=self._limit(prompt),
            extra_body=self._temperature,
        )
        return self._read(answer, prompt)

    def _read(self, answer: Message, prompt: Prompt) -> Summary:
        blocks = getattr(answer, "content", None)  # the SDK does not check what it got
        if not isinstance(blocks, list):
            raise self._withheld("the reply is no message; check base_url", Usage(calls=1))
        usage = _usage(answer)
        if answer.stop_reason == "max_tokens":
            raise self._cut_off(prompt, usage)
        if answer.stop_reason == "refusal":
            raise self._withheld("it refused", usage)
        text = "".join(block.text for block in blocks if block.type == "text")
        return Summary(text=text, usage=usage)


def _usage(answer: Message) -> Usage:
    counted = answer.usage
    return Usage(
        calls=1,
        input_tokens=counted.input_tokens
        + (counted.cache_creation_input_tokens or 0)
        + (counted.cache_read_input_tokens or 0),
        output_tokens=counted.output_tokens,
    )
