"""Whether an error says that a prompt did not fit, and by how much; sending it again if so.

Providers share no code for this, so it is read from their words. Each row of `PATTERNS` is one way
of saying it, seen in public bug reports. A rate limit is never an overflow, even where it counts
tokens too: waiting helps there, shortening does not.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from refold.errors import BudgetError, attribute_of

if TYPE_CHECKING:
    from refold.conversation.window import ContextWindowManager, Wires

T = TypeVar("T")

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

_DETAILS: Final[tuple[re.Pattern[str], ...]] = tuple(
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
MAX_CHARS: Final = 20_000
"""How much of one error text is read; providers say it within the first lines."""

MAX_TEXTS: Final = 50
"""How many texts of one error are read."""

_AROUND: Final = 400
"""How far from the sign the numbers may stand, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """A prompt that did not fit; what the provider did not say is `None`."""

    limit: int | None = None
    """How many tokens are allowed."""
    requested: int | None = None
    """How many tokens were counted against the limit: the prompt, often with the answer."""
    prompt: int | None = None
    """How many of them are the prompt."""
    message: str
    """The words of the provider, shortened."""

    @property
    def excess(self) -> int | None:
        """By how many tokens it was too much."""
        if self.limit is None or self.requested is None:
            return None
        return max(0, self.requested - self.limit)


def parse_overflow(error: object) -> Overflow | None:
    """Return what *error* says about a prompt that is too long; `None` if it says nothing of it.

    *error* may be an exception of any SDK, the body of a response, or a text. The exceptions it
    was raised from are read too.
    """
    for layer in _layers(error):
        found = _parse_layer(layer)
        if found is not None or _is_rate_limit(layer):
            return found
    return None


# --- what an error consists of ----------------------------------------------------------------

_MAX_CAUSES: Final = 8
"""Errors of SDKs wrap others, two or three deep; the limit guards against cycles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    texts: tuple[str, ...]
    codes: frozenset[str]
    numbers: Mapping[str, int]


def _layers(error: object) -> Iterator[_Layer]:
    """Yield *error* and what it was raised from; not what merely happened before it."""
    for _ in range(_MAX_CAUSES):
        yield _layer(error)
        cause = error.__cause__ if isinstance(error, BaseException) else None
        if cause is None:
            return
        error = cause


_CODES: Final = frozenset({"code", "type", "status", "status_code", "Code", "HTTPStatusCode"})
_NUMBERS: Final = frozenset({"n_ctx", "n_prompt_tokens"})
_PARTS: Final = ("message", "body", "code", "type", "status_code", "status", "response", "details")


def _layer(error: object) -> _Layer:
    """Collect the texts, codes and numbers of *error*, whatever SDK it comes from."""
    texts: list[str] = []
    codes: set[str] = set()
    numbers: dict[str, int] = {}
    waiting: list[tuple[str, object]] = [("", error)]
    while waiting and len(texts) + len(codes) < MAX_TEXTS:
        name, value = waiting.pop(0)
        if isinstance(value, bytes | bytearray):
            value = bytes(value[:MAX_CHARS]).decode("utf-8", "replace")
        if isinstance(value, str):
            texts.append(" ".join(value[:MAX_CHARS].split()))
            if name in _CODES:
                codes.add(value[:100].lower())
        elif isinstance(value, int) and not isinstance(value, bool):
            if name in _CODES:
                codes.add(str(value))
            elif name in _NUMBERS:
                numbers[name] = value
        elif isinstance(value, Mapping):
            waiting += [(str(key), part) for key, part in list(value.items())[:MAX_TEXTS]]
        elif isinstance(value, list | tuple):
            waiting += [(name, part) for part in value[:MAX_TEXTS]]
        elif isinstance(value, BaseException):
            codes.add(type(value).__name__.lower())
            waiting.append(("", _said(value)))
            waiting += [(part, attribute_of(value, part)) for part in _PARTS]
    return _Layer(texts=tuple(texts), codes=frozenset(codes), numbers=numbers)


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the exception may be anybody's
        return ""


# --- rate limits ------------------------------------------------------------------------------

_RATE_CODES: Final = frozenset(
    {"429", "rate_limit_exceeded", "rate_limit_error", "ratelimiterror", "throttlingexception"}
    | {"resource_exhausted", "insufficient_quota", "tokens", "toomanyrequests"}
)
_RATE: Final = re.compile(
    r"rate[ _-]?limit|\btokens? per (?:min|hour|day)|\b(?:tpm|tpd|rpm)\b|too many requests"
    r"|throttl|\bquota\b|please wait before|exceeded token rate|error code: 429",
    re.IGNORECASE,
)


def _is_rate_limit(layer: _Layer) -> bool:
    return bool(layer.codes & _RATE_CODES) or any(map(_RATE.search, layer.texts))


# --- overflows --------------------------------------------------------------------------------

_OVERFLOW_CODES: Final = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"}
    | {"model_max_prompt_tokens_exceeded", "contextwindowexceedederror", "contextoverflowerror"}
)


def _parse_layer(layer: _Layer) -> Overflow | None:
    told = bool(layer.codes & _OVERFLOW_CODES)
    if not told and _is_rate_limit(layer):
        return None
    best: Overflow | None = None
    for text in layer.texts:
        found = _parse_text(text)
        if found is not None and (best is None or _told(found) > _told(best)):
            best = found
    if best is None and not told:
        return None
    best = best or Overflow(message=_shorten(layer.texts[0] if layer.texts else ""))
    prompt = best.prompt or layer.numbers.get("n_prompt_tokens")
    return Overflow(
        limit=best.limit or layer.numbers.get("n_ctx"),
        requested=best.requested or prompt,
        prompt=prompt,
        message=best.message,
    )


def _told(overflow: Overflow) -> int:
    return (overflow.limit is not None) + (overflow.requested is not None)


def _parse_text(text: str) -> Overflow | None:
    for sign in PATTERNS:
        found = sign.search(text)
        if found is not None:
            start = max(0, found.start() - _AROUND)
            near = text[start : found.end() + _AROUND]
            return _overflow(_numbers(found, near), near)
    return None


def _numbers(sign: re.Match[str], near: str) -> dict[str, int]:
    numbers = _named(sign)
    for pattern in _DETAILS:
        found = pattern.search(near)
        if found is not None:
            numbers = _named(found) | numbers
    return numbers


def _named(found: re.Match[str]) -> dict[str, int]:
    return {
        name: int(re.sub("[,_]", "", value)) for name, value in found.groupdict().items() if value
    }


def _overflow(numbers: Mapping[str, int], near: str) -> Overflow:
    limit, prompt = numbers.get("limit"), numbers.get("prompt")
    output, requested = numbers.get("output", 0), numbers.get("requested")
    if requested is None and prompt is not None:
        requested = prompt + output
    if requested is None and limit is not None and "excess" in numbers:
        requested = limit + numbers["excess"]
    if prompt is None and requested is not None:
        prompt = requested - output
    return Overflow(limit=limit, requested=requested, prompt=prompt, message=_shorten(near))


def _shorten(text: str) -> str:
    return text if len(text) <= 2 * _AROUND else f"{text[: 2 * _AROUND]}…"


# --- sending again ----------------------------------------------------------------------------


def send_fitting(
    manager: ContextWindowManager, messages: Wires, send: Callable[[list[Any]], T]
) -> T:
    """Return what *send* returns for the fitted messages.

    If the provider refuses them as too long, what it says is learned and they are sent once more;
    a second refusal is a `BudgetError`. Every other error is passed on.
    """
    fitted = manager.fit(messages)
    try:
        return send(fitted.messages)
    except Exception as error:
        shorter = manager.recover(fitted.messages, error)
        if shorter is None:
            raise
    with _last_try():
        return send(shorter.messages)


async def asend_fitting(
    manager: ContextWindowManager,
    messages: Wires,
    send: Callable[[list[Any]], Awaitable[T]],
) -> T:
    """Do what `send_fitting` does with an async *send*."""
    fitted = await manager.afit(messages)
    try:
        return await send(fitted.messages)
    except Exception as error:
        shorter = await manager.arecover(fitted.messages, error)
        if shorter is None:
            raise
    with _last_try():
        return await send(shorter.messages)


@contextmanager
def _last_try() -> Generator[None]:
    """Name a second overflow for what it is."""
    try:
        yield
    except Exception as error:
        overflow = parse_overflow(error)
        if overflow is None:
            raise
        problem = f"refused as too long a second time, after shortening: {overflow.message}"
        raise BudgetError(problem) from error
