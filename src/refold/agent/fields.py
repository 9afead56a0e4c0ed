"""Read and change a field of a message, be it a mapping or an object with attributes."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

from refold.errors import MessageError
from refold.model.wire import Path

ATOMS: Final = (str, bytes, int, float, type(None), list, tuple)
"""What has no fields of its own."""


def get(message: object, name: str) -> Any:
    """Return a field of a mapping or an attribute of an object; `None` if there is none."""
    if type(message) is dict or isinstance(message, Mapping):  # a dict is found out fastest
        return message.get(name)
    return None if isinstance(message, ATOMS) else getattr(message, name, None)


def set_field(message: object, name: str, value: object) -> None:
    """Set a key of a mapping or an attribute of an object, or say why that cannot be."""
    try:
        if isinstance(message, MutableMapping):
            message[name] = value
        elif isinstance(message, (Mapping, *ATOMS)):
            raise TypeError("it cannot be changed")
        else:
            setattr(message, name, value)
    except Exception as error:  # a foreign setter may raise anything
        raise MessageError(
            f"{type(message).__name__} does not let {name!r} be set "
            f"({' '.join(str(error).split())[:200]}); pass a dict, a class that has this field, "
            "or in_place=False and send what view() returns"
        ) from error


def with_value(message: Any, path: Path, value: object) -> Any:
    """Return a copy of *message* with *value* at *path*; what does not change is shared."""
    if not path:
        return value
    step = path[0]
    if isinstance(step, int):
        items = list(message)
        items[step] = with_value(items[step], path[1:], value)
        return items
    changed = with_value(get(message, step), path[1:], value)
    if isinstance(message, Mapping):
        return {**message, step: changed}
    fresh = copy.copy(message)
    object.__setattr__(fresh, step, changed)  # a copy of our own, so it may be of a frozen class
    return fresh
