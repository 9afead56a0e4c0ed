"""Replace old pictures and recordings by a line that says what they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from refold.formats import turn_of
from refold.model.message import Message
from refold.model.wire import clone
from refold.notation.marks import media
from refold.text.truncate import cut
from refold.window.rungs.base import Rung

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


RUNG: Final = Rung(name="evict_media", rewrite=evict_media)
