"""How conversations were sent before: what is thought behind a changed message is bound to that.

A framework's history has the messages as they were given, and the thinking that came of what was
sent. Whether the two belong together is noted in the store, with the originals of whatever changes:
so it is still known after a history went back, and in another process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from refold.errors import MessageError, StoreError
from refold.formats import find_format, recognize, strip
from refold.formats.base import Format, Reading
from refold.formats.objects import Objects
from refold.model.wire import clone
from refold.stores.base import Store
from refold.stores.scope import scope_prefix

_CHANGED: Final = "refold:changed:"
_NO_WORDS: Final = "…"
"""What is left of a message that was all thinking: no provider takes an empty one."""
_being_sent: Final[ContextVar[bytes]] = ContextVar("refold_being_sent", default=b"")


class NotingStore:
    """A store that notes, with whatever is put, which conversation is not sent as it was given."""

    def __init__(self, store: Store, conversation: str) -> None:
        """Take the framework's name of the *conversation*, if it has one."""
        self._store = store
        self._place = f"{scope_prefix(conversation) if conversation else ''}{_CHANGED}"

    def put(self, entries: Mapping[str, Any]) -> None:
        """Keep every entry and the note, or none if it raises."""
        self._store.put({**entries, self._key(_being_sent.get()): True})

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what is known of *keys*."""
        return self._store.get(keys)

    @contextmanager
    def sending(self, beginning: bytes) -> Iterator[None]:
        """Tell which conversation is being sent: the one that begins, and ends, like this."""
        token = _being_sent.set(beginning)
        try:
            yield
        finally:
            _being_sent.reset(token)

    def was_changed(self, beginnings: Sequence[bytes]) -> bool:
        """Tell whether one of these may have been sent otherwise than it was given."""
        try:
            return bool(self._store.get(map(self._key, beginnings)))
        except StoreError:  # nobody knows
            return True

    def _key(self, beginning: bytes) -> str:
        return f"{self._place}{beginning.hex()}"


def thinks_later(messages: Sequence[Any], format_name: str) -> bool:
    """Tell whether thinking came after others had spoken, and not with the first answer."""
    is_answered = False
    for message in messages:
        read = _read(Objects().read([message])[0], format_name)
        if read is None:
            continue
        reading = read[1]
        if reading.thinking and is_answered:
            return True
        is_answered = is_answered or (reading.is_turn and reading.role != "assistant")
    return False


def without_thinking(messages: Sequence[Any], format_name: str) -> list[Any]:
    """Return *messages* without what a model thought; those that have none are the same objects."""
    return [_without_thinking(message, format_name) for message in messages]


def _without_thinking(message: Any, format_name: str) -> Any:
    objects = Objects()
    wire = objects.read([message])[0]
    read = _read(wire, format_name)
    if read is None:
        return message
    format_, reading = read
    if not reading.thinking or format_.strip is None:
        return message
    rest = clone(dict(wire))
    is_empty = not (reading.parts or reading.calls or reading.images or reading.opaque)
    strip(rest, format_.name, _NO_WORDS if is_empty else "")
    return objects.write([rest])[0]


def _read(wire: Any, format_name: str) -> tuple[Format, Reading] | None:
    """Read one message; `None` if that cannot be: whoever folds it will say what is wrong."""
    if not isinstance(wire, Mapping):
        return None
    format_ = recognize([wire]) if format_name == "auto" else find_format(format_name)
    try:
        return format_, format_.read(wire, "messages")
    except MessageError:
        return None
