"""Shorten one message in ways that no plan of the engine does: its pictures, and what it calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from refold.fold.write import clip
from refold.messages.foreign import note_provenance
from refold.messages.formats import Loader, find_format
from refold.messages.handles import behind_of, handle_of
from refold.messages.manifest import read_said
from refold.messages.message import Message
from refold.messages.wire import clone_with
from refold.notation.marks import media
from refold.scan.truncate import cut

Rung = Callable[[Message, str], dict[str, Any] | None]
"""From a message and the handle to show in it, if any, to what it becomes; `None` if nothing in it
can be written shorter. May only return marked texts where there is a handle to show."""

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
        one.path: write(one.block, media(one.kind, _describe(one.block), handle))
        for one in message.media
    }
    return clone_with(message.wire, lines)


def _describe(block: Mapping[str, Any]) -> str:
    """Say what can be said of a block: its name, its type, its size, its address."""
    inner = [block[name] for name in _HOLDERS if isinstance(block.get(name), Mapping)]
    holder = inner[0] if inner else block
    facts = [holder[name] for name in _NAMES if isinstance(holder.get(name), str)]
    facts += [_address(data) for data in map(holder.get, _DATA) if isinstance(data, str)]
    return ", ".join(facts) or "no more is known"


def _address(data: str) -> str:
    """Return an address as it is, and of data written into the message its type and size."""
    if data.startswith(("http://", "https://", "file:", "gs://", "s3://")):
        return cut(data, _MAX_URL_CHARS)
    head, comma, body = data.partition(",")
    is_url = bool(comma) and head.startswith("data:")
    kind = head.removeprefix("data:").partition(";")[0] if is_url else ""
    size = f"{len(body if is_url else data) * 3 // 4} bytes"
    return f"{kind}, {size}" if kind else size


def clip_arguments(message: Message, handle: str) -> dict[str, Any] | None:
    """Cut the long arguments of every call that *message* makes, if there is something to cut."""
    if message.is_fixed:
        return None
    clipped = (clip(call, handle) for call in message.calls)
    changed = {call.path: call.given for call in clipped if call is not None and call.path}
    return clone_with(message.wire, changed) if changed else None


RUNGS: Final[Mapping[str, Rung]] = {"evict_media": evict_media, "clip_arguments": clip_arguments}
"""Every rung by the name of its step, the gentlest first."""


def shorten(rung: Rung, message: Message, original: Message, version: int) -> Message | None:
    """Return what stands for the *original* once a rung was taken on how it is now.

    `None` if there is nothing to write shorter, or if it could not be recognized as a stand-in.
    """
    wire = rung(message, handle_of((original,)))
    if wire is None:
        return None
    behind = behind_of((original,))
    note_provenance(wire, behind, version, (original,))
    loaded = Loader(original.format).load(wire, original.index)
    if not read_said(wire, loaded).is_marked:
        return None
    return loaded.changed(id=original.id, stands_for=behind)
