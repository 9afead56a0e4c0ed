"""Messages of Bedrock's Converse API: blocks without a type, each named by its only key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.errors import MessageError
from refold.messages.formats.base import (
    ONE_SHAPE,
    Format,
    add_media,
    add_text,
    check_call_id,
    check_list_of,
    check_mapping,
    check_role,
    is_mapping,
    write_untyped_text,
)
from refold.messages.formats.content import add_answer, add_fields, count_unknown, dump
from refold.messages.message import Call, MediaKind, Message, ToolResult
from refold.messages.wire import Path, spot

_BLOCKS: Final = frozenset(
    "text toolUse toolResult reasoningContent cachePoint image document video audio guardContent "
    "citationsContent searchResult".split()
)
_MEDIA: Final[tuple[MediaKind, ...]] = ("image", "video", "audio")


def _matches(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(
        is_mapping(block) and "type" not in block and not _BLOCKS.isdisjoint(block)
        for block in content
    )


def _read(message: Mapping[str, Any], place: str) -> Message:
    reading = Message(role=check_role(message.get("role"), message, place))
    for block, path in check_list_of(message, "content", "block", "Bedrock's", place):
        if "type" in block:
            problem = f'has a "type" ({block["type"]!r}), which no block of Converse has'
            raise MessageError(f"{problem}; {ONE_SHAPE}", spot(place, path))
        _read_block(reading, block, path, place)
    return reading


def _read_block(reading: Message, block: Mapping[str, Any], path: Path, place: str) -> None:
    use, result = block.get("toolUse"), block.get("toolResult")
    if block.get("text") is not None:
        add_text(reading, block["text"], (*path, "text"), place)
    elif is_mapping(use):
        id_ = check_call_id(use, "toolUseId", (*path, "toolUse"), place)
        name, where = str(use.get("name", "")), (*path, "toolUse", "input")
        reading.calls.append(Call(id_, name, use.get("input"), where))
    elif is_mapping(result):
        _read_result(reading, result, (*path, "toolResult"), place)
    elif "reasoningContent" in block:
        reading.thinking.append(_thought(block["reasoningContent"]))
    elif not _read_media(reading, block, path) and "cachePoint" not in block:
        count_unknown(reading, block, reading.opaque)


def _read_media(reading: Message, block: Mapping[str, Any], path: Path) -> bool:
    """Read a picture, recording or document, if *block* is one; citations count documents."""
    kind = next((kind for kind in _MEDIA if kind in block), None)
    if kind is not None:
        add_media(reading, kind, path, block)
    elif "document" in block:
        reading.images += 1
    return kind is not None or "document" in block


def _thought(reasoning: object) -> str:
    """Return what was thought; a signature costs nothing, and what is redacted nobody can count."""
    block = reasoning.get("reasoningText") if is_mapping(reasoning) else None
    return str(block.get("text") or "") if is_mapping(block) else ""


def _read_result(reading: Message, result: Mapping[str, Any], path: Path, place: str) -> None:
    """Read what a tool returned: its texts, and each field of its data, may be replaced."""
    tool_result = ToolResult(check_call_id(result, "toolUseId", path, place), result, path)
    before = len(reading.parts)
    content = result.get("content")
    for number, block in enumerate(content if isinstance(content, list) else ()):
        here = (*path, "content", number)
        check_mapping(block, "a block", here, place)
        if isinstance(block.get("text"), str):
            add_text(reading, block["text"], (*here, "text"), place, result=tool_result)
        elif "json" in block:
            add_fields(reading, block["json"], (*here, "json"), tool_result)
        elif not _read_media(reading, block, here):
            reading.opaque.append(dump(block))
    if len(reading.parts) == before:
        add_answer(reading, (*path, "content"), tool_result)


def _write(messages: Sequence[Mapping[str, Any]], text: str, role: str) -> dict[str, Any]:
    del messages
    return {"role": role, "content": [{"text": text}]}


FORMAT: Final[Format] = Format(
    name="bedrock",
    block_types=frozenset({""}),
    claims=_matches,
    read=_read,
    write=_write,
    write_text=write_untyped_text,
    is_thinking=lambda block: "reasoningContent" in block,
    sides="in turns",
)
