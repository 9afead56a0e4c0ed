"""Clip long strings in the arguments of old, answered calls; the same keys, types and order."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from refold.formats import turn_of
from refold.formats.base import has_type
from refold.model.message import Message
from refold.model.wire import clone, spell
from refold.notation.marks import beginning
from refold.text.json_text import is_json
from refold.text.truncate import cut
from refold.window.rungs.base import Rung

_MAX_CHARS: Final = 400
"""Longer strings are clipped."""
_SHOWN_CHARS: Final = 120
_JSON_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"(\s*+:)?)?')
"""A string of JSON; with a colon behind it, a key. One without an end is not read twice."""


def clip_arguments(message: Message, handle: str) -> dict[str, Any] | None:
    """Clip the arguments of every call that *message* makes, if there is something to clip."""
    if not message.calls:
        return None
    wire: dict[str, Any] = clone(dict(message.wire))
    is_clipped = False
    for holder, name in _places(wire):
        short = _clipped(holder[name], handle)
        if short is not None:
            holder[name] = short
            is_clipped = True
    return wire if is_clipped else None


def _places(wire: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield where arguments stand: in calls of OpenAI's shapes and of Anthropic's."""
    turn = turn_of(wire)
    calls = turn.get("tool_calls")
    content = turn.get("content")
    for call in calls if isinstance(calls, list) else ():
        yield from _place(call, "function", "arguments")
        yield from _place(call, "custom", "input")
    yield from _place(turn, "function_call", "arguments")
    if has_type(turn, ("function_call",)) and "arguments" in turn:
        yield turn, "arguments"
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_use" and "input" in block:
            yield block, "input"


def _place(holder: object, inner: str, name: str) -> Iterator[tuple[dict[str, Any], str]]:
    found = holder.get(inner) if isinstance(holder, dict) else None
    if isinstance(found, dict) and name in found:
        yield found, name


def _clipped(arguments: object, handle: str) -> object:
    """Return *arguments* with its long strings clipped; `None` if it has none, or is no JSON."""
    if isinstance(arguments, str):
        short = _clip_json(arguments, handle) if is_json(arguments) else arguments
        return short if short != arguments else None
    if not isinstance(arguments, Mapping):
        return None
    text = spell(arguments)
    try:
        if json.loads(text) != arguments:  # holds what JSON does not have
            return None
        short = _clip_json(text, handle)
        return json.loads(short) if short != text else None
    except (ValueError, RecursionError):
        return None


def _clip_json(text: str, handle: str) -> str:
    """Clip the long strings of a JSON text; everything else stays as it is spelled."""

    def clip(found: re.Match[str]) -> str:
        spelled = found[0]
        if found[1] or len(spelled) <= _MAX_CHARS:
            return spelled
        value = json.loads(spelled, strict=False)
        tag = beginning(cut(value, _SHOWN_CHARS), handle)
        short = json.dumps(tag, ensure_ascii=spelled.isascii())
        return short if len(short) < len(spelled) else spelled

    return _JSON_STRING.sub(clip, text)


RUNG: Final = Rung(name="clip_arguments", rewrite=clip_arguments)
