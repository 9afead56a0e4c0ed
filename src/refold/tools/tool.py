"""Cut what a tool returns down to size before it enters the conversation.

What the engine can say shorter without loss loses nothing. Else JSON stays JSON and is cut inside,
and of other text the pieces that are worth most stay. Failed results stay as they are. With a store
the whole can be had back by its handle (see `retrieve_tool`).
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, time
from decimal import Decimal
from enum import Enum
from functools import partial, wraps
from pathlib import PurePath
from typing import Any, Final, Literal, NamedTuple, ParamSpec, TypeVar, get_args
from uuid import UUID

from refold.calling import is_async
from refold.checks import check_choice, check_whole
from refold.errors import ConfigError, describe
from refold.fold.one_text import fold_text
from refold.llm import summarizers
from refold.llm.ask import Asker, Questions, Tally, run_apart
from refold.messages.failure import is_failure, is_failure_text
from refold.notation.marks import gap, more, size_of
from refold.notation.notes import annotate, free_key, note, shortened_from, summarized_from
from refold.scan.structure import is_json
from refold.scan.tokens.estimate import estimate_tokens
from refold.scan.truncate import cut
from refold.stores.base import Store, check_store
from refold.tools.text_store import TextStore, respelled

P = ParamSpec("P")
R = TypeVar("R")
Strategy = Literal["truncate", "summarize"]

MIN_BYTES: Final = 256
"""The least that holds a mark with a handle and something of the text."""
_AROUND_BYTES: Final = 24
"""What is around a cut text and its mark, and how far the fold of one text may miss its budget."""


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
    """Shortens long tool results; safe to share between threads and tasks.

    *max_bytes* counts UTF-8. With `strategy="summarize"`, *summarize* is asked first, a function or
    summarizer whose answer must pass the checks; otherwise the text is cut. Originals are kept only
    in a *store*. With the name of a *conversation*, handles are short, and only a `retrieve_tool`
    of that name opens them.
    """

    def __init__(
        self,
        max_bytes: int = 8_000,
        strategy: Strategy = "truncate",
        summarize: object = None,
        store: Store | None = None,
        conversation: str | None = None,
    ) -> None:
        check_whole("max_bytes", max_bytes, least=MIN_BYTES)
        check_choice("strategy", strategy, get_args(Strategy))
        if (strategy == "summarize") != (summarize is not None):
            raise ConfigError('strategy="summarize" and summarize=… belong together; give both')
        if store is not None:
            check_store(store)
        self.max_bytes = max_bytes
        self._text_store = None if store is None else TextStore(store, conversation)
        summarizer = None if summarize is None else summarizers.wrap_summarizer(summarize)
        self._asker = Asker(summarizer=summarizer, count_tokens=estimate_tokens)
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._last_failure = ""

    @property
    def stats(self) -> ToolStats:
        """What it has done so far."""
        with self._lock:
            return ToolStats(**self._counts, last_failure=self._last_failure)

    def should_compress(self, value: object) -> bool:
        """Return whether *value* is too long and may be shortened."""
        return self._long_text(value) is not None

    def compress(self, value: R) -> R | str:
        """Return *value* if it is short enough, else a text of at most `max_bytes`."""
        text = self._begin(value)
        return value if text is None else run_apart(partial(self._shorten, text))

    async def acompress(self, value: R) -> R | str:
        """Do what `compress` does without blocking the event loop."""
        text = await asyncio.to_thread(self._begin, value)
        return value if text is None else await self._shorten(text)

    def wrap(self, function: Callable[P, R]) -> Callable[P, R | str]:
        """Make a tool that returns what *function* does, compressed; exceptions pass through."""
        if is_async(function):
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
            text = value if isinstance(value, str) else _spell(value)
        except Exception:  # noqa: BLE001 - objects may be foreign, and no tool may fail
            return None
        return text if size(text) > self.max_bytes and not is_failure_text(text) else None

    def _begin(self, value: object) -> str | None:
        """Return the text to shorten, once it is stored; `None` if it stays whole."""
        text = self._long_text(value)
        self._count("", results=1)
        if text is None or self._text_store is None:
            return text
        try:
            self._text_store.keep(text)
        except Exception as error:  # noqa: BLE001 - stores may be foreign, and no tool may fail
            self._count(f"store: {describe(error)}", failures=1)
            return None
        return text

    async def _shorten(self, text: str) -> str:
        # JSON is cut so that it stays JSON: its structure says where, and no model is needed.
        wanted = (text,) if self._asker.is_enabled and not is_json(text) else ()
        tally = Tally()
        answers = await self._asker.answer(Questions(write=wanted), tally)
        return await asyncio.to_thread(self._finish, text, answers.get(text, ""), tally)

    def _finish(self, text: str, answer: str, tally: Tally) -> str:
        """Use a model's *answer* if there is one and it fits, else pack the text, else cut it."""
        before = size(text)
        handle = "" if self._text_store is None else self._text_store.handle_of(text)
        short = annotate(answer, note(summarized_from(before, "bytes"), handle)) if answer else ""
        if short and size(short) <= self.max_bytes:
            self._count("", summarized=1)
        else:
            if tally.asked:
                refused = [f"{refusal.check}: {refusal.why}" for refusal in tally.refused]
                why = ["the summary is too long", *refused, *tally.failures][-1]
                self._count(why, failures=1)
            # JSON stays JSON: whoever called may parse it.
            packed = None if is_json(text) else respelled(text, estimate_tokens, self._text_store)
            is_short = packed is not None and size(packed) <= self.max_bytes
            short = packed if packed and is_short else shorten(text, self.max_bytes, handle)
        self._count("", compressed=1, bytes_before=before, bytes_after=size(short))
        return short

    def _count(self, failure: str, **counts: int) -> None:
        with self._lock:
            self._counts.update(counts)
            self._last_failure = failure or self._last_failure


_SPELLED_AS_TEXT: Final = (date, time, Decimal, UUID, PurePath)  # a datetime is a date


def _spell(value: object) -> str:
    """Serialize *value* as JSON; `TypeError` or `ValueError` if it is not data.

    An object that is not in a list or a mapping is none: whoever called the tool may want its type.
    """
    default = _plain if isinstance(value, dict | list | tuple) else None
    return json.dumps(value, ensure_ascii=False, default=default)


def _plain(value: Any) -> object:
    """Return *value* as JSON-ready data, if it is of a well-known type; else `TypeError`."""
    if isinstance(value, _SPELLED_AS_TEXT):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)  # sets have no order of their own: the same bytes each time
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    if callable(dump := getattr(value, "model_dump", None)):  # pydantic
        return dump(mode="json")
    raise TypeError(f"{type(value).__name__} is no data")


def size(text: str) -> int:
    """Return the length of *text* in bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def shorten(text: str, max_bytes: int, handle: str = "") -> str:
    """Cut *text* to *max_bytes*: JSON inside its strings and lists, else to the best pieces."""
    mark = note(shortened_from(size(text), "bytes"), handle)
    try:
        data = _DECODER.decode(text)
    except (ValueError, RecursionError):
        room = max_bytes - size(mark) - _AROUND_BYTES
        short = fold_text(text, room, size)
        chars = room
        while short is None or size(short) > room:  # few lines, or long ones
            short, chars = _clip(text, chars), chars * 3 // 4
        return annotate(short, mark)
    lossless = _write(data, _Limits(), "", max_bytes)
    written = (_write(data, limits, mark, max_bytes) for limits in _ladder(max_bytes))
    return lossless or next(short for short in written if short is not None)


class _Number(str):  # as it was spelled, so that none changes
    __slots__ = ()


class _Mark(str):  # a text of ours, which is not cut
    __slots__ = ()


_DECODER: Final = json.JSONDecoder(  # reads objects as tuples of pairs, so that no key gets lost
    parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=tuple
)
_dumps: Final = partial(json.dumps, ensure_ascii=False)


class _Limits(NamedTuple):
    """How much is kept of strings, lists, objects and of what is nested."""

    chars: int = sys.maxsize
    items: int = sys.maxsize
    keys: int = sys.maxsize
    depth: int = sys.maxsize


def _ladder(max_bytes: int) -> Iterator[_Limits]:
    """Yield ever tighter limits; what is nested in a list 60 times is a riddle anyway."""

    def falling(start: int, end: int) -> Iterator[int]:
        while start > end:
            yield start
            start = start * 4 // 5
        yield end

    most = sys.maxsize
    yield from (_Limits(n, most, most, 60) for n in falling(max_bytes, 160))
    yield from (_Limits(160, n, most, 60) for n in falling(max_bytes // 2, 3))
    yield from (_Limits(80, 3, n, 60) for n in falling(max_bytes // 4, 6))
    yield from (_Limits(8 * n, 2, 6, n) for n in (5, 3, 2, 1, 0))


def _write(data: Any, limits: _Limits, mark: str, max_bytes: int) -> str | None:
    """Write *data* within *limits*, with a *mark* at its end; nothing if that is too long."""
    pieces: list[str] = []
    try:
        for piece in _pieces(data, limits, mark):
            max_bytes -= size(piece)
            if max_bytes < 0:
                return None
            pieces.append(piece)
    except RecursionError:
        return None
    return "".join(pieces)


def _pieces(value: Any, limits: _Limits, mark: str = "", depth: int = 0) -> Iterator[str]:
    ending = f"[{mark}]" if mark else ""
    if not isinstance(value, list | tuple):
        text = _clip(value, limits.chars)
        text = f"{text} {ending}" if ending else text
        yield str(value) if isinstance(value, _Number) and text == value else _dumps(text)
        return
    is_object = isinstance(value, tuple)
    most = (limits.keys if is_object else limits.items) if depth < limits.depth else 0
    left = max(len(value) - most, 0)
    rest = more(left, "key" if is_object else "item") if left else ""
    entries = [*value]
    if rest or ending:  # what is left out is said in its place, which is before the last third
        end = len(value) - (most // 3 if left else 0)
        item = _Mark("; ".join(filter(None, [rest, ending])))
        entry = (free_key([key for key, _ in value]), item) if is_object else item
        entries[end - left : end] = [entry]
    yield "{" if is_object else "["
    for place, entry in enumerate(entries):
        yield "," if place else ""
        if is_object:
            yield f"{_dumps(entry[0])}:"
        yield from _pieces(entry[1] if is_object else entry, limits, depth=depth + 1)
    yield "}" if is_object else "]"


def _clip(value: Any, chars: int) -> Any:
    """Keep about so many characters of a text, from both ends, if that is shorter."""
    if not isinstance(value, str) or isinstance(value, _Mark) or len(value) <= chars:
        return value
    head, tail = cut(value, chars - chars // 3), value[len(value) - chars // 3 :]
    left = size_of(value, len(head), len(value) - len(tail), least_lines=2, least_chars=0)
    short = f"{head}{gap(left)}{tail}"
    return short if len(short) < len(value) else value
