"""Whole texts in a store, by the handles that short forms show, and what a model asks of one."""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from refold.engine import scoped
from refold.errors import MessageError, StoreError, describe
from refold.messages.handles import anchor_of_text
from refold.notation.marks import ANCHOR_CHARS, GAP, HANDLE_CHARS, show_handle
from refold.notation.notes import annotate, annotate_json, note
from refold.scan.structure import is_json
from refold.scan.truncate import cut
from refold.scan.view import TextView
from refold.stores.base import Store

TEXT_PREFIX: Final = "refold:text:"
_MOST: Final = 4_096
"""How many handles are remembered; the oldest are forgotten first."""
_LINES: Final = re.compile(
    r"[\sL]*+(\d{1,9}+)\s*+(?:(-|–|:|,|\.\.|to)[\sL]*+(\d{1,9}+)?+)?+\s*+", re.I
)
_AROUND_CHARS: Final = 200
"""How much of a long line is shown on either side of what was searched for."""


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
    said = note(words, "" if text_store is None else text_store.handle_of(text))
    return annotate_json(short, said) if said and is_json(short) else annotate(short, said)


def _entry(text: str) -> dict[str, Any]:
    return {"role": "tool", "content": text}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One call: which original, and which part of it."""

    handle: str
    first: int = 1
    last: int | None = None
    search: str = ""
    start: int = 0
    max_chars: int


def read_ask(arguments: Mapping[str, Any] | str, max_chars: int) -> Ask:
    """Read what a model sent; a text that is not a JSON object is taken for a handle."""
    given: Any = arguments
    if isinstance(given, str):
        with suppress(ValueError, RecursionError):
            given = json.loads(given)
    given = given if isinstance(given, Mapping) else {"handle": arguments}
    handle = given.get("handle")
    if not isinstance(handle, str) or not handle.strip():
        raise MessageError("which original? Give its handle, the letters after the # of its mark")
    lines = _spelled(given, "lines") or "1-"
    span = _LINES.fullmatch(lines)
    if span is None:
        raise MessageError(f'lines must be a range such as "120-180", got {lines[:50]!r}')
    first, to, last = span.groups()
    return Ask(
        handle=handle.strip(),
        first=max(int(first), 1),
        last=int(last) if last else (None if to else int(first)),
        search=_spelled(given, "search"),
        start=_number(given.get("start"), 0),
        max_chars=min(max(_number(given.get("max_chars"), max_chars), 1), max_chars),
    )


def _spelled(given: Mapping[str, Any], name: str) -> str:
    """Return what was given under *name* as text; a model may send a number instead."""
    try:
        return str(given.get(name) or "")
    except (ValueError, RecursionError) as error:  # thousands of digits, or of brackets
        raise MessageError(f"{name} must be a text, got {describe(error)}") from error


def _number(value: object, default: int) -> int:
    """Return a number that can count characters, which a model may send as text."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        value = int(value)
    return value if type(value) is int and 0 <= value < 10**9 else default


def select(title: str, text: str, ask: Ask) -> str:
    """Return the lines or matches that were asked for, as much as fits into one answer."""
    lines = text.split("\n")
    count, last = len(lines), min(ask.last or len(lines), len(lines))
    if last < ask.first:
        asked = f"{ask.first}-{ask.last or ''}"
        return f"[{title}: there are no lines {asked}; it has {count}]"
    if ask.first > 1 or last < count:
        title += f"; lines {ask.first}-{last}"
        lines = lines[ask.first - 1 : last]
    text = "\n".join(lines)
    if ask.search:
        text, hits = search_lines(lines, ask.search, ask.first)
        title += f"; {hits} lines contain {shorten_line(ask.search)!r}"
    shown = cut(text[ask.start :], ask.max_chars) or text[ask.start :][: ask.max_chars]
    end = ask.start + len(shown)
    more = f"\n[chars {ask.start}-{end} of {len(text)}; for more call again with start={end}]"
    return f"[{title}]\n{shown}{more if end < len(text) else ''}"


def search_lines(lines: Sequence[str], wanted: str, first: int) -> tuple[str, int]:
    """Return the lines with *wanted* and their neighbours as `grep -n` does, and how many hit."""
    needle = _caseless(wanted)
    found = ((place, _caseless(line).find(needle)) for place, line in enumerate(lines))
    hits = {place: start for place, start in found if start >= 0}
    near = {place + step for place in hits for step in (-1, 0, 1)}
    shown: list[str] = []
    for place in sorted(near & set(range(len(lines)))):
        if shown and place - 1 not in near:
            shown.append("--")
        start, size = (hits[place], len(needle)) if place in hits else (0, 0)
        left, right = max(start - _AROUND_CHARS, 0), start + size + _AROUND_CHARS
        text = lines[place][left:right] + (GAP if right < len(lines[place]) else "")
        shown.append(f"{first + place}{':' if place in hits else '-'} {GAP if left else ''}{text}")
    return "\n".join(shown), len(hits)


def _caseless(text: str) -> str:
    """Return *text* in one case, character by character.

    `str.find` is linear in it, while a pattern that ignores case tries its text from every letter.
    """
    return TextView(text).lower.replace("ς", "σ")


def say_size(text: str) -> str:
    """Return the size of *text* in words: lines and characters."""
    lines = text.count("\n") + 1
    return f"{lines} line{'' if lines == 1 else 's'}, {len(text)} chars"


def shorten_line(text: str) -> str:
    """Put *text* on one line of at most 100 characters."""
    return cut(" ".join(text.split()), 100)
