"""Chat messages of LlamaIndex, as objects or dumped: blocks named by `block_type`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.errors import MessageError
from refold.messages.formats.base import (
    Format,
    add_media,
    add_text,
    check_list_of,
    check_role,
    is_mapping,
)
from refold.messages.formats.chat import read_calls
from refold.messages.formats.content import add_answer, count_unknown
from refold.messages.message import Call, MediaKind, Message, ToolResult
from refold.messages.wire import CLASS_KEY, Path, spot

_CLASS: Final = "llama_index.core.base.llms.types:ChatMessage"
_TEXT_CLASS: Final = "llama_index.core.base.llms.types:TextBlock"
_ROLES: Final = {"model": "assistant", "chatbot": "assistant"}
_MEDIA: Final[Mapping[str, MediaKind]] = {"image": "image", "audio": "audio", "video": "video"}


def _read(message: Mapping[str, Any], place: str) -> Message:
    role = check_role(message.get("role"), message, place)
    reading = Message(role=_ROLES.get(role, role))
    beside = message.get("additional_kwargs")
    beside = beside if is_mapping(beside) else {}
    call_id = beside.get("tool_call_id")
    result = ToolResult(call_id, message) if isinstance(call_id, str) else None
    for block, path in check_list_of(message, "blocks", "block", "LlamaIndex's", place):
        _read_block(reading, block, path, place, result)
    if result and not reading.parts:
        add_answer(reading, ("blocks",), result)
    if not reading.calls:
        read_calls(reading, beside, place, ("additional_kwargs",))
    return reading


def _read_block(
    reading: Message, block: Mapping[str, Any], path: Path, place: str, result: ToolResult | None
) -> None:
    kind = block.get("block_type")
    if not isinstance(kind, str | None):
        raise MessageError(f"must be a string, got {kind!r}", spot(place, (*path, "block_type")))
    if kind == "text":
        add_text(reading, block.get("text"), (*path, "text"), place, result=result)
    elif kind == "tool_call":
        id_, name = str(block.get("tool_call_id") or ""), str(block.get("tool_name", ""))
        arguments = block.get("tool_kwargs") or {}
        where = (*path, "tool_kwargs") if arguments else None
        reading.calls.append(Call(id_, name, arguments, where))
    elif kind is not None and kind in _MEDIA:
        add_media(reading, _MEDIA[kind], path, block)
    elif kind == "document":
        reading.images += 1
    else:
        texts = reading.thinking if kind == "thinking" else reading.opaque
        count_unknown(reading, block, texts)


def _write_text(beside: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Write a block of text; an object if what it is *beside*, or in the place of, is one."""
    class_ = {CLASS_KEY: _TEXT_CLASS} if CLASS_KEY in beside else {}
    return {**class_, "block_type": "text", "text": text}


def _write(messages: Sequence[Mapping[str, Any]], text: str, role: str) -> dict[str, Any]:
    is_object = any(CLASS_KEY in message for message in messages)
    blocks = [{"block_type": "text", "text": text}]
    return {**({CLASS_KEY: _CLASS} if is_object else {}), "role": role, "blocks": blocks}


FORMAT: Final[Format] = Format(
    name="llama-index",
    keys=frozenset({"blocks"}),
    claims=lambda message: "role" in message and isinstance(message.get("blocks"), list),
    read=_read,
    write=_write,
    write_text=_write_text,
    blocks="blocks",
    is_thinking=lambda block: block.get("block_type") == "thinking",
    sides="user first",
)
