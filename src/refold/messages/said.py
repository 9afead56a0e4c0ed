"""What a message says, by which a view is recognized: role, texts, calls and what they answer.

Metadata, names, media, thinking, marks of caches, unknown fields and the order of keys are not in
it, nor ids but those of tags that show no handle: so a view is still the same after a database or a
provider has had it. It is read from the message alone, whatever stands around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from refold.errors import MessageError
from refold.messages.formats import recognize
from refold.messages.formats.base import Reading
from refold.messages.message import Call, Message
from refold.messages.provenance import ID_KEY, METADATA_KEY, name
from refold.messages.wire import digest, digest_unordered, is_shallow, place_of, spell
from refold.notation.recognize import find_handles, has_tag

_INSTRUCTIONS: Final = ("system", "developer")
_SPOKEN: Final = (
    ("role", "assistant", "content"),
    ("role", "assistant", "blocks"),
    ("type", "ai", "content"),
    ("kind", "response", "parts"),
)
"""How the shapes whose thinking may be left out say that a model speaks, and where its blocks are:
those of providers and LangChain, LlamaIndex and pydantic-ai."""


class Said(NamedTuple):
    """What one message says."""

    key: str
    """A hash of its role, texts and calls."""
    is_instruction: bool
    """Whether it is a system prompt, which does not count where it opens a conversation."""
    is_marked: bool
    """Whether it reads like a stand-in."""
    may_be_stripped: bool
    """Whether thinking may have been left out of it: that shows no mark."""


def read_said(wire: Mapping[str, Any], message: Message | None = None, index: int = 0) -> Said:
    """Return what *wire* says; *message* is how it was read already, if it was.

    Raises `MessageError` for data that contains itself.
    """
    if message is None:
        _check_end(wire, index)
        return _read(wire, None)
    if message.said is None:
        message.said = _read(wire, message)
    said: Said = message.said
    return said


def _read(wire: Mapping[str, Any], message: Message | None) -> Said:
    format_ = recognize([wire])
    read: Message | Reading
    if message is not None and message.format == format_.name and not message.is_fixed:
        read = message
    else:
        try:
            read = format_.read(wire, "")
        except MessageError:  # no message of any shape: then all of it counts
            bare = {k: v for k, v in wire.items() if k not in (ID_KEY, METADATA_KEY)}
            return Said(name("all", digest_unordered(bare)), False, has_tag(spell(wire)), False)
    said = [read.role]
    for part in read.parts:
        if text := part.text.strip():
            said += ("text", text) if part.call_id is None else ("result", str(part.call_id), text)
    for call in read.calls:
        said += ("call", str(call.id), str(call.name), _canonical(call))
    texts = [*(part.text for part in read.parts), *(call.spelled for call in read.calls)]
    is_marked = any(map(has_tag, texts))
    if is_marked and not any(map(find_handles, texts)):
        said += ("id", str(wire.get(ID_KEY)))  # a tag without a handle may read like another one
    return Said(
        key=name("said", *said),
        is_instruction=read.role in _INSTRUCTIONS,
        is_marked=is_marked,
        may_be_stripped=any(
            wire.get(key) == value and isinstance(wire.get(blocks), list)
            for key, value, blocks in _SPOKEN
        ),
    )


def _check_end(wire: Mapping[str, Any], index: int) -> None:
    """Refuse what contains itself: no reader would come to its end."""
    if is_shallow(wire):
        return
    try:
        digest(wire)
    except ValueError as error:
        raise MessageError(
            "contains itself; a message must be plain data", place_of(index)
        ) from error


def _canonical(call: Call) -> str:
    """Spell arguments one way, whatever the order of their keys and the blanks between them."""
    if not call.spelled:
        return ""
    return call.spelled.strip() if call.arguments is None else digest_unordered(call.arguments)
