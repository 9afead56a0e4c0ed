"""Find the texts of messages in any shape, and tell which of them are results of tools.

A message may be a dict, a dataclass, a pydantic model or any object with attributes. In a record of
a session file the message is the turn that it holds, and paths begin there.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final

from refold.agent.fields import ATOMS, get
from refold.agent.text_refs import TextRef, ToolCall, ToolResultRef
from refold.errors import MessageError
from refold.formats import turn_of
from refold.formats.base import keys_of
from refold.formats.content import TEXT_TYPES
from refold.formats.foreign import advise
from refold.model.failure import is_failure, is_failure_text
from refold.model.wire import Path, place_of, spell

_RESULT_TYPES: Final = frozenset(
    "tool_result tool_return mcp_tool_result function_call_output custom_tool_call_output "
    "local_shell_call_output shell_call_output apply_patch_call_output".split()
)
_TEXT_TYPES: Final = TEXT_TYPES | {"user_prompt"}
_CALL_TYPES: Final = frozenset(
    "tool_use server_tool_use mcp_tool_use tool_call function_call custom_tool_call "
    "local_shell_call shell_call apply_patch_call".split()
)
_RESULT_KEYS: Final = ("function_response", "functionResponse", "toolResult")
_CALL_KEYS: Final = ("function_call", "functionCall", "toolUse")
_ANSWERED_ID: Final = ("tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "call_id")
_NAMES: Final = ("name", "tool_name", "toolName")
_ARGUMENTS: Final = ("arguments", "args", "input", "action")
_BODIES: Final = ("content", "output", "response", "result")
_ROLES: Final = {
    "model": "assistant",
    "ai": "assistant",
    "response": "assistant",
    "human": "user",
    "request": "user",
}


def find_texts(messages: Sequence[object]) -> list[TextRef]:
    """Return all texts, in order; those that tools returned are `ToolResultRef`."""
    return find_texts_and_calls(messages)[0]


def find_texts_and_calls(messages: Sequence[object]) -> tuple[list[TextRef], list[ToolCall]]:
    """Return all texts and all tool calls, each in order."""
    calls = _Calls()
    readers = [_Reader(message, index, calls) for index, message in _numbered(messages)]
    texts = [found for reader in readers for found in reader.texts()]
    return texts, [call for reader in readers for call in reader.calls]


def find_calls(messages: Sequence[object]) -> list[ToolCall]:
    """Return the tool calls, in order."""
    return find_texts_and_calls(messages)[1]


def _numbered(messages: Sequence[object]) -> Iterator[tuple[int, object]]:
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        problem = f"must be a list of messages, got {type(messages).__name__}"
        raise MessageError(problem, "messages")
    for index, message in enumerate(messages):
        if isinstance(message, ATOMS):
            problem = f"must be a mapping or an object with a role, got {type(message).__name__}"
            raise MessageError(problem, place_of(index))
        turn = turn_of(message)
        if not _string(turn, "role", "type", "kind", *_ANSWERED_ID):
            raise MessageError(_unreadable(turn), place_of(index))
        yield index, turn


def _unreadable(turn: object) -> str:
    """Say of something that tells nobody whose words it holds what could be done about it."""
    kind = f"it has {keys_of(turn)}" if isinstance(turn, Mapping) else type(turn).__name__
    advice = advise(turn) or 'expected "system", "user", "assistant" or "tool"'
    return f'has no "role" ({kind}); {advice}'


def role_of(turn: object) -> str:
    """Return whose turn it is, in the words of most providers; a tool's result may have no role."""
    kind = _kind(turn)
    role = _string(turn, "role") or kind or _string(turn, "kind")
    return "tool" if kind in _RESULT_TYPES else _ROLES.get(role, role)


@dataclass(slots=True)
class _Calls:
    """The calls seen so far; an id that is used again means its latest call."""

    by_id: dict[str, ToolCall] = field(default_factory=dict)
    unnamed: dict[str, deque[ToolCall]] = field(default_factory=lambda: defaultdict(deque))
    """Calls without an id, by tool: answers come in the order of the calls."""

    def add(self, call: ToolCall) -> None:
        if call.id:
            self.by_id[call.id] = call
        else:
            self.unnamed[call.name].append(call)

    def answered(self, call_id: str, name: str) -> ToolCall:
        if call_id in self.by_id:
            return self.by_id[call_id]
        waiting = self.unnamed.get(name)
        call = waiting.popleft() if waiting else ToolCall(index=-1)
        return replace(call, id=call_id, name=call.name or name)


class _Reader:
    """Reads one message."""

    def __init__(self, message: object, index: int, calls: _Calls) -> None:
        self._message = message
        self._index = index
        self._calls = calls
        self._role = role_of(message)
        self.calls = tuple(self._read_calls())

    def _read_calls(self) -> Iterator[ToolCall]:
        blocks = _items(_body(self._message, ("content", "parts"))[1])
        for name in ("tool_calls", "toolCalls"):
            yield from map(self._read_call, _items(get(self._message, name)))
        for node in (self._message, *blocks):
            if _kind(node) in _CALL_TYPES:
                yield self._read_call(node)
            inner = (get(node, name) for name in _CALL_KEYS)
            yield from (self._read_call(call) for call in inner if not isinstance(call, ATOMS))

    def _read_call(self, node: object) -> ToolCall:
        inner = get(node, "function") or get(node, "custom") or node
        _, arguments = _body(inner, _ARGUMENTS)
        return ToolCall(
            index=self._index,
            id=_string(node, *_ANSWERED_ID, "id"),
            name=_string(inner, *_NAMES),
            arguments="" if arguments is None else _spell(arguments),
        )

    def texts(self) -> Iterator[TextRef]:
        """Yield the texts of the message; tool results know the calls made so far."""
        for call in self.calls:
            self._calls.add(call)
        if _kind(self._message) in _CALL_TYPES:
            return
        names = ("content", "parts", "output") if self._role == "tool" else ("content", "parts")
        name, content = _body(self._message, names)
        blocks = _items(content)
        if any(_result_in(block) is not None for block in blocks):
            yield from self._blocks(blocks, (name,))
        elif self._role in ("tool", "function") or _string(self._message, *_ANSWERED_ID):
            yield from self._result(self._message, content, (name,), ())
        elif isinstance(content, str):
            yield self._plain(content, (name,))
        else:
            yield from self._blocks(blocks, (name,))

    def _plain(self, text: str, path: Path) -> TextRef:
        is_beside = bool(self.calls)
        return TextRef(
            index=self._index, path=path, role=self._role, text=text, beside_calls=is_beside
        )

    def _blocks(self, blocks: Sequence[object], path: Path) -> Iterator[TextRef]:
        for number, block in enumerate(blocks):
            spot = (*path, number)
            if (inner := _result_in(block)) is not None:
                here = (*spot, *inner)
                node = get(block, inner[0]) if inner else block
                name, body = _body(node, _BODIES)
                yield from self._result(node, body, (*here, name), here)
            else:
                yield from (self._plain(text, where) for where, text in _block_texts(block, spot))

    def _result(
        self, node: object, body: object, path: Path, block: Path
    ) -> Iterator[ToolResultRef]:
        # A message's own id is not the id of its call.
        call_id = _string(node, *_ANSWERED_ID, *(("id",) if block else ()))
        call = self._calls.answered(call_id, _string(node, *_NAMES))
        is_error = is_failure(node, get) or is_failure(body, get)
        for where, text, is_data in _result_texts(body, path):
            yield ToolResultRef(
                index=self._index,
                path=where,
                role=self._role,
                text=text,
                tool=call.name or _string(node, *_NAMES),
                arguments=call.arguments,
                call_id=call_id,
                is_error=is_error or is_failure_text(text),
                is_data=is_data,
                block=block,
            )


def _result_in(block: object) -> tuple[str, ...] | None:
    """Return the path to the tool result that *block* is or holds, if any."""
    if _kind(block) in _RESULT_TYPES:
        return ()
    return next(((name,) for name in _RESULT_KEYS if get(block, name) is not None), None)


def _result_texts(body: object, path: Path) -> Iterator[tuple[Path, str, bool]]:
    """Yield place, text and whether it is data, for everything that a tool returned."""
    if isinstance(body, str):
        yield path, body, False
    elif isinstance(body, list | tuple):
        for number, block in enumerate(body):
            spot = (*path, number)
            yield from ((where, text, False) for where, text in _block_texts(block, spot))
            yield from _data(block, spot, ("stdout", "stderr", "json"))
    elif _kind(body) and get(body, "value") is not None:
        yield from _result_texts(get(body, "value"), (*path, "value"))
    elif isinstance(body, Mapping) and not _kind(body):
        yield from _data(body, path, [name for name in body if isinstance(name, str)])


def _data(holder: object, path: Path, names: Sequence[str]) -> Iterator[tuple[Path, str, bool]]:
    for name in names:
        value = get(holder, name)
        if isinstance(value, str):
            yield (*path, name), value, False
        elif isinstance(value, Mapping | list | tuple):
            yield (*path, name), _spell(value), True


def _block_texts(block: object, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the text of a text block; thoughts, media and what is unknown have none."""
    if isinstance(block, str):
        yield path, block
    elif (not (kind := _kind(block)) or kind in _TEXT_TYPES) and get(block, "thought") is not True:
        for name in ("text", "content"):
            text = get(block, name)
            if isinstance(text, str):
                yield (*path, name), text
                break


def _kind(node: object) -> str:
    return _string(node, "type", "part_kind").replace("-", "_")


def _string(node: object, *names: str) -> str:
    """Return the first of the named fields that is a string and not empty."""
    for name in names:
        value = get(node, name)
        value = value.value if isinstance(value, Enum) else value
        if isinstance(value, str) and value:
            return value
    return ""


def _body(node: object, names: Sequence[str]) -> tuple[str, object]:
    """Return the first of the named fields that is there."""
    found = ((name, get(node, name)) for name in names)
    return next((pair for pair in found if pair[1] is not None), (names[0], None))


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _spell(value: object) -> str:
    if isinstance(value, str):
        return value
    return spell(dict(value) if isinstance(value, Mapping) else value)
