"""Tool calls as digests show them: the tool and its short arguments first, long ones below.

Arguments are JSON with escaped line breaks. A digest shows them as lines, so that a call can be cut
between lines, and its first line says what was done even if nothing else of it is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from refold.files import effects_of, may_change
from refold.messages.failure import is_failure_text
from refold.messages.message import Call, Message
from refold.notation.marks import GAP
from refold.notation.recognize import read_argument

_SHORT: Final = 120
"""Arguments of up to so many characters stand on the first line, beside the tool's name."""
_FIRST_LINE: Final = 300
"""Characters of the first line; arguments that do not fit stand below."""

_DEPTH: Final = 20
"""The deepest nesting of arguments that is shown."""
_SHORT_NAME: Final = 60
"""A longer word is hardly the name of a file."""
_SHORT_SUBJECT: Final = 30
"""Characters of a subject: a longer one would say more than what a call was about. A guess."""
_FILES: Final = 2
"""So many of the files that a call writes are named right after the tool."""


class SpelledCalls(NamedTuple):
    """The calls of a message as lines."""

    text: str
    heads: tuple[tuple[int, bool], ...]
    """Where each call begins, and whether it may have changed something."""


def spell_calls(calls: Sequence[Call], failed: Sequence[bool]) -> SpelledCalls:
    """Write *calls* as lines; *failed* says which of them failed."""
    texts: list[str] = []
    heads: list[tuple[int, bool]] = []
    size = 0
    for call, has_failed in zip(calls, failed, strict=True):
        text = spell_call(call, has_failed=has_failed)
        heads.append((size, may_change(call)))
        texts.append(text)
        size += len(text) + 1
    return SpelledCalls("\n".join(texts), tuple(heads))


def spell_call(call: Call, *, has_failed: bool = False) -> str:
    r"""Write one call: `name key=value …` and, below, its long arguments.

    >>> spell_call(Call("c1", "edit", {"path": "a.py", "new": "x = 1\ny = 2"}))
    'edit path=a.py\nnew:\nx = 1\ny = 2'
    """
    said, below = _lay_out(_arguments(call))
    if below and not said:  # there is no short argument that says what it was about
        key, _, value = below[0].partition(":\n")
        said.append(_begin(f"{key}={value.lstrip()}" if value else key))
    head = [call.name, *dict.fromkeys(_files_beside(call, said)), *said]
    if has_failed:
        head.append("(failed)")
    return "\n".join([" ".join(head), *below])


def _lay_out(
    arguments: Iterable[tuple[str, object]], depth: int = 0
) -> tuple[list[str], list[str]]:
    """Return what stands on one line, and below it what is long or has parts."""
    said: list[str] = []
    below: list[str] = []
    room = _FIRST_LINE
    for key, value in arguments:
        text = _spell(value, depth)
        short = f"{key}={text}" if key else text
        if not _has_parts(value) and "\n" not in text and len(text) <= _SHORT and len(short) < room:
            said.append(short)
            room -= len(short) + 1
        else:
            below.append(f"{key}:\n{text}" if key else text)
    return said, below


def _files_beside(call: Call, said: Sequence[str]) -> list[str]:
    """Return the files that *call* writes and that are not *said* yet, as the call names them."""
    found: list[str] = []
    told = call.text
    for path in effects_of(call).writes:
        spelled = path
        while spelled not in told and "/" in spelled:  # relative to the shell's directory
            spelled = spelled.partition("/")[2]
        if not any(spelled in short for short in said):
            found.append(spelled)
    return found[:_FILES]


def _begin(said: str) -> str:
    """Return the beginning of a long argument: its first line, cut between words."""
    line = said.lstrip().split("\n", 1)[0]
    if len(line) > _SHORT:
        line = line[:_SHORT].rsplit(" ", 1)[0]
    return f"{line} {GAP}"


def _arguments(call: Call) -> Iterator[tuple[str, object]]:
    """Yield the arguments of a call with their names; "" if they are no JSON object."""
    if call.arguments is not None:
        yield from call.arguments.items()
    elif call.spelled:
        yield "", call.spelled


def _has_parts(value: object) -> bool:
    """Tell whether *value* is written part by part, each on lines of its own."""
    if isinstance(value, list):
        return any(isinstance(item, dict | list) for item in value)
    return isinstance(value, dict)


def _spell(value: object, depth: int = 0) -> str:
    """Write a value without escapes: plain lists on one line, objects like calls."""
    if depth > _DEPTH:
        return GAP
    match value:
        case str():
            return read_argument(value)
        case dict():
            said, below = _lay_out(value.items(), depth + 1)
            return "\n".join([*([" ".join(said)] if said else []), *below])
        case list():
            between = "\n" if _has_parts(value) else ", "
            return between.join(_spell(item, depth + 1) for item in value)
        case bool() | None:
            return json.dumps(value)
    try:
        return str(value)
    except ValueError:  # an integer with more digits than Python prints
        return GAP


def subject_of(call: Call) -> str:
    """Return what *call* was about in a word or two; "" if that takes more.

    The file that its result shows, if it is one file, else its arguments, if they are short.

    >>> subject_of(Call("c1", "Read", {"file_path": "/w/src/setup.py", "limit": 9}))
    'setup.py'
    >>> subject_of(Call("c1", "get_order", {"order_id": "#W7463343"}))
    '#W7463343'
    """
    shown = effects_of(call).reads
    if len(shown) == 1:
        name = shown[0].rpartition("/")[2]
        if "." in name and len(name) <= _SHORT_NAME:
            return name
    values = [value for _, value in _arguments(call) if isinstance(value, str)]
    subject = " ".join(values)
    return subject if len(subject) <= _SHORT_SUBJECT and "\n" not in subject else ""


def find_failed(messages: Sequence[Message]) -> frozenset[str]:
    """Return the ids of the calls whose results report a failure."""
    failed: set[str] = set()
    for message in messages:
        for part in message.parts:
            has_failed = part.result is not None and part.result.has_failed
            if part.call_id and (has_failed or is_failure_text(part.text)):
                failed.add(part.call_id)
    return frozenset(failed)
