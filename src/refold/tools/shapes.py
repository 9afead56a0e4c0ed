"""The texts of messages in any shape, which of them are results of tools, and their short forms.

A message may be a dict, a dataclass, a pydantic model or any object with attributes; the formats
read it. In a record of a session file the message is the turn that it holds, and paths begin there.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from refold.errors import MessageError
from refold.messages.failure import is_failure_text
from refold.messages.formats import Loader, check_items, turn_of, turn_path
from refold.messages.formats.base import is_mapping, kind_of
from refold.messages.formats.objects import as_data
from refold.messages.message import Call, Message
from refold.messages.wire import Path, place_of

_FIELD: Final = "compressed_content"
"""The short form of a message's content, beside the original; in a record of a session file it is
inside the turn, where the content is."""
_CONTENTS: Final = ("content", "parts", "output")
_ATOMS: Final = (str, bytes, int, float, type(None), list, tuple)
"""Types without fields of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRef:
    """A text in a message, and where it stands."""

    index: int
    path: Path
    role: str
    text: str
    beside_calls: bool = False
    """Whether the same message makes tool calls: the text may be shortened, the calls never."""
    is_result: bool = False
    """Whether a tool returned it; what follows is of results only."""
    tool: str = ""
    """The name of the tool, from the call that this answers; empty if unknown."""
    arguments: str = ""
    call_id: str = ""
    is_error: bool = False
    block: Path = ()
    """The result that this text is part of: texts with the same index and block are one result."""

    @property
    def place(self) -> str:
        """The spot for people: `messages[3].content[1].text`."""
        return place_of(self.index, self.path)


def read_turns(messages: Sequence[object]) -> list[Message]:
    """Read every message, or say what is wrong with the first that cannot be read."""
    loader = Loader()
    turns: list[Message] = []
    for index, message in enumerate(check_items(messages)):
        data = as_data(message, index)
        if not is_mapping(data):
            problem = f"must be a mapping or an object with a role, got {kind_of(message)}"
            raise MessageError(problem, place_of(index))
        turns.append(loader.read(data, index))
    return turns


def find_texts(messages: Sequence[object]) -> list[TextRef]:
    """Return all texts, in order."""
    return texts_of(read_turns(messages))


def texts_of(turns: Sequence[Message]) -> list[TextRef]:
    """Return the texts of *turns*, in order."""
    calls: dict[str, Call] = {}
    texts: list[TextRef] = []
    for index, turn in enumerate(turns):
        calls.update((call.id, call) for call in turn.calls)  # an id used again is its latest call
        for part in turn.parts:
            result, about = part.result, dict[str, Any]()
            if result is not None:
                if not part.text:  # a call was answered without a text
                    continue
                call = calls.get(part.call_id or result.tool)
                about = {
                    "is_result": True,
                    "tool": call.name if call else result.tool,
                    "arguments": call.spelled if call else "",
                    "call_id": part.call_id or "",
                    "is_error": result.has_failed or is_failure_text(part.text),
                    "block": result.path[turn.depth :],
                }
            path, beside = part.path[turn.depth :], result is None and bool(turn.calls)
            ref = TextRef(
                index=index, path=path, role=turn.role, text=part.text, beside_calls=beside, **about
            )
            texts.append(ref)
    return texts


def read_short_form(message: Any, ref: TextRef) -> str | None:
    """Return the short form of one text of *message*; `None` if it has none yet."""
    value = _short_form(turn_of(message))
    if value is None or isinstance(value, str):
        return value
    for step in ref.path[1:]:
        if isinstance(step, str):
            value = get(value, step)
        elif isinstance(value, list | tuple) and step < len(value):
            value = value[step]
        else:
            return None
    return value if isinstance(value, str) and value != ref.text else None


def write_short_form(message: Any, ref: TextRef, short: str) -> None:
    """Put *short* into the short form of *message*; its content stays as it is."""
    turn = turn_of(message)
    name = str(ref.path[0])
    so_far = _short_form(turn)
    whole = {name: get(turn, name) if so_far is None else so_far}
    set_field(turn, _FIELD, with_value(whole, ref.path, short)[name])


def apply_short_form(message: Any) -> Any:
    """Return *message* as it is to be sent: a copy with the short form in the place of the long."""
    turn = turn_of(message)
    short = _short_form(turn)
    if isinstance(turn, Mapping):
        sent: Any = {key: value for key, value in turn.items() if key != _FIELD}
    elif short is not None:
        sent = turn
    else:
        return message
    if short is not None:
        name = next((name for name in _CONTENTS if get(turn, name) is not None), _CONTENTS[0])
        sent = with_value(sent, (name,), short)
    return with_value(message, turn_path(message), sent)


def drop_short_form(message: Any) -> Any:
    """Return *message* as it was without a short form beside its content; itself if it has none."""
    turn = turn_of(message)
    if not isinstance(turn, Mapping) or _FIELD not in turn:
        return message
    rest = {key: value for key, value in turn.items() if key != _FIELD}
    return with_value(message, turn_path(message), rest)


def _short_form(turn: Any) -> Any:
    """Return the short form beside the content; an empty one is none."""
    return get(turn, _FIELD) or None


def get(message: object, name: str) -> Any:
    """Return a field of a mapping or an attribute of an object; `None` if there is none."""
    if type(message) is dict or isinstance(message, Mapping):  # a dict is found out fastest
        return message.get(name)
    return None if isinstance(message, _ATOMS) else getattr(message, name, None)


def set_field(message: object, name: str, value: object) -> None:
    """Set a key of a mapping or an attribute of an object, or say why that cannot be."""
    try:
        if isinstance(message, MutableMapping):
            message[name] = value
        elif isinstance(message, (Mapping, *_ATOMS)):
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
