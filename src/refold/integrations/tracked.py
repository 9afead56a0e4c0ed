"""One session of an integration: how its conversation was sent before, and what is sent next.

A framework's history has the messages as they were given, and the thinking that came of what was
sent: thinking behind a changed message is bound to the form in which that was sent. Whether the two
belong together is recorded in the store before anything is sent, so it is still known after a
history was rewound, and in another process. Thinking of which it is not known is left out.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from refold.conversation.session import Session
from refold.errors import MessageError, RefoldError, StoreError, describe
from refold.messages.formats import find_format, recognize, strip
from refold.messages.formats.base import Format, Reading
from refold.messages.formats.objects import Objects
from refold.messages.wire import clone, digest
from refold.notation.marks import GAP
from refold.stores.base import Store
from refold.stores.scope import scope_prefix

_FORM: Final = "refold:form:"
_MOST_LATE: Final = 1_000
"""How many records wait for a store that fails; older ones are lost."""
AS_GIVEN: Final = "as given"
_SEVERAL: Final = "several"
"""Sent in several forms: it is not known which of them an answer was to."""
_NO_WORDS: Final = GAP
"""What is left of a message that was all thinking: providers reject empty ones."""
_RESULT_SHARE: Final = 0.1
"""Of a budget in tokens: what one result may take where nothing is ever folded later."""
_MOST_FORMS: Final = 10_000
"""How many requests are remembered, at about 200 bytes each: more than agents have in flight."""
_log: Final = logging.getLogger("refold.integrations")


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent last: the messages, and where they differ from those given."""

    messages: Sequence[Any] = ()
    length: int = 0
    """How many given messages it stands for; after the last fold, one for one."""
    changed: tuple[tuple[int, str], ...] = ()
    """The places that differ from what was given, with a digest of what is there."""

    @property
    def form(self) -> str:
        """A digest of how it differs from what was given."""
        return digest(self.changed) if self.changed else AS_GIVEN

    def back_to(self, length: int) -> Sent:
        """Return what was sent of the first *length* messages; no fold joins later ones to them."""
        gone = max(0, self.length - length)
        messages = self.messages[: len(self.messages) - gone]
        changed = tuple(entry for entry in self.changed if entry[0] < len(messages))
        return Sent(messages, self.length - gone, changed)

    def followed_by(self, new: Sequence[Any], given: Sequence[Any]) -> Sent:
        """Return what was sent with *new* messages after it, which stand for those *given*."""
        start = len(self.messages)
        pairs = enumerate(zip(new, given, strict=True), start)
        changed = [(place, digest_of(one)) for place, (one, other) in pairs if one is not other]
        length = self.length + len(given)
        return Sent([*self.messages, *new], length, (*self.changed, *changed))


class SentForms:
    """In which form conversations were last sent by this process, by beginning."""

    def __init__(self) -> None:
        self._forms: OrderedDict[bytes, str] = OrderedDict()

    def note(self, beginning: bytes, form: str) -> None:
        """Remember in which form a conversation with exactly this *beginning* was sent."""
        is_other = self._forms.get(beginning, form) != form
        self._forms[beginning] = _SEVERAL if is_other else form
        self._forms.move_to_end(beginning)
        if len(self._forms) > _MOST_FORMS:
            self._forms.popitem(last=False)

    def get(self, beginning: bytes) -> str | None:
        """Return the form; `None` if none is remembered."""
        return self._forms.get(beginning)


class FormStore:
    """Records in the store, beside the originals, in which form a conversation was sent.

    Of what was never recorded it is not known who has sent it, and how.
    """

    def __init__(self, store: Store, conversation: str, in_memory: SentForms) -> None:
        """*conversation* is the framework's name for it, if it has one."""
        self._store = store
        self._in_memory = in_memory
        self._place = f"{scope_prefix(conversation) if conversation else ''}{_FORM}"
        self._late: dict[str, str] = {}
        """What was sent while the store failed, and is still to be recorded."""

    def note(self, beginning: bytes, form: str) -> None:
        """Record that a conversation with exactly this *beginning* is about to be sent like this.

        If another form is on record, an answer may be to either: that is recorded, too, and also
        where it cannot be read whether there is one.
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

    def find(self, beginnings: Sequence[bytes]) -> set[str | None]:
        """Return in which forms conversations with exactly these *beginnings* were sent.

        The store may know of another process; `None` is for those of which nothing is known. What
        this process could not record, and cannot look up now, another one may have sent as well.
        """
        keys = [self._key(beginning) for beginning in beginnings]
        try:
            known = self._store.get([*keys, *map(_other, keys)])
            unsure: Collection[str] = ()
        except StoreError:
            known, unsure = {}, self._late
        found: set[str | None] = set()
        for beginning, key in zip(beginnings, keys, strict=True):
            here = None if key in unsure else self._in_memory.get(beginning)
            there = _SEVERAL if _other(key) in known else known.get(key)
            found |= {here, there} - {None} or {None}
        return found

    def _known(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what the store has; nothing if it cannot be read."""
        try:
            return self._store.get(keys)
        except StoreError:
            return {}

    def _key(self, beginning: bytes) -> str:
        return f"{self._place}{beginning.hex()}"


def _other(key: str) -> str:
    """Return where it is recorded that what has this *key* was sent in several forms."""
    return f"{key}:other"


class Kind(NamedTuple):
    """What tells sessions apart whose messages begin in the same way."""

    conversation: str
    """The framework's name for it, if it has one."""
    model: str
    format: str


@dataclass(slots=True)
class TrackedSession:
    """One session, and the beginnings by which it is recognized; it only ever grows."""

    session: Session
    forms: FormStore
    conversation: str
    kind: Kind
    is_thinking_checked: bool
    """Whether the provider checks what thinking is bound to."""
    is_doubted: bool = False
    """Whether it is unknown what the thinking before the session's first view is bound to: these
    messages may have been sent in another form than the one given."""
    beginnings: list[bytes] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    only_on_arrival: bool = False
    """Whether results can only be shortened before they are first sent."""
    refused: int = 0
    """How many answers of a summarizer have been refused so far."""
    sent: Sent = field(default_factory=Sent)

    def is_prefix_of(self, beginnings: Sequence[bytes]) -> bool:
        """Return whether messages with these *beginnings* are the session's, or continue it."""
        length = len(self.beginnings)
        return length <= len(beginnings) and (
            not length or beginnings[length - 1] == self.beginnings[-1]
        )

    def fold(
        self, given: list[Any], beginnings: list[bytes], budget: int | str | None
    ) -> list[Any]:
        """Return what to send for the *given* history; what is new, unfolded if folding fails.

        What was sent before is sent again even then: thinking may be bound to it.
        """
        session, sent = self.session, self.sent
        try:
            if len(session) < sent.length:  # an earlier error kept it from being told what was sent
                session.extend(given[len(session) : sent.length])
                session.note_sent()
            session.extend(given[len(session) :])
            if self.only_on_arrival:
                most = int(_RESULT_SHARE * budget) if isinstance(budget, int) else None
                view = session.view(result_tokens=most)
            else:
                view = session.view(budget)
        except RefoldError as error:
            _log.error("what is new is sent as it is, not folded: %s", describe(error))
            new = given[sent.length :]
            is_doubted = self.is_doubted and not sent.length
            shown = without_thinking(new, self.kind.format) if is_doubted else new
            self.sent = sent.followed_by(shown, new)
            session.note_sent()
        else:
            shown = [
                message if place is None else given[place]
                for message, place in zip(view, session.unchanged, strict=True)
            ]
            places = enumerate(zip(session.wires, session.unchanged, strict=True))
            changed = tuple((n, digest(wire)) for n, (wire, place) in places if place is None)
            self.sent = Sent(shown, len(given), changed)
        finally:
            self.beginnings = beginnings[: max(len(session), self.sent.length)]
        if beginnings and self.is_thinking_checked:
            self.forms.note(beginnings[-1], self.sent.form)
        return list(self.sent.messages)

    def is_foreign(self, given: Sequence[Any], known: Sequence[bytes]) -> bool:
        """Return whether a model may have thought about other messages than this session has sent.

        *known* are the beginnings of the messages *given* that the session has seen.
        """
        if not self.is_thinking_checked:
            return False
        length = min(len(known), self.sent.length)
        asked = asked_before_thinking(given[length:], self.kind.format)
        if asked != [0] or not length:
            return bool(asked)
        return self.forms.find([known[length - 1]]) != {self.sent.back_to(length).form}

    def branch(self, length: int) -> TrackedSession | None:
        """Return a session that branches off after *length* messages; `None` if not worth it."""
        with self.lock:
            if self.session.folded_length > length or 2 * length < len(self.session):
                return None
            session, beginnings = self.session.fork(), self.beginnings[:length]
            sent = self.sent.back_to(length)
        session.truncate(length)
        return replace(
            self, session=session, beginnings=beginnings, lock=threading.Lock(), sent=sent
        )


def name_beginnings(messages: list[Any]) -> list[bytes]:
    """Return a name for each beginning of *messages*: equal beginnings, equal names.

    Only the content of a message counts: frameworks change other fields when they save and load it.
    """
    running = blake2b(digest_size=16)
    names: list[bytes] = []
    for wire in Objects().read(messages):
        running.update(digest(_content_of(wire)).encode())
        names.append(running.digest())
    return names


def _content_of(wire: Any) -> object:
    if not isinstance(wire, Mapping):
        return repr(type(wire))  # the session will say what is wrong
    _, read = read_message(wire) or (None, None)
    if read is None or not read.is_turn:
        return wire
    parts = [(part.text, part.call_id) for part in read.parts]
    calls = [(call.id, call.name, call.text) for call in read.calls]
    return [read.role, parts, calls, read.thinking, read.opaque, read.images]


def digest_of(message: Any) -> str:
    """Return a digest of a message, whether it is a mapping or an object."""
    return digest(Objects().read([message])[0])


def asked_before_thinking(messages: Sequence[Any], format_name: str) -> list[int]:
    """Return for each answer with thinking how many of *messages* it answered."""
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
    """Return *messages* without thinking; those that have none are the same objects."""
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
    """Read one message; `None` if that fails: the session will say what is wrong."""
    if not isinstance(wire, Mapping):
        return None
    format_ = recognize([wire]) if format_name == "auto" else find_format(format_name)
    try:
        return format_, format_.read(wire, "messages")
    except MessageError:
        return None
