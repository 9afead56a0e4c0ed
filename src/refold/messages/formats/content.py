"""The content of a message: a string, nothing, or a list of blocks of many known types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from refold.errors import MessageError
from refold.messages.formats.base import (
    add_media,
    add_text,
    check_call_id,
    check_mapping,
    is_mapping,
    kind_of,
)
from refold.messages.message import Call, MediaKind, Message, Part, ToolResult
from refold.messages.wire import CLASS_KEY, Path, spell, spot

Block = Mapping[str, Any]

TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text"})
_THOUGHTS: Final = {"thinking": "thinking", "redacted_thinking": "data"}
"""Blocks of what a model thought, and the field that costs tokens: signatures do not."""
_PAGE_BYTES: Final = 50_000
"""About a page of a document: it costs as much as a picture."""
_TALK_BYTES: Final = 2_000_000
"""About two minutes of a recording: they cost as much as a picture."""
_MEDIA: Final[Mapping[str, tuple[MediaKind, str, int]]] = {
    "image": ("image", "", 0),
    "image_url": ("image", "", 0),
    "input_image": ("image", "", 0),
    "input_audio": ("audio", "input_audio", _TALK_BYTES),
    "file": ("file", "file", _PAGE_BYTES),
    "input_file": ("file", "file", _PAGE_BYTES),
}
"""What such a block is, where its data are, and how many bytes of them count as a picture."""
_DATA_CHARS: Final = 2_000
"""A run of so many characters without a blank is data rather than text."""


def read_content(
    reading: Message, content: object, path: Path, place: str, *, result: ToolResult | None = None
) -> None:
    """Read what stands under `content`, wherever that is, into *reading*."""
    match content:
        case None:
            return
        case str():
            add_text(reading, content, path, place, result=result)
        case list():
            for number, block in enumerate(content):
                read_block(reading, block, (*path, number), place, result)
        case _:
            raise MessageError(
                f"must be a string, a list of parts or null, got {kind_of(content)}",
                spot(place, path),
            )


def read_block(
    reading: Message, block: object, path: Path, place: str, result: ToolResult | None
) -> None:
    """Read one block of a content, or say what is wrong with it."""
    block = check_mapping(block, "a content part", path, place)
    kind = block.get("type")
    if kind is None and "text" not in block:
        raise MessageError('a content part needs a "type"', spot(place, path))
    if kind is not None and not isinstance(kind, str):
        raise MessageError(f"must be a string, got {kind!r}", spot(place, (*path, "type")))
    if kind is None or kind in TEXT_TYPES:
        add_text(reading, block.get("text"), (*path, "text"), place, result=result)
    elif kind in _READERS:
        _READERS[kind](reading, block, path, place)
    elif kind in _MEDIA:
        media, key, bytes_each = _MEDIA[kind]
        pictures = _pictures(block.get(key, block), bytes_each) if bytes_each else 1
        add_media(reading, media, path, block, pictures)
    elif kind in _THOUGHTS:
        reading.thinking.append(dump(block.get(_THOUGHTS[kind]) or ""))
    elif kind == "refusal":
        reading.opaque.append(dump(block.get("refusal") or ""))
    elif kind.endswith("_tool_result"):
        read_server_result(reading, block, path)
    elif "thinking" in kind or "reasoning" in kind:
        count_unknown(reading, block, reading.thinking)
    else:
        count_unknown(reading, block, reading.opaque)


def dump(value: object) -> str:
    """Spell arguments the way a provider would count them."""
    return value if isinstance(value, str) else spell(value)


def read_tool_result(reading: Message, block: Block, path: Path, place: str) -> None:
    """Read a tool's answer; every text in it belongs to the call it answers."""
    result = ToolResult(check_call_id(block, "tool_use_id", path, place), block, path)
    known, path = len(reading.parts), (*path, "content")
    read_content(reading, block.get("content"), path, place, result=result)
    if len(reading.parts) == known:
        add_answer(reading, path, result)


def read_sdk_call(reading: Message, block: Block, path: Path, place: str) -> None:
    """Read a tool call as Vercel's AI SDK writes it."""
    id_, name = check_call_id(block, "toolCallId", path, place), str(block.get("toolName") or "")
    where = (*path, "input") if "input" in block else None
    reading.calls.append(Call(id_, name, block.get("input", ""), where))


def read_sdk_result(reading: Message, block: Block, path: Path, place: str) -> None:
    """Read what a tool returned: a text, data, or blocks, with its type beside it."""
    tool, output = str(block.get("toolName") or ""), block.get("output")
    result = ToolResult(check_call_id(block, "toolCallId", path, place), block, path, tool)
    value = output.get("value") if is_mapping(output) else None
    before, path = len(reading.parts), (*path, "output", "value")
    if isinstance(value, str) or (is_mapping(output) and output.get("type") == "content"):
        read_content(reading, value, path, place, result=result)
    else:
        add_fields(reading, value, path, result)
    if len(reading.parts) == before:
        add_answer(reading, path, result)


def add_answer(reading: Message, path: Path, result: ToolResult) -> None:
    """Note that a call is answered without a text, such as by a picture: as if by an empty one."""
    reading.parts.append(Part(path, "", result))


def add_fields(reading: Message, data: object, path: Path, result: ToolResult) -> None:
    """Add what a tool returned as an object: every field of it is a text that may be replaced.

    The object stays one, because providers want one; a field that is not text is spelled as JSON.
    """
    if not is_mapping(data) or CLASS_KEY in data:  # an object that is not a message stays one
        if data is not None:
            reading.opaque.append(dump(data))
        return
    for name, value in data.items():
        reading.parts.append(Part((*path, str(name)), dump(value), result))


def read_server_result(reading: Message, block: Block, path: Path) -> None:
    """Read what a tool of the provider returned, such as a search: it is counted, and stays."""
    reading.opaque.append(dump(block.get("content") or ""))
    result = ToolResult(str(block.get("tool_use_id") or ""), block, path)
    add_answer(reading, (*path, "content"), result)


def read_tool_use(reading: Message, block: Block, path: Path, place: str) -> None:
    """Read a tool call; one of the provider's own stays as it is."""
    id_, name = check_call_id(block, "id", path, place), str(block.get("name", ""))
    where = (*path, "input") if block.get("type") == "tool_use" else None
    reading.calls.append(Call(id_, name, block.get("input"), where))


def count_unknown(reading: Message, block: Block, texts: list[str]) -> None:
    """Count what a block of a type that we do not know says: it travels along, but not for free.

    What it says goes to *texts*, and what looks like data counts as pictures.
    """
    todo: list[object] = [value for key, value in block.items() if key not in ("type", CLASS_KEY)]
    while todo:
        item = todo.pop()
        if isinstance(item, Mapping):
            todo.extend(item.values())
        elif isinstance(item, list):
            todo.extend(item)
        elif isinstance(item, str):
            start = item[:_DATA_CHARS]
            if len(start) == _DATA_CHARS and start.isascii() and len(start.split()) == 1:
                reading.images += _pictures({"data": item}, _PAGE_BYTES)
            else:
                texts.append(item)


def _pictures(holder: object, bytes_each: int) -> int:
    """Return as how many pictures the data in *holder* count; as one if it has only an address."""
    held = holder if isinstance(holder, Mapping) else {}
    data = held.get("data") or held.get("file_data")
    size = len(data) * 3 // 4 if isinstance(data, str) else 0  # it is base64
    return max(1, -(-size // bytes_each))


def read_document(reading: Message, block: Block, path: Path, place: str) -> None:
    """Count the text of a document or search result; citations point into it, so it stays."""
    del path, place
    source = block.get("source")
    kind = source.get("type") if isinstance(source, Mapping) else None
    body = source.get("data") if isinstance(source, Mapping) else None
    if kind == "text" and isinstance(body, str):
        reading.opaque.append(body)
    elif kind in ("base64", "url", "file"):
        reading.images += _pictures(source, _PAGE_BYTES)
    for piece in (source, block):
        content = piece.get("content") if isinstance(piece, Mapping) else None
        if content:
            reading.opaque.append(dump(content))


_READERS: Final[Mapping[str, Callable[[Message, Block, Path, str], None]]] = {
    "tool_use": read_tool_use,
    "server_tool_use": read_tool_use,
    "mcp_tool_use": read_tool_use,
    "tool_result": read_tool_result,
    "mcp_tool_result": read_tool_result,
    "tool-call": read_sdk_call,
    "tool-result": read_sdk_result,
    "document": read_document,
    "search_result": read_document,
}
"""How other known blocks are read. A type that is nowhere here is counted and travels untouched."""
