"""Message shapes: recognise a conversation's shape and read it into `Message` values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Final

from refold.errors import ConfigError, MessageError, describe
from refold.messages.formats import (
    bedrock,
    chat,
    claude_code,
    gemini,
    langchain,
    llama_index,
    openai_responses,
    pydantic_ai,
)
from refold.messages.formats.base import (
    Format,
    advise_list,
    is_mapping,
    is_note,
    kind_of,
)
from refold.messages.message import Message, Part
from refold.messages.wire import Path, digest, is_shallow, place_of
from refold.options import ROLES

FORMATS: Final[tuple[Format, ...]] = (
    claude_code.FORMAT,
    openai_responses.CODEX,
    openai_responses.RESPONSES,
    gemini.FORMAT,
    bedrock.FORMAT,
    langchain.FORMAT,
    pydantic_ai.FORMAT,
    llama_index.FORMAT,
    chat.AI_SDK,
    chat.OPENAI,
    chat.ANTHROPIC,
    chat.PLAIN,
)
"""Tried in this order; the last one reads anything with a role and content."""
_BY_KEY: Final[Mapping[str, Sequence[int]]] = {
    key: [place for place, format_ in enumerate(FORMATS) if key in format_.keys]
    for key in frozenset().union(*(format_.keys for format_ in FORMATS))
}
_BY_BLOCK: Final[Mapping[str, Sequence[int]]] = {
    kind: [place for place, format_ in enumerate(FORMATS) if kind in format_.block_types]
    for kind in frozenset().union(*(format_.block_types for format_ in FORMATS))
}
"""The places of the formats that have a message with such a key, or a block of such a type."""

RETRIEVAL_TOOLS: Final = ("retrieve_original", "refold_retrieve")
"""How the names of tools end that fetch originals back; hosts put their own before them."""
KNOWN_ROLES: Final = frozenset(ROLES)


def format_names() -> tuple[str, ...]:
    """Return the names that `format=` accepts besides `auto`."""
    return tuple(format_.name for format_ in FORMATS)


def find_format(name: str) -> Format:
    """Return the format called *name*."""
    for format_ in FORMATS:
        if format_.name == name:
            return format_
    raise ConfigError(f"format must be one of auto, {', '.join(format_names())}; got {name!r}")


def recognize(messages: Sequence[object]) -> Format:
    """Return the first format that some message can only belong to; plain if none does."""
    first = len(FORMATS) - 1
    for message in filter(is_mapping, messages):
        for place in _candidates(message):
            if place >= first or FORMATS[place].claims(message):
                first = min(first, place)
                break
    return FORMATS[first]


def _candidates(message: Mapping[str, Any]) -> Sequence[int]:
    """Return the places of the formats that *message* may be of, by its keys and blocks."""
    rows = [_BY_KEY[key] for key in message if key in _BY_KEY]
    content = message.get("content")
    if isinstance(content, list):
        types = [block.get("type", "") for block in content if is_mapping(block)]
        kinds = {kind for kind in types if isinstance(kind, str)}
        rows += [_BY_BLOCK[kind] for kind in kinds if kind in _BY_BLOCK]
    return rows[0] if len(rows) == 1 else sorted({place for places in rows for place in places})


def turn_path(record: object) -> Path:
    """Return where the turn stands in a record of a session file; `()` if *record* is the turn."""
    if is_mapping(record) and "type" in record:
        for place in _candidates(record):
            format_ = FORMATS[place]
            if format_.turn_path is not None and format_.claims(record):
                return format_.turn_path(record)
    return ()


def turn_of(record: Any) -> Any:
    """Return the turn in a record of a session file; what is no such record is the turn itself."""
    for step in turn_path(record):
        record = record[step]
    return record


def strip(message: dict[str, Any], format_name: str, note: str) -> None:
    """Take what a model thought out of a message of our own; a *note* may take its place."""
    format_ = find_format(format_name)
    assert format_.is_thinking is not None, "checked by the caller"
    rest = [block for block in message[format_.blocks] if not format_.is_thinking(block)]
    message[format_.blocks] = [*([format_.write_text(message, note)] if note else ()), *rest]


def find_task(turns: Sequence[Message]) -> Message:
    """Return the first of these turns of the user's that the user wrote; if none, the first."""
    is_injected = find_format(turns[0].format).is_injected
    for message in turns:
        if is_injected is not None and is_injected(message):
            continue
        if not all(is_note(part.text) for part in message.parts if part.text.strip()):
            return message
    return turns[0]


def load(
    messages: object, *, format_name: str = "auto", strict_roles: bool = False
) -> tuple[Message, ...]:
    """Read a conversation in any known shape, or say exactly what is wrong with it and where."""
    checked = check_list(messages)
    format_ = recognize(checked) if format_name == "auto" else find_format(format_name)
    loader = Loader(format_.name, strict_roles=strict_roles)
    return tuple(loader.load(raw, index) for index, raw in enumerate(checked))


class Loader:
    """Reads one message after the other, each in its shape, with an id that no other has."""

    def __init__(self, format_name: str = "auto", *, strict_roles: bool = False) -> None:
        self._format = None if format_name == "auto" else find_format(format_name)
        self._lasts_from: int | None = None
        """Where a message of a lasting shape was read: the rest is read as its kind."""
        self._retrievals: set[str] = set()
        """Ids of calls that fetch originals back."""
        self._strict_roles = strict_roles
        self._unclaimed: list[Message] = []
        """Messages with ids that we derived, until a message comes with an id of its own."""
        self._place_of_id: dict[str, int] = {}

    def rewind(self, index: int) -> None:
        """Go on at *index*: what was read there and after it did not become part of anything.

        Of what was read before it only the ids are remembered.
        """
        while self._unclaimed and self._unclaimed[-1].index >= index:
            self._unclaimed.pop()
        self._claim_derived()
        while self._place_of_id and next(reversed(self._place_of_id.values())) >= index:
            self._place_of_id.popitem()
        if self._lasts_from is not None and self._lasts_from >= index:
            self._format = self._lasts_from = None

    def copy(self) -> Loader:
        """Return an independent copy of this loader; it knows the ids that were given."""
        other = copy(self)
        other._retrievals = self._retrievals.copy()
        other._unclaimed = self._unclaimed.copy()
        other._place_of_id = self._place_of_id.copy()
        return other

    def read(self, wire: Mapping[str, Any], index: int) -> Message:
        """Read the message that stands at *index*; nobody asks for its id."""
        format_ = self._format or recognize([wire])
        message = format_.read(wire, place_of(index))
        message.index, message.wire, message.format = index, wire, format_.name
        self._keep_retrieved(message)
        if format_.turn_path is not None:
            message.depth = len(format_.turn_path(wire))
        if format_.is_lasting and self._format is None:
            self._lasts_from = index
            self._format = format_
        return message

    def load(self, raw: object, index: int) -> Message:
        """Read the message that stands at *index*, and claim its id."""
        wire = _check_message(raw, index)
        # What contains itself is found out first: no reader could end.
        known_digest = check_end(wire, index)
        message = self.read(wire, index)
        message.known_digest = known_digest
        if self._strict_roles and message.is_turn and message.role not in KNOWN_ROLES:
            known = ", ".join(sorted(KNOWN_ROLES))
            problem = f"unknown role {message.role!r}; known: {known}"
            raise MessageError(problem, place_of(index, ("role",)))
        if message.caller_id is None and not self._place_of_id:
            self._unclaimed.append(message)
            return message
        # Derived ids differ among themselves, by their index.
        self._claim_derived()
        earlier = self._place_of_id.setdefault(message.id, index)
        if earlier != index:
            problem = f"id {message.id!r} is already used by messages[{earlier}]"
            raise MessageError(f"{problem}; ids must be unique", place_of(index, ("id",)))
        return message

    def _claim_derived(self) -> None:
        self._place_of_id.update((message.id, message.index) for message in self._unclaimed)
        self._unclaimed.clear()

    def _keep_retrieved(self, message: Message) -> None:
        """Let what was fetched back stay as it is: a model that asked for it would ask again."""
        for call in message.calls:
            if call.name.endswith(RETRIEVAL_TOOLS):
                self._retrievals.add(call.id)
            else:  # some models number their calls anew in every turn
                self._retrievals.discard(call.id)
        if not self._retrievals:
            return
        for number, part in enumerate(message.parts):
            if part.call_id in self._retrievals:
                message.is_fixed = True
                message.opaque.append(part.text)
                message.parts[number] = Part(part.path, "", part.result)


def check_end(message: Mapping[str, Any], index: int) -> str | None:
    """Raise `MessageError` for a message that contains itself; return its digest if it took one."""
    if is_shallow(message):
        return None
    place = place_of(index)
    try:
        return digest(message)
    except ValueError as error:
        if "Circular" in str(error):
            raise MessageError("contains itself; a message must be plain data", place) from error
        raise MessageError(f"cannot be written as JSON: {describe(error)}", place) from error


def check_list(messages: object) -> Sequence[Mapping[str, Any]]:
    """Return *messages* if it is a list of mappings."""
    items = check_items(messages)
    for index, message in enumerate(items):
        _check_message(message, index)
    return items


def check_items(messages: object) -> Sequence[Any]:
    """Return *messages* if it is a list of anything."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        got = f"{type(messages).__name__}{advise_list(messages)}"
        raise MessageError(f"must be a list of messages, got {got}", "messages")
    return messages


def _check_message(message: object, index: int) -> Mapping[str, Any]:
    if is_mapping(message):
        return message
    raise MessageError(
        f"must be a mapping with a role and content, got {kind_of(message)}",
        f"messages[{index}]",
    )
