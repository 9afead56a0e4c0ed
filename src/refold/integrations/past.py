"""How conversations were sent before: what is thought behind a changed message is bound to that.

A framework's history has the messages as they were given, and the thinking that came of what was
sent. Whether the two belong together is noted in the store before anything is sent: so it is still
known after a history went back, and in another process. Thinking of which it is not known is left
out.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from refold.errors import MessageError, StoreError
from refold.messages.formats import find_format, recognize, strip
from refold.messages.formats.base import Format, Reading
from refold.messages.formats.objects import Objects
from refold.messages.wire import clone, digest
from refold.notation.marks import GAP
from refold.stores.base import Store
from refold.stores.scope import scope_prefix

_FORM: Final = "refold:form:"
_MOST_LATE: Final = 1_000
"""How many notes wait for a store to work again; of the others it will not be known."""
AS_GIVEN: Final = "as given"
_SEVERAL: Final = "several"
"""No form: it is not known which of them an answer was to."""
_NO_WORDS: Final = GAP
"""What is left of a message that was all thinking: no provider takes an empty one."""
_MOST_FORMS: Final = 10_000
"""How many requests are remembered, at some 200 bytes each: more than agents have under way."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent last."""

    messages: Sequence[Any] = ()
    length: int = 0
    """Of how many messages it is the view; behind the last fold, one for one."""
    changed: tuple[tuple[int, str], ...] = ()
    """The places in it that do not show what was given, and a digest of what they show."""

    @property
    def form(self) -> str:
        """A name for how it differs from what was given."""
        return digest(self.changed) if self.changed else AS_GIVEN

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
        self._forms: OrderedDict[bytes, str] = OrderedDict()
        """By beginning."""

    def note(self, beginning: bytes, form: str) -> None:
        """Note in which form a conversation was sent that begins, and ends, like this."""
        is_other = self._forms.get(beginning, form) != form
        self._forms[beginning] = _SEVERAL if is_other else form
        self._forms.move_to_end(beginning)
        if len(self._forms) > _MOST_FORMS:
            self._forms.popitem(last=False)

    def get(self, beginning: bytes) -> str | None:
        """Return the form; `None` if nobody remembers any."""
        return self._forms.get(beginning)


class FormStore:
    """A store that notes beside the originals in which form a conversation was sent, and when.

    Of what was never noted nobody knows who has sent it, and how.
    """

    def __init__(self, store: Store, conversation: str) -> None:
        """Take the framework's name of the *conversation*, if it has one."""
        self._store = store
        self._place = f"{scope_prefix(conversation) if conversation else ''}{_FORM}"
        self._late: dict[str, str] = {}
        """What was sent while the store failed, and is still to be noted."""

    def note(self, beginning: bytes, form: str) -> None:
        """Note that what begins, and ends, like this is about to be sent in this form.

        If somebody else has noted another form, an answer may be to either: that is noted, too, and
        also where it cannot be read whether somebody has.
        """
        key = self._key(beginning)
        notes = {**self._late, key: form}
        try:
            self._store.put(notes)
            known = self._known(notes)
            others = {_other(name): True for name, said in notes.items() if known.get(name) != said}
            if others:
                self._store.put(others)
        except StoreError:
            self._late = dict(list(notes.items())[-_MOST_LATE:])
        else:
            self._late = {}

    def read(self, beginnings: Iterable[bytes]) -> list[str | None]:
        """Return the form of each of these; `None` where it is not known."""
        keys = [self._key(beginning) for beginning in beginnings]
        known = self._known([*keys, *map(_other, keys)])
        return [_SEVERAL if _other(key) in known else known.get(key) for key in keys]

    def _known(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what the store has; nothing if it cannot say."""
        try:
            return self._store.get(keys)
        except StoreError:
            return {}

    def _key(self, beginning: bytes) -> str:
        return f"{self._place}{beginning.hex()}"


def _other(key: str) -> str:
    """Return where it is noted that what has this *key* was sent in several forms."""
    return f"{key}:other"


def digest_of(message: Any) -> str:
    """Return a digest of a message, be it data or an object."""
    return digest(Objects().read([message])[0])


def asked_before_thinking(messages: Sequence[Any], format_name: str) -> list[int]:
    """Return to how many of *messages* each answer is in which a model has thought."""
    lengths: list[int] = []
    length = 0
    for place, message in enumerate(messages):
        read = read_message(Objects().read([message])[0], format_name)
        if read is None:
            continue
        reading = read[1]
        if reading.thinking and lengths[-1:] != [length]:
            lengths.append(length)
        if reading.is_turn and reading.role != "assistant":
            length = place + 1
    return lengths


def without_thinking(messages: Sequence[Any], format_name: str) -> list[Any]:
    """Return *messages* without what a model thought; those that have none are the same objects."""
    return [_without_thinking(message, format_name) for message in messages]


def _without_thinking(message: Any, format_name: str) -> Any:
    objects = Objects()
    wire = objects.read([message])[0]
    read = read_message(wire, format_name)
    if read is None:
        return message
    format_, reading = read
    if not reading.thinking or format_.strip is None:
        return message
    rest = clone(dict(wire))
    is_empty = not (reading.parts or reading.calls or reading.images or reading.opaque)
    strip(rest, format_.name, _NO_WORDS if is_empty else "")
    return objects.write([rest])[0]


def read_message(wire: Any, format_name: str = "auto") -> tuple[Format, Reading] | None:
    """Read one message; `None` if that fails: whoever folds it will say what is wrong."""
    if not isinstance(wire, Mapping):
        return None
    format_ = recognize([wire]) if format_name == "auto" else find_format(format_name)
    try:
        return format_, format_.read(wire, "messages")
    except MessageError:
        return None
