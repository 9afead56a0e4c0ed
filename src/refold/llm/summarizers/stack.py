"""What stands around every model: redaction, a cache, a limit of parallel calls, a deadline.

Summarizers are looked up by name here, too: `openai:gpt-5-mini`, `ollama:llama3`,
`openai:m@http://localhost:8000/v1`.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import astuple, replace
from functools import partial
from hashlib import blake2b
from typing import Any, Final, Protocol, Unpack, runtime_checkable
from weakref import WeakValueDictionary

from refold.checks import check_positive, check_whole
from refold.errors import ConfigError
from refold.llm.summarizers.base import (
    Summarizer,
    Summary,
    SummaryRequest,
    TextFunction,
    as_summarizer,
)
from refold.llm.summarizers.clients import (
    AnthropicSummarizer,
    GeminiSummarizer,
    OpenAISummarizer,
)
from refold.llm.summarizers.prompt import PromptOptions
from refold.scan.redaction import SecretFinder, Vault
from refold.scan.secrets import find_secrets as secrets_of

CALL_SECONDS: Final = 120.0
"""How long a call may take: models that think first take a minute and more. A guess."""
_MOST_ANSWERS: Final = 10_000
"""A cache in memory keeps so many, a few megabytes; the oldest go first. A guess."""
PROVIDERS: Final[dict[str, Callable[..., Summarizer]]] = {
    "openai": OpenAISummarizer,
    "anthropic": AnthropicSummarizer,
    "gemini": GeminiSummarizer,
    "ollama": partial(OpenAISummarizer, base_url="http://localhost:11434/v1"),
}
"""Who makes the summarizers of each provider; `base_url` is passed only if the name has one."""


def resolve_summarizer(
    name: str, *, api_key: str | None = None, **options: Unpack[PromptOptions]
) -> Summarizer:
    """Make the summarizer that *name* stands for: `provider:model`, or `provider:model@url`.

    Keys that are not given are looked for by the provider's SDK, as always.
    """
    provider, colon, rest = name.partition(":")
    make = PROVIDERS.get(provider)
    if make is None or not colon:
        raise ConfigError(
            f"summarizer must be provider:model, where provider is one of {', '.join(PROVIDERS)}; "
            f"got {name!r}"
        )
    model, at, url = rest.partition("@http")
    if not model.strip():
        raise ConfigError(f"summarizer {name!r} names no model; write {provider}:model")
    place = {"base_url": f"http{url}"} if at else {}
    return make(model, api_key=api_key, **place, **options)


def wrap_summarizer(
    summarizer: object,
    *,
    cache: Cache | None = None,
    version: str = "",
    max_concurrent: int | Limiter = 4,
    call_seconds: float = CALL_SECONDS,
    find_secrets: SecretFinder | None = None,
) -> Summarizer:
    """Put around *summarizer* what every model gets: a limit, a deadline, a cache, redaction.

    A name such as `openai:gpt-5-mini` is looked up. Redaction is outermost, so that neither the
    cache nor the model sees a secret.
    """
    if isinstance(summarizer, str):
        summarizer = resolve_summarizer(summarizer)
    version = f"{getattr(summarizer, 'version', '')}:{version}"
    limited = Limited(
        as_summarizer(summarizer), max_concurrent=max_concurrent, seconds=call_seconds
    )
    return Redacting(Cached(limited, cache, version=version), find_secrets=find_secrets)


class Redacting:
    """Replaces each secret by `<secret-1>`, `<secret-2>`, … and puts it back into the answer.

    The same secret has the same placeholder throughout a request, in all of its fields. What
    *find_secrets* raises is raised: a text that could not be searched is not sent.
    """

    def __init__(
        self, inner: Summarizer | TextFunction, *, find_secrets: SecretFinder | None = None
    ) -> None:
        self._inner = as_summarizer(inner)
        self._find = secrets_of if find_secrets is None else find_secrets

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Ask *inner* about the text without its secrets."""
        vault = Vault((request.text, request.context, *request.must_keep), self._find)
        text, context = vault.hide(request.text), vault.hide(request.context)
        facts = (vault.hide_fact(fact, request.text, text) for fact in request.must_keep)
        hidden = replace(request, text=text, context=context, must_keep=tuple(dict.fromkeys(facts)))
        answer = await self._inner.summarize(hidden)
        return replace(answer, text=vault.reveal(answer.text))


@runtime_checkable
class Cache(Protocol):
    """Where answers are kept, used from several threads at once: any store will do."""

    def put(self, entries: Mapping[str, Any], /) -> None:
        """Keep all entries."""
        ...

    def get(self, keys: Iterable[str], /) -> Mapping[str, Any]:
        """Return the entries of *keys* that are kept."""
        ...


class Memory:
    """Keeps the latest answers; gone with the process."""

    def __init__(self) -> None:
        self._answers: dict[str, str] = {}
        self._lock = threading.Lock()

    def put(self, entries: Mapping[str, str], /) -> None:
        """Keep all entries; the oldest may have to go."""
        with self._lock:
            self._answers.update(entries)
            while len(self._answers) > _MOST_ANSWERS:
                del self._answers[next(iter(self._answers))]

    def get(self, keys: Iterable[str], /) -> dict[str, str]:
        """Return the entries of *keys* that are kept."""
        return {key: answer for key in keys if (answer := self._answers.get(key)) is not None}


class Cached:
    """Keeps the answers of *inner* in *cache*, any store; a cached answer costs nothing."""

    def __init__(
        self, inner: Summarizer | TextFunction, cache: Cache | None = None, *, version: str = ""
    ) -> None:
        self._inner = as_summarizer(inner)
        self._cache: Cache = Memory() if cache is None else cache
        self._version = version
        self._under_way: WeakValueDictionary[object, asyncio.Lock] = WeakValueDictionary()
        self.last_error: Exception | None = None  # of the cache, not of the summarizer

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Return the answer kept for *request*, or ask for it and keep it.

        Of equal requests at once, on one event loop, one is asked and the others wait for it.
        """
        key = cache_key(request, version=self._version)
        place = (asyncio.get_running_loop(), key)
        lock = self._under_way.setdefault(place, asyncio.Lock())
        async with lock:
            try:
                kept = self._cache.get([key]).get(key)
            except Exception as error:  # noqa: BLE001 - a broken cache is slow, not fatal
                self.last_error, kept = error, None
            if isinstance(kept, str):
                return Summary(text=kept)
            answer = await self._inner.summarize(request)
            try:
                if answer.text.strip():
                    self._cache.put({key: answer.text})
            except Exception as error:  # noqa: BLE001 - the answer is paid for, and good without it
                self.last_error = error
            return answer


def cache_key(request: SummaryRequest, *, version: str = "") -> str:
    """Return the address of the answer to *request*: any change of any field is another one."""
    # ascii(): injective for strings, lone surrogates included, and the same in every Python.
    asked = ascii((version, astuple(request)))
    return f"refold:answer:{blake2b(asked.encode(), digest_size=32).hexdigest()}"


class Limiter:
    """A limit of concurrent calls that several summarizers can share."""

    def __init__(self, max_concurrent: int = 4) -> None:
        check_whole("max_concurrent", max_concurrent, least=1)
        # Reentrant: a coroutine that is collected as garbage leaves the line from wherever it is.
        self._lock = threading.RLock()
        self._free = max_concurrent
        self._line: deque[tuple[asyncio.AbstractEventLoop, Future[None]]] = deque()

    async def acquire(self) -> None:
        """Wait for a slot."""
        with self._lock:
            if self._free:
                self._free -= 1
                return
            turn: Future[None] = Future()
            self._line.append((asyncio.get_running_loop(), turn))
        try:
            await asyncio.wrap_future(turn)
        except BaseException:
            if not turn.cancel() and not turn.cancelled():  # the slot was ours in that moment
                self.release()
            raise

    def release(self) -> None:
        """Hand the slot to the next in line whose event loop still runs, or put it back."""
        with self._lock:
            while self._line:
                loop, turn = self._line.popleft()
                if not loop.is_closed() and turn.set_running_or_notify_cancel():
                    turn.set_result(None)
                    return
            self._free += 1


class Limited:
    """Lets at most *max_concurrent* calls reach *inner* at once, for at most *seconds* each."""

    def __init__(
        self,
        inner: Summarizer | TextFunction,
        *,
        max_concurrent: int | Limiter = 4,
        seconds: float = CALL_SECONDS,
    ) -> None:
        check_positive("seconds", seconds)
        if not isinstance(max_concurrent, Limiter):
            max_concurrent = Limiter(max_concurrent)
        self._inner = as_summarizer(inner)
        self._limiter = max_concurrent
        self._seconds = seconds

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Ask *inner* as soon as it is this call's turn; raise if it returns no summary."""
        await self._limiter.acquire()
        scope = asyncio.timeout(self._seconds)
        try:
            async with scope:
                answer: object = await self._inner.summarize(request)
        except TimeoutError as error:
            if not scope.expired():  # the inner summarizer's own
                raise
            why = f"the summarizer did not answer within {self._seconds:g} seconds"
            raise TimeoutError(why) from error
        finally:
            self._limiter.release()
        if not isinstance(answer, Summary) or not isinstance(answer.text, str):
            raise TypeError(f"a summarizer must return a Summary, got {type(answer).__name__}")
        return answer
