"""How conversations were sent before: what is thought behind a changed message is bound to that.

A framework's history has the messages as they were given, and the thinking that came of what was
sent. Whether the two belong together is noted in the store, with the originals of whatever changes:
so it is still known after a history went back, and in another process.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, Literal

from refold.errors import MessageError, StoreError
from refold.messages.formats import find_format, recognize, strip
from refold.messages.formats.base import Format, Reading
from refold.messages.formats.objects import Objects
from refold.messages.wire import clone, digest
from refold.notation.marks import GAP
from refold.stores.base import Store
from refold.stores.scope import scope_prefix

_CHANGED: Final = "refold:changed:"
_NO_WORDS: Final = GAP
"""What is left of a message that was all thinking: no provider takes an empty one."""
_MOST_FORMS: Final = 10_000
"""How many requests are remembered, at some 200 bytes each: more than agents have under way."""
_being_sent: Final[ContextVar[bytes]] = ContextVar("refold_being_sent", default=b"")


@dataclass(frozen=True, slots=True)
class Sent:
    """The form that was sent last."""

    messages: Sequence[Any] = ()
    length: int = 0
    """Of how many messages it is the view; behind the last fold, one for one."""
    changed: tuple[tuple[int, str], ...] = ()
    """The places in it that do not show what was given, and a digest of what they show."""

    def back_to(self, length: int) -> Sent:
        """Return what was sent of the first *length* messages, which no fold joins with others."""
        gone = max(0, self.length - length)
        messages = self.messages[: len(self.messages) - gone]
        changed = tuple(entry for entry in self.changed if entry[0] < len(messages))
        return Sent(messages, self.length - gone, changed)

    def followed_by(self, new: Sequence[Any], given: Sequence[Any]) -> Sent:
        """Return what was sent and then *new* messages, which stand for those that were *given*."""
        start = len(self.messages)
        pairs = enumerate(zip(new, given, strict=True), start)
        changed = [(place, digest_of(one)) for place, (one, other) in pairs if one is not other]
        length = self.length + len(given)
        return Sent([*self.messages, *new], length, (*self.changed, *changed))


class SentForms:
    """In which form conversations were sent last: thinking in an answer is bound to that form."""

    def __init__(self) -> None:
        self._forms: OrderedDict[bytes, tuple[tuple[int, str], ...] | None] = OrderedDict()
        """By beginning; `None` if there were several."""

    def note(self, beginning: bytes, sent: Sent) -> None:
        """Note what was sent of a conversation that begins, and ends, like this."""
        is_other = self._forms.get(beginning, sent.changed) != sent.changed
        self._forms[beginning] = None if is_other else sent.changed
        self._forms.move_to_end(beginning)
        if len(self._forms) > _MOST_FORMS:
            self._forms.popitem(last=False)

    def may_differ(self, beginning: bytes, sent: Sent) -> bool:
        """Tell whether an answer may be to something else than what was *sent*.

        What is not remembered may have been sent by another process, as it was given.
        """
        return self._forms.get(beginning, ()) != sent.changed

    def was_changed(self, beginnings: Iterable[bytes]) -> bool:
        """Tell whether one of these was sent in another form."""
        return any(self._forms.get(beginning, ()) != () for beginning in beginnings)


class NotingStore:
    """A store that notes, with whatever is put, which conversation is not sent as it was given."""

    def __init__(self, store: Store, conversation: str) -> None:
        """Take the framework's name of the *conversation*, if it has one."""
        self._store = store
        self._place = f"{scope_prefix(conversation) if conversation else ''}{_CHANGED}"
        self._late: tuple[bytes, ...] = ()
        """What was sent in another form while the store failed, and is still to be noted."""

    def put(self, entries: Mapping[str, Any]) -> None:
        """Keep every entry and the notes, or none if it raises."""
        late = self._late
        notes = {self._key(beginning): True for beginning in (*late, _being_sent.get())}
        self._store.put({**entries, **notes})
        self._late = self._late[len(late) :]

    def note_late(self, beginning: bytes) -> None:
        """Note with the next entries that this was sent in another form."""
        self._late = (*self._late, beginning)

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
        """Tell whether one of these may have been sent in another form."""
        try:
            return bool(self._store.get(map(self._key, beginnings)))
        except StoreError:  # unknown
            return True

    def _key(self, beginning: bytes) -> str:
        return f"{self._place}{beginning.hex()}"


def digest_of(message: Any) -> str:
    """Return a digest of a message, be it data or an object."""
    return digest(Objects().read([message])[0])


def thinks_in(messages: Sequence[Any], format_name: str) -> Literal["", "answer", "later"]:
    """Tell whether there is thinking in the first answer, or even later, when others had spoken."""
    found: Literal["", "answer"] = ""
    is_answered = False
    for message in messages:
        read = _read(Objects().read([message])[0], format_name)
        if read is None:
            continue
        reading = read[1]
        if reading.thinking and is_answered:
            return "later"
        found = "answer" if reading.thinking else found
        is_answered = is_answered or (reading.is_turn and reading.role != "assistant")
    return found


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
    """Read one message; `None` if it cannot be read; folding reports why."""
    if not isinstance(wire, Mapping):
        return None
    format_ = recognize([wire]) if format_name == "auto" else find_format(format_name)
    try:
        return format_, format_.read(wire, "messages")
    except MessageError:
        return None
