"""Clients of three providers: servers that speak OpenAI's chat completions, Anthropic, Google.

Each asks through the provider's SDK, which retries and is imported when a summarizer is made.
"""

from __future__ import annotations

import importlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Unpack
from urllib.parse import urlsplit

from refold.checks import check_whole
from refold.errors import AnswerError, ConfigError
from refold.llm.summarizers.base import Summary, SummaryRequest, Usage
from refold.llm.summarizers.prompt import Prompt, PromptOptions, PromptWriter

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletion

_SPARE_TOKENS: Final = 64
"""On top of twice the tokens that were asked for: a short answer may end late. A guess."""
_THINKING_TOKENS: Final = 2_000
"""Room to think before the answer, where it counts as output. A guess."""


_CUT_OFF: Final = "it was cut off"
Answer = tuple[str, Usage, str]
"""A text, what it has cost, and why it is not a summary, if it is none."""


class ModelSummarizer(ABC):
    """Asks *model* at its provider, or at a *base_url* that speaks its API. The SDK retries.

    *api_key* defaults to what the SDK finds, but only for the provider itself: no other server is
    sent that key unasked. *client* is a client of your own, which you close and use on one event
    loop only; others are closed after their call, since connections belong to an event loop.
    *thinking_tokens* is room to think before the answer, where that counts as output.
    *extra_body* is added to each request, for instance `{"temperature": 0}`.
    """

    provider: ClassVar[str]
    domains: ClassVar[tuple[str, ...]]
    """Where the key is meant for that the SDK finds."""
    room_to_think: ClassVar[int] = 0

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        client: Any = None,
        thinking_tokens: int | None = None,
        extra_body: Mapping[str, object] | None = None,
        **options: Unpack[PromptOptions],
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise ConfigError(f"model must be the name of a model, got {model!r}")
        self.model = model
        self._base_url = base_url
        is_foreign = base_url is not None and not leads_to(base_url, *self.domains)
        self._key = "no-key-needed" if is_foreign and api_key is None else api_key
        self._client = client
        self._writer = PromptWriter(**options)
        self.version = f"{self.provider}:{model}:{self._writer.version}"
        self._extra = dict(extra_body or {})
        try:  # to learn now what is missing rather than in the middle of a fold
            sample = self._connect() if client is None else client
        except ImportError as error:
            why = f"its SDK is not installed; run: pip install 'refold[{self.provider}]'"
            raise ConfigError(f"no client for {self.provider}: {why}") from error
        except Exception as error:
            raise ConfigError(f"no client for {self.provider}: {error}") from error
        if client is None and not inspect.iscoroutinefunction(sample.close):
            sample.close()
        url = str(getattr(sample, "base_url", ""))
        self._is_theirs = not url or leads_to(url, *self.domains)
        if thinking_tokens is None:
            thinking_tokens = self.room_to_think if self._is_theirs else 0
        check_whole("thinking_tokens", thinking_tokens)
        self._thinking_tokens = thinking_tokens

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Ask the model; raise `AnswerError` if its answer is cut off or withheld."""
        prompt = self._writer.write(request)
        limit = 2 * prompt.max_tokens + _SPARE_TOKENS + self._thinking_tokens
        client = self._connect() if self._client is None else self._client
        try:
            text, usage, problem = await self._ask(client, prompt, limit)
        finally:
            if self._client is None:
                await self._close(client)
        if problem == _CUT_OFF:
            problem += f" at {limit} tokens; allow more with max_response_tokens, or with "
            problem += "thinking_tokens if it thinks first"
        if problem:
            raise AnswerError(f"{self.model} gave no summary: {problem}", usage)
        return Summary(text=prompt.clean(text), usage=usage)

    @abstractmethod
    def _connect(self) -> Any:
        """Make a client of the provider's SDK."""

    @abstractmethod
    async def _ask(self, client: Any, prompt: Prompt, limit: int) -> Answer:
        """Ask for at most *limit* tokens, which stops a runaway model; the prompt asks for less."""

    async def _close(self, client: Any) -> None:
        await client.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"


def leads_to(url: str, *domains: str) -> bool:
    """Return whether the host of *url* is one of *domains* or within one."""
    host = f".{urlsplit(url).hostname}"
    return host.endswith(tuple(f".{domain}" for domain in domains))


class OpenAISummarizer(ModelSummarizer):
    """Asks *model* at *base_url*, OpenAI itself if there is none; the SDK finds `OPENAI_API_KEY`.

    *client* is an `AsyncOpenAI`. *thinking_tokens* is 2,000 at OpenAI and none elsewhere. The rest
    is as for every `ModelSummarizer`.
    """

    provider = "openai"
    domains = ("openai.com", "openai.azure.com")
    room_to_think = _THINKING_TOKENS

    def _connect(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        return AsyncOpenAI(base_url=self._base_url, api_key=self._key)

    async def _ask(self, client: AsyncOpenAI, prompt: Prompt, limit: int) -> Answer:
        # OpenAI's newer models know only the new name, many other servers only the old one.
        limit_name = "max_completion_tokens" if self._is_theirs else "max_tokens"
        answer: ChatCompletion = await client.chat.completions.create(
            model=self.model,
            messages=[
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            extra_body={limit_name: limit, **self._extra},
        )
        choices = getattr(answer, "choices", None)  # the SDK does not check what it got
        if not choices:
            return "", Usage(calls=1), "the reply is not a chat completion; check base_url"
        usage = Usage(
            calls=1,
            input_tokens=answer.usage.prompt_tokens if answer.usage else 0,
            output_tokens=answer.usage.completion_tokens if answer.usage else 0,
        )
        message, reason = choices[0].message, choices[0].finish_reason
        if reason == "length":
            return "", usage, _CUT_OFF
        if message.refusal or reason == "content_filter":
            return "", usage, message.refusal or "filtered by the provider"
        text = (message.content or "").strip()
        if text.startswith("<think>"):  # some servers leave the thoughts before an answer
            text = text.partition("</think>")[2].strip()
        return text, usage, ""


class AnthropicSummarizer(ModelSummarizer):
    """Asks *model* at Anthropic, or at a *base_url* that speaks its Messages API.

    The SDK finds `ANTHROPIC_API_KEY`; *client* is an `AsyncAnthropic`. *thinking_tokens* is for
    models that think without being asked to. The rest is as for every `ModelSummarizer`.
    """

    provider = "anthropic"
    domains = ("anthropic.com",)

    def _connect(self) -> AsyncAnthropic:
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(base_url=self._base_url, api_key=self._key)

    async def _ask(self, client: AsyncAnthropic, prompt: Prompt, limit: int) -> Answer:
        answer: Message = await client.messages.create(
            model=self.model,
            system=prompt.system,
            messages=[{"role": "user", "content": prompt.user}],
            max_tokens=limit,
            extra_body=self._extra,
        )
        blocks = getattr(answer, "content", None)  # the SDK does not check what it got
        if not isinstance(blocks, list):
            return "", Usage(calls=1), "the reply is not a message; check base_url"
        counted = answer.usage
        cached = (counted.cache_creation_input_tokens or 0) + (counted.cache_read_input_tokens or 0)
        usage = Usage(
            calls=1,
            input_tokens=counted.input_tokens + cached,
            output_tokens=counted.output_tokens,
        )
        text = "".join(block.text for block in blocks if block.type == "text")
        problems = {"max_tokens": _CUT_OFF, "refusal": "it refused"}
        return text, usage, problems.get(answer.stop_reason or "", "")


class GeminiSummarizer(ModelSummarizer):
    """Asks *model* at Google, or at a *base_url* that speaks its API.

    The SDK finds `GOOGLE_API_KEY` or `GEMINI_API_KEY`; *client* is a `google.genai.Client`.
    *thinking_tokens* is 2,000. The rest is as for every `ModelSummarizer`.
    """

    provider = "gemini"
    domains = ("googleapis.com",)
    room_to_think = _THINKING_TOKENS

    def _connect(self) -> Any:
        place = {} if self._base_url is None else {"base_url": self._base_url}
        genai = importlib.import_module("google.genai")
        return genai.Client(api_key=self._key, http_options=place)

    async def _close(self, client: Any) -> None:
        await client.aio.aclose()
        client.close()

    async def _ask(self, client: Any, prompt: Prompt, limit: int) -> Answer:
        asked = {"system_instruction": prompt.system, "max_output_tokens": limit}
        config = {**asked, **self._extra}
        answer = await client.aio.models.generate_content(
            model=self.model, contents=prompt.user, config=config
        )
        counted = answer.usage_metadata
        parts = ("prompt_token_count", "candidates_token_count", "thoughts_token_count")
        read, written, thought = (getattr(counted, part, None) or 0 for part in parts)
        usage = Usage(calls=1, input_tokens=read, output_tokens=written + thought)
        if not answer.candidates:
            reason = getattr(answer.prompt_feedback, "block_reason", None)
            return "", usage, f"blocked: {getattr(reason, 'name', reason)}"
        candidate = answer.candidates[0]
        reason = str(getattr(candidate.finish_reason, "name", candidate.finish_reason))
        if reason == "MAX_TOKENS":
            return "", usage, _CUT_OFF
        if reason != "STOP":
            return "", usage, f"it ended with {reason}"
        pieces = (candidate.content and candidate.content.parts) or ()
        text = "".join(piece.text for piece in pieces if piece.text and not piece.thought)
        return text, usage, ""
