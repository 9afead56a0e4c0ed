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
BlockReader = Callable[[Message, Block, Path, str], None]

_PAGE_BYTES: Final = 50_000
"""About a page of a document: it costs as much as a picture."""
_DATA_CHARS: Final = 2_000
"""A run of so many characters without a blank is data rather than text."""
_TALK_BYTES: Final = 2_000_000
"""About two minutes of a recording: they cost as much as a picture."""


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
    elif kind in BLOCK_READERS:
        BLOCK_READERS[kind](reading, block, path, place)
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
    call = block.get("tool_use_id")
    if not isinstance(call, str) or not call:
        raise MessageError(
            f"a tool result needs the id of its call, got {call!r}",
            spot(place, (*path, "tool_use_id")),
        )
    known = len(reading.parts)
    result = ToolResult(call, block, path)
    read_content(reading, block.get("content"), (*path, "content"), place, result=result)
    if len(reading.parts) == known:
        add_answer(reading, (*path, "content"), result)


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

    The object stays one, because providers want one; a field that is no text is spelled as JSON.
    """
    if not is_mapping(data) or CLASS_KEY in data:  # an object that is no message stays one
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
    """Read a tool call: its name and arguments cost tokens and are never touched."""
    call = block.get("id")
    if not isinstance(call, str) or not call:
        raise MessageError(f"a tool call needs an id, got {call!r}", spot(place, (*path, "id")))
    is_own = block.get("type") == "tool_use"  # a call of the provider's own stays as it is
    where = (*path, "input") if is_own else None
    reading.calls.append(Call(call, str(block.get("name", "")), block.get("input"), where))


def read_unchanged(key: str, *, is_thinking: bool = False) -> BlockReader:
    """Make a reader for a text that is counted and stays: a refusal, or what a model thought."""

    def read(reading: Message, block: Block, path: Path, place: str) -> None:
        del path, place
        texts = reading.thinking if is_thinking else reading.opaque
        texts.append(dump(block.get(key) or ""))

    return read


def read_image(reading: Message, block: Block, path: Path, place: str) -> None:
    """Read a picture."""
    del place
    add_media(reading, "image", path, block)


def read_data(key: str, kind: MediaKind, bytes_each: int) -> BlockReader:
    """Make a reader for what is neither text nor picture.

    It counts as one picture for every *bytes_each* begun, and as one if only its address is given.
    """

    def read(reading: Message, block: Block, path: Path, place: str) -> None:
        del place
        add_media(reading, kind, path, block, _pictures(block.get(key, block), bytes_each))

    return read


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
    data = None
    if isinstance(holder, Mapping):
        data = holder.get("data") or holder.get("file_data")
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


TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text"})

BLOCK_READERS: Final[Mapping[str, BlockReader]] = {
    "tool_use": read_tool_use,
    "server_tool_use": read_tool_use,
    "mcp_tool_use": read_tool_use,
    "tool_result": read_tool_result,
    "tool-call": read_sdk_call,
    "tool-result": read_sdk_result,
    "mcp_tool_result": read_tool_result,
    "thinking": read_unchanged("thinking", is_thinking=True),
    "redacted_thinking": read_unchanged("data", is_thinking=True),
    "refusal": read_unchanged("refusal"),
    "document": read_document,
    "search_result": read_document,
    "image": read_image,
    "image_url": read_image,
    "input_image": read_image,
    "input_audio": read_data("input_audio", "audio", _TALK_BYTES),
    "file": read_data("file", "file", _PAGE_BYTES),
    "input_file": read_data("input_file", "file", _PAGE_BYTES),
}
"""How each known block is read. A type that is not here is counted and travels untouched."""
