"""Shorten what no plan of the engine does: pictures, and arguments of calls that must stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from refold.conversation.task import Task
from refold.messages.formats import Loader, find_format
from refold.messages.handles import carries_provenance, handle_of
from refold.messages.message import Message
from refold.messages.provenance import (
    inner_key,
    looks_folded,
    note_of,
    seal_key,
    seal_of,
)
from refold.messages.wire import clone_with
from refold.notation.marks import media
from refold.plan.blocks import find_blocks
from refold.plan.render import Rendering, attach, provenance_of
from refold.plan.rules import RunContext
from refold.plan.shorten.arguments import clip_calls
from refold.scan.truncate import cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One step of the ladder; works on old messages, one by one."""

    name: str
    rewrite: Callable[[Message, str], dict[str, Any] | None]
    """From a message and the handle to show in it, if any, to what it becomes; `None` if nothing
    in it can be written shorter. May only return marked texts where there is a handle to show."""


_HOLDERS: Final = (
    "source image_url input_audio file image audio video inlineData inline_data fileData file_data"
).split()
"""Where a block may keep what it holds, if not beside its type."""
_NAMES: Final = "filename file_id media_type mimeType mime_type format detail".split()
_DATA: Final = "url image_url file_url fileUri file_uri data file_data".split()
_MAX_URL_CHARS: Final = 100
"""Of a picture's address, to know it by."""


def evict_media(message: Message, handle: str) -> dict[str, Any] | None:
    """Replace the media in *message*, also those among the results of tools."""
    if not message.media:
        return None
    write = find_format(message.format).write_text
    lines = {
        found.path: write(found.block, media(found.kind, _describe(found.block), handle))
        for found in message.media
    }
    return clone_with(message.wire, lines)


def _describe(block: Mapping[str, Any]) -> str:
    """Say what can be said of a block: its name, its type, its size, its address."""
    inner = [block[name] for name in _HOLDERS if isinstance(block.get(name), Mapping)]
    holder = inner[0] if inner else block
    said = [holder[name] for name in _NAMES if isinstance(holder.get(name), str)]
    said += [_address(data) for data in map(holder.get, _DATA) if isinstance(data, str)]
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


def clip_arguments(message: Message, handle: str) -> dict[str, Any] | None:
    """Cut the long arguments of every call that *message* makes, if there is something to cut."""
    changed = {call.path: call.given for call in clip_calls(message, handle).values() if call.path}
    return clone_with(message.wire, changed) if changed else None


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
    excess = sum(map(tokens.message, shown)) - (task.target - task.anchor_room.get())
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


def stand_in(
    original: Message, wire: dict[str, Any], version: int, conversation: str | None = None
) -> Message | None:
    """Make the message that stands for *original* out of *wire*, which it takes over.

    `None` if it could not be recognized later as a stand-in: then it must not be made.
    """
    provenance = provenance_of((original,), version)
    link = ""
    if carries_provenance((original,)):
        attach(wire, provenance, conversation)
    elif looks_folded(wire):
        link = inner_key(wire, provenance)
    else:
        return None
    loaded = Loader(original.format).load(wire, original.index)
    return loaded.changed(id=original.id, provenance=provenance, link=link)


def keep_original(original: Message, shown: Message, rendering: Rendering, link: str = "") -> None:
    """Add to *rendering* what it takes to find *original* again behind *shown*.

    *link* is the key of what is shown in the view; what was folded since has one of its own.
    """
    rendering.keep(original)
    provenance = provenance_of((original,), rendering.version)
    if shown.link:
        rendering.link(link or shown.link, provenance)
    else:
        seal = seal_of(shown.wire, provenance, rendering.conversation)
        rendering.entries[seal_key(seal)] = note_of(provenance)
