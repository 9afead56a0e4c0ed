"""The texts of messages in any shape, and which of them are results of tools.

A message may be a dict, a dataclass, a pydantic model or any object with attributes; the formats
read it. In a record of a session file the message is the turn that it holds, and paths begin there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from refold.errors import MessageError
from refold.formats import Reader, Reading
from refold.formats.base import is_mapping, kind_of
from refold.formats.objects import as_data
from refold.model.call import Call
from refold.model.failure import is_failure_text
from refold.model.part import Part, ToolResult
from refold.model.wire import Path, place_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRef:
    """A text in a message, and where it stands."""

    index: int
    path: Path
    role: str
    text: str
    beside_calls: bool = False
    """Whether the same message makes tool calls: the text may be shortened, the calls never."""

    @property
    def place(self) -> str:
        """The spot for people: `messages[3].content[1].text`."""
        return place_of(self.index, self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultRef(TextRef):
    """A text that a tool returned."""

    tool: str = ""
    """The name of the tool, from the call that this answers; empty if nobody tells."""
    arguments: str = ""
    call_id: str = ""
    is_error: bool = False
    block: Path = ()
    """The result that this text is part of: texts with the same index and block are one result."""


def read_turns(messages: Sequence[object]) -> list[Reading]:
    """Read every message, or say what is wrong with the first that cannot be read."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Sequence):
        problem = f"must be a list of messages, got {type(messages).__name__}"
        raise MessageError(problem, "messages")
    reader = Reader()
    return [_read(reader, message, index) for index, message in enumerate(messages)]


def _read(reader: Reader, message: object, index: int) -> Reading:
    data = as_data(message, index)
    if not is_mapping(data):
        problem = f"must be a mapping or an object with a role, got {kind_of(message)}"
        raise MessageError(problem, place_of(index))
    return reader.read(data, index, reader.format_of(data))


def find_texts(messages: Sequence[object]) -> list[TextRef]:
    """Return all texts, in order; those that tools returned are `ToolResultRef`."""
    return texts_of(read_turns(messages))


def texts_of(turns: Sequence[Reading]) -> list[TextRef]:
    """Return the texts of *turns*, in order; those that tools returned are `ToolResultRef`."""
    return list(_texts_of(turns))


def _texts_of(turns: Sequence[Reading]) -> Iterator[TextRef]:
    calls: dict[str, Call] = {}
    for index, turn in enumerate(turns):
        calls.update((call.id, call) for call in turn.calls)  # an id used again is its latest call
        for part in turn.parts:
            if part.result is None:
                yield TextRef(
                    index=index,
                    path=part.path[turn.depth :],
                    role=turn.role,
                    text=part.text,
                    beside_calls=bool(turn.calls),
                )
            elif part.text:  # else a call was answered without a text
                call = calls.get(part.call_id or part.result.tool)
                yield _tool_text(index, turn, part, part.result, call)


def _tool_text(
    index: int, turn: Reading, part: Part, result: ToolResult, call: Call | None
) -> ToolResultRef:
    return ToolResultRef(
        index=index,
        path=part.path[turn.depth :],
        role=turn.role,
        text=part.text,
        tool=call.name if call else result.tool,
        arguments=call.spelled if call else "",
        call_id=part.call_id or "",
        is_error=result.has_failed or is_failure_text(part.text),
        block=result.path[turn.depth :],
    )
