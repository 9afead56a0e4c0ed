"""What no plan of the engine shortens: pictures, and the arguments of calls that must stay."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from refold.budget.blocks import find_blocks
from refold.formats import turn_of
from refold.formats.base import has_type
from refold.model.handles import handle_of
from refold.model.message import Message
from refold.model.wire import clone, spell
from refold.notation.marks import beginning, media
from refold.stages import RunContext
from refold.text.json_text import is_json
from refold.text.truncate import cut
from refold.window.rewriting import stand_in
from refold.window.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One step of the ladder; works on old messages, one by one."""

    name: str
    rewrite: Callable[[Message, str], dict[str, Any] | None]
    """From a message and the handle to show in it, if any, to what it becomes; `None` if nothing
    in it can be written shorter. May only return marked texts where there is a handle to show."""


_KINDS: Final = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "file": "file",
    "input_file": "file",
}
"""Blocks that are replaced; documents are not, for citations count them."""
_MAX_URL_CHARS: Final = 100


def evict_media(message: Message, handle: str) -> dict[str, Any] | None:
    """Replace the media in *message*, also those among the results of tools."""
    wire: dict[str, Any] = clone(dict(message.wire))
    turn = turn_of(wire)
    outer = [_blocks(turn.get(name)) for name in ("content", "output")]
    inner = [_blocks(block.get("content")) for blocks in outer for block in blocks]
    found = 0
    for holder in (*outer, *inner):
        for number, block in enumerate(holder):
            kind = block.get("type")
            if isinstance(kind, str) and kind in _KINDS:
                holder[number] = _stub(block, kind, handle)
                found += 1
    return wire if found else None


def _blocks(content: object) -> list[dict[str, Any]]:
    is_list = isinstance(content, list) and all(isinstance(block, dict) for block in content)
    return content if is_list else []  # type: ignore[return-value]  # just looked


def _stub(block: Mapping[str, Any], kind: str, handle: str) -> dict[str, Any]:
    text = media(_KINDS[kind], _describe(block, kind), handle)
    rest = {"cache_control": block["cache_control"]} if "cache_control" in block else {}
    is_item = kind in ("input_image", "input_file")  # of the Responses API
    return {"type": "input_text" if is_item else "text", "text": text, **rest}


def _describe(block: Mapping[str, Any], kind: str) -> str:
    """Say what can be said of a block: its name, its type, its size, its address."""
    inner = block.get("source", block.get(kind))
    holder = inner if isinstance(inner, Mapping) else block
    names = ("filename", "file_id", "media_type", "format", "detail")
    said = [holder[name] for name in names if isinstance(holder.get(name), str)]
    datas = [holder.get(name) for name in ("url", "image_url", "file_url", "data", "file_data")]
    said += [_address(data) for data in datas if isinstance(data, str)]
    return ", ".join(said) or "no more is known"


def _address(data: str) -> str:
    """Return an address as it is, and of data written into the message its type and size."""
    if data.startswith(("http://", "https://", "file:", "gs://", "s3://")):
        return cut(data, _MAX_URL_CHARS)
    head, comma, body = data.partition(",")
    is_url = bool(comma) and head.startswith("data:")
    kind = head.removeprefix("data:").partition(";")[0] if is_url else ""
    size = f"{len(body if is_url else data) * 3 // 4} bytes"
    return f"{kind}, {size}" if kind else size


EVICT_MEDIA: Final = Rung(name="evict_media", rewrite=evict_media)


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


CLIP_ARGUMENTS: Final = Rung(name="clip_arguments", rewrite=clip_arguments)


RUNGS: Final[tuple[Rung, ...]] = (EVICT_MEDIA, CLIP_ARGUMENTS)
"""Every rung, the gentlest first."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A task after some of its messages were written shorter, and how that is undone."""

    task: Task
    originals: dict[int, Message]
    """Index of every message that is not as it was → as it was."""
    steps: tuple[str, ...]


def rewrite_old(task: Task) -> Rewritten:
    """Replace the pictures of old messages until the task's target is reached.

    The arguments of old calls are left alone: the engine knows better what of them is needed.
    """
    return _rewrite(task, (EVICT_MEDIA,), task.messages[: _border(task)])


def rewrite_all(task: Task) -> Rewritten:
    """Take rung after rung, the oldest messages first, until the task's target is reached."""
    return _rewrite(task, RUNGS, task.messages)


def _rewrite(task: Task, rungs: Sequence[Rung], messages: Sequence[Message]) -> Rewritten:
    """Write some of *messages* shorter, in order, as long as there is too much.

    What must stay is told by the messages as they were: a replaced picture no longer counts as the
    last question of the user.
    """
    stays, tokens = task.stays, task.text_cache.tokens
    changing = [message.index for message in messages if message.index not in stays]
    shown, originals = list(task.messages), dict[int, Message]()
    steps: dict[str, None] = {}
    excess = sum(map(tokens.message, shown)) - (task.target - task.anchor_room)
    for rung, index in _each(rungs, changing):
        if excess <= 0:
            break
        original = originals.get(index, shown[index])
        short = _shorten(rung, shown[index], original, task)
        saved = 0 if short is None else tokens.message(shown[index]) - tokens.message(short)
        if short is not None and saved > 0:
            shown[index], originals[index] = short, original
            steps[rung.name] = None
            excess -= saved
    return Rewritten(replace(task, messages=shown, pinned=stays), originals, tuple(steps))


def _each(rungs: Iterable[Rung], indices: Sequence[int]) -> Iterable[tuple[Rung, int]]:
    return ((rung, index) for rung in rungs for index in indices)


def _shorten(rung: Rung, shown: Message, original: Message, task: Task) -> Message | None:
    wire = rung.rewrite(shown, handle_of((original,)))
    if wire is None:
        return None
    engine = task.engine
    return stand_in(original, wire, engine.options.source_version, engine.conversation)


def _border(task: Task) -> int:
    """Return where what is not old begins: the recent messages, and the newest results.

    Results count with their calls, so that what the model has not seen yet is never old.
    """
    messages, options = task.messages, task.engine.options
    border = RunContext.of(messages, options, task.text_cache, options.recency_window).recent_from
    left = max(1, task.keep_results or 0)
    for block in reversed(find_blocks(messages)):
        count = sum(messages[index].is_tool_result for index in block)
        if count and left > 0:
            border = min(border, block[0])
            left -= count
    return border


__all__ = ["RUNGS", "Rewritten", "Rung", "rewrite_all", "rewrite_old"]
