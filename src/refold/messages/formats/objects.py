"""Messages that are objects: they go in as data, and come out as the same objects or types.

SDKs and frameworks have classes for messages: pydantic models and dataclasses. Such an object is
read field by field, and its class is noted beside the fields, so that it can be made again from
what a store has kept. Nothing is imported but the module that a noted class comes from.
"""

from __future__ import annotations

import base64
import dataclasses
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from enum import Enum
from importlib import import_module
from typing import Any, Final, TypeVar

from refold.errors import MessageError
from refold.messages.wire import CLASS_KEY, digest

T = TypeVar("T")

_KINDS: Final = ("type", "role", "kind", "block_type", "part_kind")
"""Fields that identify an object: they are read even if not set."""
_USUAL: Final = ("role", "content", "parts", "tool_calls", "tool_call_id", "name")
"""Fields that a class may have as properties."""
_PLAIN: Final = frozenset({str, int, float, bool, type(None), dict, list})
_BYTES: Final = "bytes"
_TIME: Final = "datetime"
_DICT: Final = "dict"
_PACKAGES: Final = (
    "openai anthropic google.genai langchain_core pydantic_ai agno llama_index".split()
)
"""Packages that may be imported to make an object that a store has kept."""


class Objects:
    """The objects among the messages of one conversation, and what they were read as."""

    def __init__(self) -> None:
        self._by_digest: dict[str, list[object]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_digest)

    def copy(self) -> Objects:
        """Return an independent copy that knows the same objects."""
        other = Objects()
        other._by_digest = {name: held.copy() for name, held in self._by_digest.items()}
        return other

    def read(self, messages: Any) -> Any:
        """Return *messages* as data; the very list if there is no object among them.

        A generator is read to its end.
        """
        if isinstance(messages, Iterator):
            messages = list(messages)
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
            return messages  # reading reports what is wrong
        if not any(map(_may_hold_objects, messages)):
            return messages
        return [self.read_one(message, index) for index, message in enumerate(messages)]

    def read_one(self, message: Any, index: int) -> Any:
        """Return a message as data; itself if it is."""
        if not _may_hold_objects(message):
            return message
        try:
            reader = _Reader()
            wire = reader.read(message)
            if not reader.has_objects:
                return message
            self._by_digest.setdefault(digest(wire), []).append(message)
        except RecursionError as error:
            raise MessageError("is nested too deeply to be read", f"messages[{index}]") from error
        return wire

    def write(self, wires: Iterable[Any]) -> list[Any]:
        """Return messages as they were given, or as objects of the same types if they changed."""
        if not self._by_digest:
            return list(wires)
        times: Counter[str] = Counter()
        return [self._write_one(wire, times) for wire in wires]

    def give_back(self, result: T) -> T:
        """Return a *result* with its messages as they were given, or of the same types."""
        if not self._by_digest:
            return result
        held: Any = result
        fresh: T = dataclasses.replace(held, messages=self.write(held.messages))
        return fresh

    def revive(self, wires: Sequence[Any]) -> list[Any]:
        """Return messages that were kept as data as the objects that they were."""
        return [revive(wire) for wire in wires]

    def _write_one(self, wire: Any, times: Counter[str]) -> Any:
        name = digest(wire)
        same = self._by_digest.get(name)
        if same is None:
            return revive(wire)
        times[name] += 1
        return same[min(times[name], len(same)) - 1]


def _may_hold_objects(message: object) -> bool:
    """Tell cheaply whether *message* is an object, or one of its values or blocks may be."""
    if type(message) is not dict:
        return not isinstance(message, str | bytes | list | tuple | int | float | None)
    for value in message.values():
        if type(value) is list:
            if any(type(item) not in _PLAIN for item in value):
                return True
        elif type(value) not in _PLAIN:
            return True
    return False


def as_data(message: Any, index: int) -> Any:
    """Return a message as data, only to be read: whatever has attributes may be one."""
    if not _may_hold_objects(message):
        return message
    try:
        return _Reader(takes_any=True).read(message)
    except RecursionError as error:
        raise MessageError("is nested too deeply to be read", f"messages[{index}]") from error


class _Reader:
    """Reads a value; `has_objects` tells whether there was an object in it."""

    def __init__(self, *, takes_any: bool = False) -> None:
        self.has_objects = False
        self._takes_any = takes_any

    def read(self, value: Any) -> Any:
        """Return *value* as data that a store can keep; what is not a message's stays as it is."""
        if type(value) is str:
            return value
        if isinstance(value, Enum):
            return self.read(value.value)
        if isinstance(value, Mapping):
            fields = {name: self.read(item) for name, item in value.items()}
            return {CLASS_KEY: _DICT, "items": fields} if CLASS_KEY in fields else fields
        if isinstance(value, list | tuple):
            return [self.read(item) for item in value]
        if isinstance(value, bytes):
            return {CLASS_KEY: _BYTES, "base64": base64.b64encode(value).decode()}
        if isinstance(value, datetime):
            return {CLASS_KEY: _TIME, "iso": value.isoformat()}
        members = _fields_of(value)
        if members is None:
            bare = _attributes_of(value) if self._takes_any else None
            return value if bare is None else {name: self.read(item) for name, item in bare.items()}
        self.has_objects = True
        class_ = type(value)
        name = f"{class_.__module__}:{class_.__qualname__}"
        return {CLASS_KEY: name, **{key: self.read(item) for key, item in members.items()}}


def _fields_of(value: Any) -> dict[str, Any] | None:
    """Return the fields of an object that were set, or that identify it; `None` if none can."""
    class_ = type(value)
    known = getattr(class_, "model_fields", None)
    if isinstance(known, Mapping) and hasattr(class_, "model_validate"):
        fields = {name: getattr(value, name) for name in known}
        is_set = value.model_fields_set
        kept = {n: item for n, item in fields.items() if _is_specific(n, known[n], item, is_set)}
        return {**kept, **(getattr(value, "model_extra", None) or {})}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _attributes_of(value: object) -> dict[str, Any] | None:
    """Return what an object of any class has, by name; `None` if it has nothing."""
    slots = [name for class_ in type(value).__mro__ for name in getattr(class_, "__slots__", ())]
    names = [*getattr(value, "__dict__", ()), *slots, *_USUAL]
    public = [name for name in dict.fromkeys(names) if not name.startswith("_")]
    attributes = {name: getattr(value, name) for name in public if hasattr(value, name)}
    return {name: item for name, item in attributes.items() if not callable(item)} or None


def _is_specific(name: str, field: Any, value: object, is_set: Set[str]) -> bool:
    """Tell whether a field has a value that its class would not give to any other object as well.

    It may not have been set: an id or the time are made for each object.
    """
    is_made = getattr(field, "default_factory", None) is not None and bool(value)
    return name in is_set or name in _KINDS or is_made


def normalize(wire: dict[str, Any]) -> dict[str, Any]:
    """Return data of which an object is to be made as it will be read from that object."""
    if CLASS_KEY not in wire:
        return wire
    read: dict[str, Any] = _Reader().read(revive(wire))
    return read


def revive(wire: Any) -> Any:
    """Return what `Objects` has read, or what was written in its place, as objects again."""
    if isinstance(wire, list):
        return [revive(item) for item in wire]
    if not isinstance(wire, Mapping):
        return wire
    name = wire.get(CLASS_KEY)
    if name == _BYTES:
        return base64.b64decode(wire["base64"])
    if name == _TIME:
        return datetime.fromisoformat(wire["iso"])
    if name == _DICT:
        return {key: revive(item) for key, item in wire["items"].items()}
    fields = {key: revive(item) for key, item in wire.items() if key != CLASS_KEY}
    class_ = _find_class(name) if isinstance(name, str) else None
    return fields if class_ is None else _make(class_, fields)


def _find_class(name: str) -> Any:
    """Return the class of messages that is called so; `None` if there is none here."""
    module_name, _, qualname = name.partition(":")
    is_known = any(f"{module_name}.".startswith(f"{package}.") for package in _PACKAGES)
    try:
        target: Any = import_module(module_name) if is_known else sys.modules.get(module_name)
    except ImportError:
        return None
    for step in qualname.split("."):
        target = getattr(target, step, None)
    is_model = isinstance(target, type) and hasattr(target, "model_validate")
    return target if is_model or dataclasses.is_dataclass(target) else None


def _make(class_: Any, fields: dict[str, Any]) -> Any:
    """Make an object; what its class refuses, such as a message without its usage, is data."""
    try:
        if hasattr(class_, "model_validate"):
            return class_.model_validate(fields)
        taken = {field.name for field in dataclasses.fields(class_) if field.init}
        made = class_(**{name: value for name, value in fields.items() if name in taken})
        for name, value in fields.items():
            if name not in taken:
                object.__setattr__(made, name, value)
        return made
    except (TypeError, ValueError):  # pydantic's errors are ValueErrors
        return fields
