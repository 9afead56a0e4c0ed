"""The field `compressed_content`: the short form of a message's content, beside the original.

In a record of a session file that is inside the turn, where the content is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from refold.agent.fields import get, set_field, with_value
from refold.agent.text_refs import TextRef
from refold.formats import turn_of, turn_path
from refold.model.wire import Path

_FIELD: Final = "compressed_content"
_CONTENTS: Final = ("content", "parts", "output")


def read_short_form(message: Any, found: TextRef) -> str | None:
    """Return the short form of one text of *message*; `None` if it has none yet."""
    short = _short_form(turn_of(message))
    if short is None or isinstance(short, str):
        return short
    value = _walk(short, found.path[1:])
    return value if isinstance(value, str) and value != found.text else None


def write_short_form(message: Any, found: TextRef, short: str) -> None:
    """Put *short* into the short form of *message*; its content stays as it is."""
    turn = turn_of(message)
    name = str(found.path[0])
    so_far = _short_form(turn)
    whole = {name: get(turn, name) if so_far is None else so_far}
    set_field(turn, _FIELD, with_value(whole, found.path, short)[name])


def apply_short_form(message: Any) -> Any:
    """Return *message* as it is to be sent: a copy with the short form in the place of the long."""
    return with_value(message, turn_path(message), _apply(turn_of(message)))


def drop_short_form(message: Any) -> Any:
    """Return *message* as it was before a short form was put beside its content."""
    turn = turn_of(message)
    if not isinstance(turn, Mapping) or _FIELD not in turn:
        return message
    rest = {key: value for key, value in turn.items() if key != _FIELD}
    return with_value(message, turn_path(message), rest)


def has_short_form(message: Mapping[str, Any]) -> bool:
    """Tell whether *message* has a field for the short form, which no provider knows."""
    return _FIELD in turn_of(message)


def _apply(message: Any) -> Any:
    short = _short_form(message)
    if short is None and not isinstance(message, Mapping):
        return message
    named = [name for name in _CONTENTS if get(message, name) is not None]
    name = named[0] if named else _CONTENTS[0]
    if not isinstance(message, Mapping):
        return with_value(message, (name,), short)
    rest = {key: value for key, value in message.items() if key != _FIELD}
    return rest if short is None else {**rest, name: short}


def _short_form(message: Any) -> Any:
    """Return what stands beside the content; something empty is nothing."""
    return get(message, _FIELD) or None


def _walk(value: Any, path: Path) -> Any:
    """Return what stands at *path*, nothing if there is no such place."""
    for step in path:
        if isinstance(step, str):
            value = get(value, step)
        elif isinstance(value, list | tuple) and step < len(value):
            value = value[step]
        else:
            return None
    return value
