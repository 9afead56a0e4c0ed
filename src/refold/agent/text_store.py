"""Whole texts in a store, fetched by the handle that their short form shows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Final

from refold.engine import scoped
from refold.errors import StoreError
from refold.model.handles import anchor_of_text
from refold.notation.marks import ANCHOR_CHARS, HANDLE_CHARS, show_handle
from refold.stores.base import Store

TEXT_PREFIX: Final = "refold:text:"
_MOST: Final = 4_096
"""How many handles are remembered; the oldest are forgotten first."""


def text_key(handle: str) -> str:
    """Name the place where the whole text with this handle is kept."""
    return TEXT_PREFIX + handle


class TextStore:
    """The texts of one conversation in a store; safe to share between threads.

    In a conversation with a name a handle is short, and looked up before it is given away: it never
    names two texts. Without one it has 128 bits, for then anybody with the store may ask.
    """

    def __init__(self, store: Store, conversation: str | None = None) -> None:
        own = scoped(store, conversation)
        assert own is not None, "there is a store"
        self._store = own
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


def _entry(text: str) -> dict[str, Any]:
    return {"role": "tool", "content": text}
