"""Cut what a tool returns down to size before it enters the conversation.

JSON stays JSON, text keeps its beginning and its end, failed results stay as they are; with a store
the whole can be had back by its handle (see `retrieve_tool`).
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Final, Literal, NamedTuple, ParamSpec, TypeVar

from refold.agent.policy import (
    clip,
    handle_of_text,
    head_and_tail,
    is_failure,
    is_failure_text,
    size,
    tool_key,
)
from refold.asking import Asker, Tally, describe, run_apart
from refold.errors import ConfigError
from refold.model.ask import Answers, Questions
from refold.stores.base import Store
from refold.summarizers import guard
from refold.tokens.estimate import estimate_tokens

P = ParamSpec("P")
R = TypeVar("R")
Strategy = Literal["truncate", "summarize"]

_dumps: Final = partial(json.dumps, ensure_ascii=False)
MIN_BYTES: Final = 256
"""The least that holds a mark with a handle and something of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStats:
    """What a `ToolCompressor` has done so far; sizes are those of the compressed results."""

    results: int = 0
    compressed: int = 0
    summarized: int = 0  # of the compressed ones
    bytes_before: int = 0
    bytes_after: int = 0
    failures: int = 0  # of summarizers and stores; nothing was lost by them
    last_failure: str = ""

    @property
    def bytes_saved(self) -> int:
        """How many bytes fewer; never below 0."""
        return self.bytes_before - self.bytes_after


class ToolCompressor:
    """Makes long results of tools short; safe to share between threads and tasks.

    *max_bytes* counts UTF-8. With `strategy="summarize"` the function or summarizer given as
    *summarize* is asked first, and its answer must pass the gates; failing that, the text is cut.
    Without a *store* nothing is kept of what is left out.
    """

    def __init__(
        self,
        max_bytes: int = 8_000,
        strategy: Strategy = "truncate",
        summarize: object = None,
        store: Store | None = None,
    ) -> None:
        if type(max_bytes) is not int or max_bytes < MIN_BYTES:
            raise ConfigError(f"max_bytes must be {MIN_BYTES} or more, got {max_bytes!r}")
        if strategy not in ("truncate", "summarize"):
            raise ConfigError(f"strategy must be truncate or summarize, got {strategy!r}")
        if (strategy == "summarize") != (summarize is not None):
            raise ConfigError('strategy="summarize" and summarize=… belong together; give both')
        if store is not None and not isinstance(store, Store):
            raise ConfigError(f"store must have put() and get(), got {type(store).__name__}")
        self.max_bytes = max_bytes
        self._store = store
        summarizer = None if summarize is None else guard(summarize)
        self._asker = Asker(summarizer=summarizer, count_tokens=estimate_tokens)
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._last_failure = ""

    @property
    def stats(self) -> ToolStats:
        """What was done so far."""
        with self._lock:
            return ToolStats(**self._counts, last_failure=self._last_failure)

    def should_compress(self, value: object) -> bool:
        """Tell whether *value* is too long and may be shortened."""
        return self._long_text(value) is not None

    def compress(self, value: R) -> R | str:
        """Return *value* itself, or a text of at most `max_bytes` if it is longer than that."""
        text = self._begin(value)
        if text is None:
            return value
        tally = Tally()
        return self._finish(text, run_apart(lambda: self._ask(text, tally)), tally)

    async def acompress(self, value: R) -> R | str:
        """Do what `compress` does without blocking the event loop."""
        text = await asyncio.to_thread(self._begin, value)
        if text is None:
            return value
        tally = Tally()
        return await asyncio.to_thread(self._finish, text, await self._ask(text, tally), tally)

    def wrap(self, function: Callable[P, R]) -> Callable[P, R | str]:
        """Make a tool that returns what *function* does, compressed; what it raises is raised."""
        if inspect.iscoroutinefunction(function):
            raise ConfigError("this tool is asynchronous; use awrap() instead of wrap()")

        @wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R | str:
            return self.compress(function(*args, **kwargs))

        return wrapped

    def awrap(self, function: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R | str]]:
        """Make an asynchronous tool that returns what *function* does, compressed."""

        @wraps(function)
        async def wrapped(*args: P.args, **kwargs: P.kwargs) -> R | str:
            return await self.acompress(await function(*args, **kwargs))

        return wrapped

    def _long_text(self, value: object) -> str | None:
        """Return *value* as text if it is too long and may be shortened."""
        if isinstance(value, BaseException) or is_failure(value):
            return None
        try:
            text = value if isinstance(value, str) else _dumps(value)
        except (TypeError, ValueError, RecursionError):
            return None
        return text if size(text) > self.max_bytes and not is_failure_text(text) else None

    def _begin(self, value: object) -> str | None:
        """Return the text to shorten, once it is put away; where that fails, it stays whole."""
        text = self._long_text(value)
        self._count("", results=1)
        if text is None or self._store is None:
            return text
        try:
            self._store.put({tool_key(handle_of_text(text)): {"role": "tool", "content": text}})
        except Exception as error:  # noqa: BLE001 - stores may be foreign, and no tool may fail
            self._count(f"store: {describe(error)}", failures=1)
            return None
        return text

    async def _ask(self, text: str, tally: Tally) -> Answers:
        wanted = (text,) if self._asker.is_there else ()
        return await self._asker.answer(Questions(write=wanted), tally)

    def _finish(self, text: str, answers: Answers, tally: Tally) -> str:
        """Use the summary if it fits, else cut."""
        before, handle = size(text), "" if self._store is None else handle_of_text(text)
        summary = _annotate(answers.written.get(text, ""), before, self.max_bytes, handle)
        short = summary or shorten(text, self.max_bytes, handle)
        if summary:
            self._count("", summarized=1)
        elif self._asker.is_there:
            refused = [f"{refusal.gate}: {refusal.why}" for refusal in tally.refused]
            self._count(["the summary is too long", *refused, *tally.failures][-1], failures=1)
        self._count("", compressed=1, bytes_before=before, bytes_after=size(short))
        return short

    def _count(self, failure: str, **counts: int) -> None:
        with self._lock:
            self._counts.update(counts)
            self._last_failure = failure or self._last_failure


def shorten(text: str, max_bytes: int, handle: str = "") -> str:
    """Cut *text* to *max_bytes*: JSON inside its strings and lists, other text in the middle."""
    data = _parse(text)
    if data is _NOT_JSON:
        return head_and_tail(text, max_bytes, handle)
    note = _note("shortened from", size(text), handle)
    lossless = _write(data, _Limits(), "", max_bytes)
    written = (_write(data, limits, note, max_bytes) for limits in _ladder(max_bytes))
    return lossless or next(short for short in written if short is not None)


def _note(what: str, before: int, handle: str) -> str:
    return f"{what} {before} bytes" + (f"; whole result: #{handle}" if handle else "")


def _annotate(summary: str, before: int, max_bytes: int, handle: str) -> str:
    """Say of *summary* what it is; return nothing if that is too long."""
    note, data = _note("summary of", before, handle), _parse(summary)
    text = f"{summary}\n[{note}]"
    if data is not _NOT_JSON:
        text = _write(data, _Limits(), note, max_bytes) or ""
    return text if summary and size(text) <= max_bytes else ""


class _Number(str):  # as it was spelled, so that none changes
    __slots__ = ()


class _Mark(str):  # a text of ours, which is not cut
    __slots__ = ()


_NOT_JSON: Final = object()
_DECODER: Final = json.JSONDecoder(  # reads objects as tuples of pairs, so that no key gets lost
    parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=tuple
)


def _parse(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return _NOT_JSON


class _Limits(NamedTuple):
    """How much is kept of strings, lists, objects and of what is nested."""

    chars: int = sys.maxsize
    items: int = sys.maxsize
    keys: int = sys.maxsize
    depth: int = sys.maxsize


def _ladder(max_bytes: int) -> Iterator[_Limits]:
    """Yield ever tighter limits; what is nested in a list 60 times is a riddle anyway."""
    most = sys.maxsize
    yield from (_Limits(n, most, most, 60) for n in _falling(max_bytes, 160))
    yield from (_Limits(160, n, most, 60) for n in _falling(max_bytes // 2, 3))
    yield from (_Limits(80, 3, n, 60) for n in _falling(max_bytes // 4, 6))
    yield from (_Limits(8 * n, 2, 6, n) for n in (5, 3, 2, 1, 0))


def _falling(start: int, end: int) -> Iterator[int]:
    while start > end:
        yield start
        start = start * 4 // 5
    yield end


def _write(data: Any, limits: _Limits, note: str, max_bytes: int) -> str | None:
    """Write *data* within *limits*, and *note* at its end; nothing if that is too long."""
    pieces: list[str] = []
    try:
        for piece in _pieces(data, limits, note=note):
            max_bytes -= size(piece)
            if max_bytes < 0:
                return None
            pieces.append(piece)
    except RecursionError:
        return None
    return "".join(pieces)


def _pieces(value: Any, limits: _Limits, depth: int = 0, note: str = "") -> Iterator[str]:
    if not isinstance(value, list | tuple):
        yield _atom(value, limits.chars, note)
        return
    is_object = isinstance(value, tuple)
    most = (limits.keys if is_object else limits.items) if depth < limits.depth else 0
    left = max(len(value) - most, 0)
    end = len(value) - (most // 3 if left else 0)
    marks = [f"… {left} more {'keys' if is_object else 'items'}"] if left else []
    mark = _Mark("; ".join([*marks, *filter(None, [note])]))
    said = [(_free_key(value), mark) if is_object else mark] if mark else []
    comma = ""
    yield "{" if is_object else "["
    for entry in (*value[: end - left], *said, *value[end:]):
        yield f"{comma}{_dumps(entry[0])}:" if is_object else comma
        yield from _pieces(entry[1] if is_object else entry, limits, depth + 1)
        comma = ","
    yield "}" if is_object else "]"


def _atom(value: object, chars: int, note: str) -> str:
    text = value if isinstance(value, _Mark) or not isinstance(value, str) else clip(value, chars)
    if note:
        text = f"{text} [{note}]"
    return str(value) if isinstance(value, _Number) and text == value else _dumps(text)


def _free_key(pairs: Sequence[tuple[str, Any]]) -> str:
    """Return a key for a mark that the object does not have."""
    return "…" * (max((len(key) for key, _ in pairs if key.startswith("…")), default=0) + 1)
