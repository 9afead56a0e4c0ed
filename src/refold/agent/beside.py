"""The short form of a message's content, kept beside it as `compressed_content`."""

from __future__ import annotations

from typing import Any, Final

from refold.agent.policy import FoundText
from refold.agent.shapes import get, set_field, with_text

_FIELD: Final = "compressed_content"
_CONTENTS: Final = ("content", "parts", "output")


def is_done(message: Any) -> bool:
    """Tell whether *message* has a short form already."""
    return get(message, _FIELD) is not None


def put_beside(message: Any, found: FoundText, short: str) -> None:
    """Put *short* into the short form of *message*; its content stays as it is."""
    name = str(found.path[0])
    so_far = get(message, _FIELD)
    whole = {name: get(message, name) if so_far is None else so_far}
    set_field(message, _FIELD, with_text(whole, found.path, short)[name])


def shown(message: Any) -> Any:
    """Return a copy of *message* as it is to be sent: the short form in the place of the long."""
    short = get(message, _FIELD)
    if not isinstance(message, dict):
        return message if short is None else with_text(message, ("content",), short)
    rest = {name: value for name, value in message.items() if name != _FIELD}
    if short is not None:
        rest[next(name for name in _CONTENTS if name in rest)] = short
    return rest
