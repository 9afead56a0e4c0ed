"""Items of the OpenAI Responses API, one for each message, call or result; and files of Codex."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.errors import MessageError
from refold.messages.formats.base import (
    ONE_SHAPE,
    Format,
    add_text,
    check_role,
    has_type,
    is_tagged,
)
from refold.messages.formats.content import add_answer, count_unknown, dump, read_content
from refold.messages.message import Call, Message, ToolResult
from refold.messages.wire import Path, spot

Item = Mapping[str, Any]

_CALLS: Final = frozenset(
    "function_call custom_tool_call local_shell_call shell_call apply_patch_call computer_call "
    "tool_search_call program".split()
)
"""Calls that another item answers; neither goes without the other."""
_ARGUMENTS: Final = "arguments input action operation code actions".split()
"""Where the arguments of a call stand."""
_RESULTS: Final = frozenset(
    "function_call_output custom_tool_call_output local_shell_call_output shell_call_output "
    "apply_patch_call_output computer_call_output tool_search_output program_output".split()
)
_PAIRED: Final = ("function_call", "custom_tool_call")
"""How the types begin of calls and answers that must say what they belong to."""
_READ_BY_MODEL: Final = tuple(
    "action operation name arguments code queries output outputs results".split()
)
"""What a call of the provider's own may say, and what came of it: both are read by the model."""
_ENDINGS: Final = ("_call", "_call_output")
"""How the types of all other calls end, and of what came of them where that is another item."""
_FIXED: Final[Mapping[str, str]] = {
    "compaction": "assistant",
    "additional_tools": "developer",
    "mcp_list_tools": "developer",
}
"""Items that stay where they are whatever the budget, and whose they count as."""
_ALONE: Final = frozenset(
    {"reasoning", "item_reference", "compaction_trigger", "configuration_update"}
).union(_CALLS, _RESULTS, _FIXED)
"""Items that no other shape knows, besides those that end as above."""
_BLOCKS: Final = frozenset({"input_text", "output_text", "input_image", "input_file"})
"""Blocks of messages that no other shape has."""
_INSTRUCTIONS: Final = "# AGENTS.md instructions"
"""How the instructions of a project begin, which Codex sends in the user's name."""
_NEVER_ON_ITEMS: Final = ("tool_calls", "function_call", "tool_call_id", "parts", "blocks")
"""What messages of other shapes have: here, calls and answers are items by themselves."""
_SPEAKING: Final = frozenset({"content", "call_id", *_NEVER_ON_ITEMS})
"""What has one of these has a role or a type, unlike the head of an old session file."""
_SILENT: Final = frozenset({"id", "call_id", "status", "type"})


def _is_item(record: Item) -> bool:
    """Tell whether *record* is an item; a message may leave its `type` out, and mostly does."""
    if "type" not in record:
        return "role" in record
    return record["type"] == "message" or _is_alone(str(record["type"]))


def _is_alone(kind: str) -> bool:
    """Tell whether *kind* is that of an item which no other shape knows."""
    return kind in _ALONE or kind.endswith(_ENDINGS) or kind.startswith("mcp_")


def _matches(item: Item) -> bool:
    if "role" in item:
        content = item.get("content")
        return isinstance(content, list) and any(has_type(block, _BLOCKS) for block in content)
    return "type" in item and _is_alone(str(item["type"]))


def _read_item(item: Item, path: Path, place: str) -> Message:
    """Read an item that stands at *path* of what the caller gave."""
    kind = str(item.get("type", "message"))
    call_id = item.get("call_id")
    if kind.startswith(_PAIRED) and not isinstance(call_id, str):
        problem = f"a call and its result need an id, got {call_id!r}"
        raise MessageError(problem, spot(place, (*path, "call_id")))
    id_ = str(call_id or item.get("id") or "")
    if kind in _CALLS:
        reading = Message(role="assistant")
        field = next((name for name in _ARGUMENTS if item.get(name) is not None), "")
        where = (*path, field) if field and kind == "function_call" else None
        name = str(item.get("name", kind))
        reading.calls.append(Call(id_, name, item[field] if field else "", where))
    elif kind in _RESULTS:
        reading = Message(role="tool")
        name = "result" if kind == "program_output" else "output"
        result = ToolResult(id_, item, path)
        _read_output(reading, item.get(name), (*path, name), place, result)
        if kind == "tool_search_output":
            reading.opaque.append(dump(item.get("tools") or ""))
    elif kind == "mcp_approval_request":  # may a tool be called? it stays or goes with the answer
        reading = Message(role="assistant")
        name, arguments = str(item.get("name", kind)), item.get("arguments", "")
        reading.calls.append(Call(str(item.get("id") or ""), name, arguments))
    elif kind == "mcp_approval_response":
        reading = Message(role="tool")
        reading.opaque.append(dump(item.get("reason") or ""))
        result = ToolResult(str(item.get("approval_request_id") or ""), item, path)
        add_answer(reading, (*path, "reason"), result)
    elif kind in _FIXED:
        reading = Message(role=_FIXED[kind], is_fixed=True)
        rest = {name: value for name, value in item.items() if name not in _SILENT}
        count_unknown(reading, rest, reading.opaque)
    elif kind == "reasoning":
        reading = Message(role="assistant", binds_next=True)
        reading.thinking += [dump(item[name]) for name in ("summary", "content") if item.get(name)]
    elif kind == "message" or "role" in item:
        reading = Message(role=check_role(item.get("role"), item, place))
        alien = next((name for name in _NEVER_ON_ITEMS if item.get(name)), None)
        if alien is not None:
            problem = f'has "{alien}", and others here are items of the Responses API'
            raise MessageError(f"{problem}, which has none; {ONE_SHAPE}", place)
        read_content(reading, item.get("content"), (*path, "content"), place)
    elif not kind.endswith(_ENDINGS):  # it says nothing to a model, as far as we know
        reading = Message(role=kind, is_turn=False)
    else:
        reading = _read_other(item, kind, path)
    return reading


def _read_output(
    reading: Message, output: object, path: Path, place: str, result: ToolResult
) -> None:
    """Read an output: a string, blocks, what commands printed, or a mapping around one."""
    if isinstance(output, Mapping):
        if isinstance(output.get("content"), str):
            add_text(reading, output["content"], (*path, "content"), place, result=result)
        elif has_type(output, ("computer_screenshot",)):
            reading.images += 1
    elif isinstance(output, list) and any("type" not in dict(block) for block in output):
        for number, printed in enumerate(output):
            for name in ("stdout", "stderr"):
                if isinstance(printed.get(name), str):
                    where = (*path, number, name)
                    add_text(reading, printed[name], where, place, result=result)
    else:
        read_content(reading, output, path, place, result=result)
    if not reading.parts:
        add_answer(reading, path, result)


def _read_other(item: Item, kind: str, path: Path) -> Message:
    """Read a call of the provider's own, or what came of it: it is counted, and stays.

    One with a `call_id` is answered by another item, and neither goes without the other.
    """
    is_call = kind.endswith("_call")
    reading = Message(role="assistant" if is_call else "tool")
    reading.opaque += [dump(item[name]) for name in _READ_BY_MODEL if item.get(name)]
    if kind == "image_generation_call" and item.get("result"):
        reading.images += 1
    call_id = item.get("call_id")
    if isinstance(call_id, str) and is_call:
        reading.calls.append(Call(call_id, kind))
    elif isinstance(call_id, str):
        add_answer(reading, (*path, "output"), ToolResult(call_id, item, path))
    return reading


def _read(item: Item, place: str) -> Message:
    if "type" not in item and not _SPEAKING.isdisjoint(item):
        check_role(item.get("role"), item, place)
    if not _is_item(item):
        return Message(role=str(item.get("type", "")), is_turn=False)
    return _read_item(item, (), place)


def _write(items: Sequence[Item], text: str, role: str) -> dict[str, Any]:
    """Write a message; one of the assistant's with blocks would need an id of the API's."""
    del items
    return {"type": "message", "role": role, "content": text}


def _is_injected(message: Message) -> bool:
    """Tell whether it is a note of Codex on the project, the machine or the course of events."""
    return is_tagged(message) or any(p.text.startswith(_INSTRUCTIONS) for p in message.parts[:1])


RESPONSES: Final[Format] = Format(
    name="openai-responses",
    about="Items of the OpenAI Responses API: messages, reasoning, calls and what came of them.",
    keys=frozenset({"type"}),
    block_types=_BLOCKS,
    claims=_matches,
    read=_read,
    write=_write,
    is_lasting=True,
    is_injected=_is_injected,
)


# --- rollout files of Codex: such items in records ---------------------------------------------


def _item(record: Mapping[str, Any]) -> tuple[Mapping[str, Any], Path] | None:
    """Return the Responses item of a record and its path, if it has one; before, it was bare."""
    payload = record.get("payload")
    if record.get("type") == "response_item" and isinstance(payload, Mapping):
        return payload, ("payload",)
    return (record, ()) if "payload" not in record and _is_item(record) else None


def _is_record(record: Mapping[str, Any]) -> bool:
    return has_type(record, ("response_item", "session_meta")) and isinstance(
        record.get("payload"), Mapping
    )


def _read_record(record: Mapping[str, Any], place: str) -> Message:
    located = _item(record)
    if located is None:
        return Message(role=str(record.get("type", "")), is_turn=False)
    item, path = located
    return _read_item(item, path, place)


def _write_record(records: Sequence[Mapping[str, Any]], text: str, role: str) -> dict[str, Any]:
    record = records[0]
    kind = "output_text" if role == "assistant" else "input_text"
    item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    if "payload" not in record:
        return item
    head = {name: value for name, value in record.items() if name in ("timestamp", "type")}
    return {**head, "payload": item}


def _turn_path(record: Mapping[str, Any]) -> Path:
    located = _item(record)
    return () if located is None else located[1]


CODEX: Final[Format] = Format(
    name="codex",
    about="Rollout files of Codex: one record a line, a Responses item under `payload`.",
    keys=frozenset({"payload"}),
    claims=_is_record,
    read=_read_record,
    write=_write_record,
    is_lasting=True,
    turn_path=_turn_path,
    is_injected=_is_injected,
)
