"""What to do about a message that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_STREAMED: Final = (".chunk", "_delta", ".delta", "_start", "_stop")
"""How the pieces of a stream are called: chunks of Chat Completions, events of other APIs."""
_ANSWERS: Final = {
    "choices": "choices[0].message",
    "candidates": "candidates[0].content",
    "output": "output",
}
"""Where an answer of an API has what was said."""
_REQUESTS: Final = ("messages", "contents", "input")


def advise(value: object) -> str:
    """Say how *value*, which is no message that we can read, becomes one; nothing if unknown."""
    if isinstance(value, Mapping):
        return _advise_mapping(value)
    return "convert it with its model_dump()" if hasattr(value, "model_dump") else ""


def _advise_mapping(value: Mapping[Any, Any]) -> str:
    if str(value.get("object") or value.get("type") or "").endswith(_STREAMED):
        return "this is a piece of a stream: put the whole message together first"
    place = next((place for key, place in _ANSWERS.items() if key in value), "")
    return f"this is an answer of an API: take its {place}" if place else ""


def advise_list(value: object) -> str:
    """Say where the messages are in *value*, which is no list of them; nothing if unknown."""
    if not isinstance(value, Mapping):
        return ""
    held = (key for key in _REQUESTS if isinstance(value.get(key), Sequence))
    place = next(held, "")
    return f"; this is a request: give its {place!r}" if place else ""
