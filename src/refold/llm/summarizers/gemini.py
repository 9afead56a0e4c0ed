"""Summaries by Gemini, through Google's SDK (`google-genai`)."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar, Final, Unpack

from refold.llm.summarizers.base import Summary, Usage
from refold.llm.summarizers.models import (
    ModelSummarizer,
    key_for,
    make_once,
    missing_package,
)
from refold.llm.summarizers.prompt import Prompt, PromptOptions

_DOMAIN: Final = "googleapis.com"
_THINKING_TOKENS: Final = 2_000
"""Room to think before the answer, which Gemini counts with it. A guess."""


class GeminiSummarizer(ModelSummarizer):
    """Asks *model* at Google, or at a *base_url* that speaks its API.

    *api_key* defaults to what the SDK finds (`GOOGLE_API_KEY`, `GEMINI_API_KEY`), but only for
    Google itself. *client* is a `google.genai.Client` of your own, which you close and use on one
    event loop only. *thinking_tokens* is the room a model gets to think before it answers. The SDK
    retries.
    """

    provider: ClassVar[str] = "gemini"

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        client: Any = None,
        thinking_tokens: int = _THINKING_TOKENS,
        temperature: float | None = None,
        **options: Unpack[PromptOptions],
    ) -> None:
        place = {} if base_url is None else {"base_url": base_url}

        def make() -> Any:
            try:
                genai = importlib.import_module("google.genai")
            except ImportError as error:
                raise missing_package("google-genai", "gemini") from error
            return genai.Client(api_key=key_for(base_url, api_key, _DOMAIN), http_options=place)

        if client is None:
            make_once(make, ValueError, "Gemini").close()
        super().__init__(
            model,
            own=client,
            make=make,
            thinking_tokens=thinking_tokens,
            temperature=temperature,
            options=options,
        )

    async def _ask(self, client: Any, prompt: Prompt) -> Summary:
        config = {
            "system_instruction": prompt.system,
            "max_output_tokens": self._limit(prompt),
            **self._temperature,
        }
        answer = await client.aio.models.generate_content(
            model=self.model, contents=prompt.user, config=config
        )
        return self._read(answer, prompt)

    async def _close(self, client: Any) -> None:
        await client.aio.aclose()
        client.close()

    def _read(self, answer: Any, prompt: Prompt) -> Summary:
        usage = _usage(answer.usage_metadata)
        if not answer.candidates:
            reason = getattr(answer.prompt_feedback, "block_reason", None)
            raise self._withheld(f"blocked: {_name(reason)}", usage)
        candidate = answer.candidates[0]
        reason = _name(candidate.finish_reason)
        if reason == "MAX_TOKENS":
            raise self._cut_off(prompt, usage)
        if reason != "STOP":
            raise self._withheld(f"it ended with {reason}", usage)
        parts = (candidate.content and candidate.content.parts) or ()
        text = "".join(part.text for part in parts if part.text and not part.thought)
        return Summary(text=text, usage=usage)


def _usage(counted: Any) -> Usage:
    if counted is None:
        return Usage(calls=1)
    return Usage(
        calls=1,
        input_tokens=counted.prompt_token_count or 0,
        output_tokens=(counted.candidates_token_count or 0) + (counted.thoughts_token_count or 0),
    )


def _name(reason: Any) -> str:
    return str(getattr(reason, "name", reason))
