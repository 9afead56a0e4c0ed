"""The words with which providers say that a prompt is too long, a row for each way of it."""

from __future__ import annotations

import re
from typing import Final

_N: Final = r"(\d[\d,_]{0,14})"
_LIMIT: Final = _N.replace("(", "(?P<limit>", 1)
_PROMPT: Final = _N.replace("(", "(?P<prompt>", 1)
_OUTPUT: Final = _N.replace("(", "(?P<output>", 1)
_TOTAL: Final = _N.replace("(", "(?P<requested>", 1)
_EXCESS: Final = _N.replace("(", "(?P<excess>", 1)

PATTERNS: Final[tuple[re.Pattern[str], ...]] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # --- with numbers; these first, for the same text often holds a code as well
        # OpenAI, Azure, DeepSeek, OpenRouter, vLLM, SGLang, Bedrock with Llama
        rf"maximum context length (?:is|of) {_LIMIT}",
        rf"input tokens exceed the configured limit of {_LIMIT}",
        # Anthropic; Databricks and Fireworks say it alike
        rf"prompt is too long: {_PROMPT} tokens > {_LIMIT}",
        rf"`?max_tokens`? exceed context limit: {_PROMPT} \+ {_OUTPUT} > {_LIMIT}",
        rf"prompt is too long: {_PROMPT}, model maximum context length: {_LIMIT}",
        # Gemini and Vertex
        rf"input token count \({_PROMPT}\) exceeds the maximum number of tokens allowed"
        rf"[ (]{{1,2}}{_LIMIT}",
        rf"input token count exceeds the maximum number of tokens allowed[ (]{{1,2}}{_LIMIT}",
        rf"input token count is {_PROMPT} but (?:the )?model only supports up to {_LIMIT}",
        # Mistral
        rf"prompt contains {_PROMPT} tokens[^.]{{0,60}}too large for model with {_LIMIT} maximum",
        # xAI
        rf"maximum prompt length is {_LIMIT} but the request contains {_PROMPT} tokens",
        # vLLM
        rf"prompt \((?:total )?length {_PROMPT}\) is (?:longer than|too long)[^.]{{0,60}}"
        rf"(?:model length of|context length) {_LIMIT}",
        rf"context length is only {_LIMIT} tokens",
        rf"input prompt \({_PROMPT} tokens\) is too long and exceeds limit of {_LIMIT}",
        # SGLang
        rf"input \({_PROMPT} tokens\) is longer than the model\W{{1,2}}s context length "
        rf"\({_LIMIT} tokens\)",
        rf"input length \({_PROMPT} tokens\) exceeds the maximum allowed length \({_LIMIT}",
        # llama.cpp, llama-cpp-python, LM Studio
        rf"request \({_PROMPT} tokens\) exceeds the available context size \({_LIMIT}",
        rf"requested tokens \({_TOTAL}\) exceed context window of {_LIMIT}",
        rf"requested tokens exceed context window of {_LIMIT}",
        rf"loaded with context length of only {_LIMIT} tokens",
        # Ollama
        rf"prompt too long; exceeded (?:max )?context length by {_EXCESS}",
        # Groq, Cerebras
        rf"reduce the length of the messages or completion\. current length is {_TOTAL} while "
        rf"limit is {_LIMIT}",
        # Text Generation Inference, Together
        rf"`?max_new_tokens`? must be <= {_LIMIT}\. given: {_PROMPT} `?inputs`? tokens and "
        rf"{_OUTPUT}",
        rf"`?inputs`? must have less than {_LIMIT} tokens\. given: {_PROMPT}",
        # Cohere
        rf"too many tokens: [^.]{{0,80}}cannot exceed {_LIMIT} - received {_TOTAL}",
        rf"too many tokens: size limit exceeded by {_EXCESS} tokens",
        # Kimi, MiniMax, Z.ai, GitHub Copilot, DashScope
        rf"exceeded model token limit: {_LIMIT} \(requested: {_TOTAL}\)",
        rf"exceeded model token limit: {_LIMIT}",
        rf"prompt token count of {_PROMPT} exceeds the limit of {_LIMIT}",
        # Bedrock with Titan and Jurassic, watsonx
        rf"too many input tokens\. max input tokens: {_LIMIT}, request input token count: "
        rf"{_PROMPT}",
        rf"number of input tokens {_PROMPT} cannot exceed the total tokens limit {_LIMIT}",
        rf"range of input length should be \[\d{{1,6}}, ?{_LIMIT}\]",
        # --- without numbers
        # OpenAI, Azure, DeepSeek, OpenRouter, vLLM, SGLang, Bedrock with Llama
        r"exceeds? the context window",
        r"context[_ ]length[_ ]exceeded",
        # Anthropic; Databricks and Fireworks say it alike
        r"\bprompt is too long\b",
        r"model_context_window_exceeded",
        r"request size exceeds model context window",
        # Bedrock
        r"input is too long for requested model",
        r"number of input tokens exceeds maximum length",
        r"too many input tokens\. max input tokens",
        # llama.cpp, llama-cpp-python, LM Studio
        r"exceeds the available context size",
        r"tokens to keep from the initial prompt is greater than the context length",
        # Ollama
        r"input length exceeds (?:the |maximum )?context length",
        r"prompt too long; exceeded (?:max )?context length",
        # Groq, Cerebras
        r"please reduce the length of the messages",
        # Kimi, MiniMax, Z.ai, GitHub Copilot, DashScope
        r"context window exceeds limit",
        r"\bprompt exceeds max length",
    )
)

DETAILS: Final[tuple[re.Pattern[str], ...]] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:requested(?: about| a total of)?|resulted in) {_TOTAL} tokens",
        rf"your request has {_PROMPT} input tokens",
        rf"you passed {_PROMPT} input tokens",
        rf"{_OUTPUT} (?:tokens )?(?:in|for) the (?:completion|output)\b",
        rf"requested {_OUTPUT} output tokens",
        rf"\bis too large: {_OUTPUT}\. this model",
        rf"prompt contains (?:at least )?{_PROMPT} input tokens",
        rf"keep the first {_PROMPT} tokens",
        rf"\W?n_prompt_tokens\W{{1,4}}{_PROMPT}",
        rf"\W?n_ctx\W{{1,4}}{_LIMIT}",
    )
)
"""Where the numbers stand when the sign itself does not carry them."""
