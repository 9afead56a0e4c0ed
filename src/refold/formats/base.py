"""What a format is: a message shape that can be recognised and read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from refold.errors import MessageError
from refold.model.message import Part
from refold.model.wire import Path


@dataclass(slots=True, kw_only=True)
class Reading:
    """What was read from one message; filled while its content is walked."""

    role: str
    id: str | None = None
    parts: list[Part] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)
    images: int = 0
    calls: list[str] = field(default_factory=list)
    binds_next: bool = False
    is_turn: bool = True
    """False for records of a session file that are never sent to a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One message shape.

    `marks` tells whether a message can only be of this shape; `read` takes a message and the place
    to name in errors.
    """

    name: str
    marks: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any], str], Reading]
    write: Callable[[Mapping[str, Any], str], dict[str, Any]] | None = None
    """Writes a message of the assistant with the given text, in the place of the given one."""
    is_file: bool = False
    """Whether this is the record shape of a session file rather than of a provider."""


def read_role(message: Mapping[str, Any], place: str) -> str:
    """Return the role, or say what is wrong with it."""
    role = message.get("role")
    if role is None:
        raise MessageError('has no "role"; expected "system", "user", "assistant" or "tool"', place)
    if not isinstance(role, str) or not role:
        raise MessageError(f"must be a non-empty string, got {role!r}", f"{place}.role")
    return role


def read_id(message: Mapping[str, Any], place: str) -> str | None:
    """Return the caller's id, if there is one."""
    value = message.get("id")
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        raise MessageError(f"must be a non-empty string, got {value!r}", f"{place}.id")
    return value


def has_type(value: object, types: Collection[str]) -> bool:
    """Tell whether *value* is a mapping whose `type` is one of *types*."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    return isinstance(kind, str) and kind in types


def spot(place: str, path: Sequence[str | int]) -> str:
    """Extend a place by a path: `messages[3]` + `("content", 1)` → `messages[3].content[1]`."""
    return place + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def add_text(
    reading: Reading, text: object, path: Path, place: str, *, call_id: str | None = None
) -> None:
    """Add a replaceable text, or say that it is not one."""
    if not isinstance(text, str):
        raise MessageError(f"must be a string, got {type(text).__name__}", spot(place, path))
    reading.parts.append(Part(path=path, text=text, call_id=call_id))
