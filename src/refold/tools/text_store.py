"""Whole texts in a store, by the handles that short forms show, and what a model asks of one."""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from itertools import accumulate, takewhile
from typing import Any, Final, NamedTuple

from refold.errors import MessageError, StoreError, describe
from refold.messages.wire import FOLD_PREFIX, letters_of, text_digest
from refold.notation.marks import ANCHOR_CHARS, HANDLE_CHARS, show_handle
from refold.notation.notes import annotate, annotate_json, note
from refold.scan.structure import is_json
from refold.scan.tokens.estimate import estimate_tokens
from refold.scan.truncate import cut
from refold.stores.base import Store
from refold.stores.scope import scoped

TEXT_PREFIX: Final = "refold:text:"
_MOST: Final = 4_096
"""How many handles are remembered; the oldest are forgotten first."""
_LINES: Final = re.compile(
    r"[\sL]*+(\d{1,9}+)\s*+(?:(-|–|:|,|\.\.|to)[\sL]*+(\d{1,9}+)?+)?+\s*+", re.I
)
_WIDE: Final = 2_000
"""No line of an answer is longer, in characters."""


def anchor_of_text(text: str) -> str:
    """Derive the longest handle of a text: the same text, the same handle, on every machine."""
    return letters_of(FOLD_PREFIX + text_digest(text), ANCHOR_CHARS)


def text_key(handle: str) -> str:
    """Name the place where the whole text with this handle is kept."""
    return TEXT_PREFIX + handle


class TextStore:
    """The texts of one conversation in a store; safe to share between threads.

    In a conversation with a name a handle is short, and looked up before it is given away: it never
    names two texts. Without one it has 128 bits, for then anybody with the store may ask.
    """

    def __init__(self, store: Store, conversation: str | None = None) -> None:
        self._store = scoped(store, conversation)
        self._sizes = (ANCHOR_CHARS,) if conversation is None else (HANDLE_CHARS, 12, ANCHOR_CHARS)
        self._lock = threading.Lock()
        self._given: OrderedDict[str, str] = OrderedDict()

    def handle_of(self, text: str) -> str:
        """Return the handle under which *text* is kept, or will be."""
        anchor = anchor_of_text(text)
        with self._lock:
            if anchor in self._given:
                return self._given[anchor]
        handle = self._free_handle(text, anchor)
        with self._lock:
            self._given[anchor] = handle
            while len(self._given) > _MOST:
                self._given.popitem(last=False)
        return handle

    def _free_handle(self, text: str, anchor: str) -> str:
        """Return the shortest handle that no other text has."""
        if len(self._sizes) == 1:
            return anchor
        handles = [anchor[:size] for size in self._sizes]
        known = self._store.get([text_key(handle) for handle in handles])
        free = (h for h in handles if known.get(text_key(h), _entry(text)) == _entry(text))
        return next(free, anchor)

    def keep(self, text: str) -> str:
        """Put *text* away and return its handle; `StoreError` if another text has come first."""
        handle = self.handle_of(text)
        key = text_key(handle)
        self._store.put({key: _entry(text)})
        if len(handle) < ANCHOR_CHARS and self._store.get([key]).get(key) != _entry(text):
            with self._lock:
                self._given.pop(anchor_of_text(text), None)
            raise StoreError(
                f"the handle {show_handle(handle)} was given to another text meanwhile"
            )
        return handle


def show_short(short: str, text: str, words: str, text_store: TextStore | None) -> str:
    """Return the *short* form of *text* with a note on what is missing; JSON stays JSON.

    That is *words* on how much is left out, and where there is a store the handle of the whole.
    """
    mark = note(words, "" if text_store is None else text_store.handle_of(text))
    return annotate_json(short, mark) if mark and is_json(short) else annotate(short, mark)


def _entry(text: str) -> dict[str, Any]:
    return {"role": "tool", "content": text}


class Ask(NamedTuple):
    """One call: what to look for, or which original and which of its lines."""

    max_tokens: int
    query: str = ""
    handle: str = ""
    first: int = 1
    last: int | None = None


def read_ask(arguments: Mapping[str, Any] | str, max_tokens: int) -> Ask:
    """Read what a model sent; a text that is not a JSON object is taken for a handle."""
    given: Any = arguments
    if isinstance(given, str):
        with suppress(ValueError, RecursionError):
            given = json.loads(given)
    given = given if isinstance(given, Mapping) else {"handle": arguments}
    asked = {name: _spelled(given, name) for name in ("query", "handle", "lines")}
    unknown = [str(name)[:50] for name, value in given.items() if name not in asked and value]
    if unknown:
        raise MessageError(f"there is no {unknown[0]!r}: give a query, or a handle and its lines")
    if bool(asked["query"]) == bool(asked["handle"]):
        raise MessageError("what is wanted? Give a query in plain words, or one handle")
    if asked["query"]:
        if asked["lines"]:
            raise MessageError("lines go with a handle, not with a query")
        return Ask(query=asked["query"], max_tokens=max_tokens)
    span = _LINES.fullmatch(asked["lines"] or "1-")
    if span is None:
        raise MessageError(f'lines must be a range such as "120-180", got {asked["lines"][:50]!r}')
    first, to, last = span.groups()
    return Ask(
        handle=asked["handle"],
        first=max(int(first), 1),
        last=int(last) if last else (None if to else int(first)),
        max_tokens=max_tokens,
    )


def _spelled(given: Mapping[str, Any], name: str) -> str:
    """Return what was given under *name* as text; a model may send a number instead."""
    try:
        return str(given.get(name) or "").strip()
    except (ValueError, RecursionError) as error:  # thousands of digits, or of brackets
        raise MessageError(f"{name} must be a text, got {describe(error)}") from error


def select(title: str, text: str, ask: Ask) -> str:
    """Return the lines that were asked for, as many as fit into one answer.

    In a text that does not fit, a line that is too long for an answer counts as several.
    """
    lines = text.split("\n")
    if estimate_tokens(text) > ask.max_tokens:
        wide = min(_WIDE, ask.max_tokens)
        lines = [line[at : at + wide] for line in lines for at in range(0, len(line) or 1, wide)]
    count, last = len(lines), min(ask.last or len(lines), len(lines))
    if last < ask.first:
        asked = f"{ask.first}-{ask.last or ''}"
        return f"[{title}: there are no lines {asked}; it has {count}]"
    prices = accumulate(estimate_tokens(line) + 1 for line in lines[ask.first - 1 : last])
    fitting = sum(1 for price in takewhile(lambda price: price <= ask.max_tokens, prices))
    end = ask.first - 1 + max(fitting, 1)
    if ask.first > 1 or end < count:
        title += f"; lines {ask.first}-{end}"
    more = f'\n[for more ask for lines "{end + 1}-" of {count}]' if end < last else ""
    return f"[{title}]\n" + "\n".join(lines[ask.first - 1 : end]) + more


def say_size(text: str) -> str:
    """Return the size of *text* in words: lines and characters."""
    lines = text.count("\n") + 1
    return f"{lines} line{'' if lines == 1 else 's'}, {len(text)} chars"


def shorten_line(text: str) -> str:
    """Put *text* on one line of at most 100 characters."""
    return cut(" ".join(text.split()), 100)
