"""The format protocol: a message shape that can be recognised and read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeGuard

from refold.errors import MessageError
from refold.lazy import regex
from refold.messages.message import Media, MediaKind, Message, Part, ToolResult
from refold.messages.wire import CLASS_KEY, Path, spot
from refold.notation.recognize import is_digest

ONE_SHAPE: Final = (
    "all messages of a conversation must have the same format: convert the others first"
)

Sides = Literal["any", "user first", "in turns"]
"""What a provider requires: nothing, that the user begins, or also that roles alternate."""
_STREAMED: Final = (".chunk", "_delta", ".delta", "_start", "_stop")
"""Endings of the type names of stream events: Chat Completions chunks, events of other APIs."""
_ANSWERS: Final = {
    "choices": "choices[0].message",
    "candidates": "candidates[0].content",
    "output": "output",
}
"""Where an answer of an API has what was said."""
_NOTE: Final = regex(
    r"\s*+(?:<(?:system-reminder|local-command|command-(?:name|message|args)|bash-(?:input|stdout"
    r"|stderr)|user-prompt-submit-hook|environment_context|user_instructions|turn_aborted|env\b)"
    r"|Caveat: The messages below|\[Request interrupted|/[a-z][\w-]{1,30}\s*+\Z"
    r"|/(?:clear|compact|exit|model|cost|help|undo|diff|add|drop|tokens|reset|config|login|init)\b"
    r"[^\n]{0,80}\Z"
    r"|This session is being continued from)"
)
"""How the notes begin that coding agents and chat programs put into the user's mouth."""
COMMAND_ARGUMENTS: Final = regex(r"<command-args>\s*+[^\s<]")
"""What a person gave a command of their own is theirs."""
CONVERSATION_KEYS: Final = ("messages", "contents", "input")
"""Under which of these a request has its conversation: `contents` is Gemini's, `input` that of the
Responses API."""


def _write_text(block: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Write a text in the place of a block with a type; the mark of a cache stays with it."""
    is_item = block.get("type") in ("input_image", "input_file")  # of the Responses API
    rest = {"cache_control": block["cache_control"]} if "cache_control" in block else {}
    return {"type": "input_text" if is_item else "text", "text": text, **rest}


def write_untyped_text(block: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Write a text in the place of a block that is named by its only key."""
    class_ = {CLASS_KEY: block[CLASS_KEY]} if CLASS_KEY in block else {}
    return {**class_, "text": text}


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One message shape, and how its messages are recognized.

    A row without `keys` and `block_types` is never recognized, only named or fallen back to.
    """

    name: str
    read: Callable[[Mapping[str, Any], str], Message]
    """Reads a message; takes the place to name in errors, too."""
    write: Callable[[Sequence[Mapping[str, Any]], str, str], dict[str, Any]]
    """Writes a message in the place of the given ones, with the given text and role, which is
    `assistant` or `user`."""
    about: str = ""
    """What the reference says of it; by default the first line of its module."""
    keys: frozenset[str] = frozenset()
    """A message that can only be of this shape has one of these keys, or a block as below."""
    block_types: frozenset[str] = frozenset()
    """The types of such blocks in its content; empty for a block without a type."""
    claims: Callable[[Mapping[str, Any]], bool] = lambda _: True
    """Tells whether a message with such a key or block can only be of this shape."""
    ties: Callable[[Sequence[Mapping[str, Any]]], Mapping[int, int]] | None = None
    """Maps the place of a message to that of the last one that must not be parted from it."""
    is_lasting: bool = False
    """Whether what follows such a message is of the same shape, even if nothing else shows it."""
    sides: Sides = "any"
    """Whose messages the provider wants to follow whose."""
    write_text: Callable[[Mapping[str, Any], str], Any] = _write_text
    """Writes a text as a block, in the place of another one (a picture or the like) or in a
    message."""
    blocks: str = "content"
    """Under which key the blocks or parts of a message are."""
    is_thinking: Callable[[Any], bool] | None = None
    """Tells whether a block is what a model thought, where a provider binds that to all that was
    said before; then it goes once any of that has changed."""
    turn_path: Callable[[Mapping[str, Any]], Path] | None = None
    """Says where the turn stands in a record, if this is the record shape of a session file."""
    is_injected: Callable[[Message], bool] | None = None
    """Tells whether a program wrote a turn of the user's, such as the output of a command."""


def check_role(role: object, message: Mapping[str, Any], place: str) -> str:
    """Return the *role* of *message*, or say what is wrong with it."""
    if role is None:
        advice = advise(message) or 'expected "system", "user", "assistant" or "tool"'
        raise MessageError(f'has no "role" (it has {keys_of(message)}); {advice}', place)
    if not isinstance(role, str) or not role:
        raise MessageError(f"must be a non-empty string, got {role!r}", f"{place}.role")
    return role


def check_id(value: object, place: str) -> str | None:
    """Return the caller's id of a message, if there is one."""
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        raise MessageError(f"must be a non-empty string, got {value!r}", f"{place}.id")
    return value


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Tell whether *value* is a mapping; a dict, which it mostly is, is found out fastest."""
    return type(value) is dict or isinstance(value, Mapping)


def has_type(value: object, types: Collection[str]) -> bool:
    """Tell whether *value* is a mapping whose `type` is one of *types*."""
    kind = value.get("type") if is_mapping(value) else None
    return isinstance(kind, str) and kind in types


def check_mapping(value: object, what: str, path: Path, place: str) -> Mapping[str, Any]:
    """Return *value*, such as `a part`, if it is a mapping, or say that it is none."""
    if is_mapping(value):
        return value
    problem = f"{what} must be a mapping, got {kind_of(value)}".lstrip()
    raise MessageError(problem, spot(place, path))


def check_list_of(
    message: Mapping[str, Any], name: str, what: str, whose: str, place: str
) -> Iterator[tuple[Mapping[str, Any], Path]]:
    """Yield each of the blocks or parts (*what*) under *name*, and its path; refuse anything else.

    *whose* they are is said to who mixes messages of several shapes.
    """
    items = message.get(name)
    if not isinstance(items, list):
        problem = f"must be a list of {what}s, got {kind_of(items)}, and others here are {whose}"
        raise MessageError(f"{problem}; {ONE_SHAPE}", f"{place}.{name}")
    for number, item in enumerate(items):
        path = (name, number)
        yield check_mapping(item, f"a {what}", path, place), path


def check_call_id(body: Mapping[str, Any], name: str, path: Path, place: str) -> str:
    """Return the id under *name* that ties a call and its result together."""
    id_ = body.get(name)
    if not isinstance(id_, str) or not id_:
        problem = f"a call and its result need an id, got {id_!r}"
        raise MessageError(problem, spot(place, (*path, name)))
    return id_


def keys_of(message: Mapping[str, Any]) -> str:
    """Name the first keys of *message*."""
    named = [str(key) for key in message if key != CLASS_KEY]
    return ", ".join(named[:8]) or "no keys at all"


def kind_of(value: object) -> str:
    """Name the type of what is not plain data; of a library's object also how it becomes some."""
    name, advice = type(value).__name__, advise(value)
    return f"{name}; {advice}" if advice else name


def is_note(text: str) -> bool:
    """Tell whether a program wrote *text* in the user's place: a command, a reminder, an output.

    We do, too, where a digest has to begin a conversation.
    """
    is_command = _NOTE.match(text) is not None and COMMAND_ARGUMENTS.search(text) is None
    return is_command or is_digest(text)


def is_tagged(message: Message) -> bool:
    """Tell whether all that *message* says stands in tags, as programs write it."""
    if not message.parts:
        return False
    first, last = message.parts[0].text, message.parts[-1].text
    return first.lstrip().startswith("<") and last.rstrip().endswith(">")


def add_text(
    reading: Message, text: object, path: Path, place: str, *, result: ToolResult | None = None
) -> None:
    """Add a replaceable text, or say that it is not one."""
    if not isinstance(text, str):
        raise MessageError(f"must be a string, got {type(text).__name__}", spot(place, path))
    reading.parts.append(Part(path, text, result))


def add_media(
    reading: Message, kind: MediaKind, path: Path, block: Mapping[str, Any], pictures: int = 1
) -> None:
    """Add what a line of text may take the place of; it counts as so many *pictures*."""
    reading.images += pictures
    reading.media.append(Media(kind, path, block))


def media_kind(label: object) -> MediaKind:
    """Tell what a piece of media is by its MIME type, or by a kind such as `image-url`."""
    match str(label or "").partition("/")[0].removesuffix("-url"):
        case "image" | "audio" | "video" as kind:
            return kind
    return "file"


def advise(value: object) -> str:
    """Say how *value*, which is not a message that we can read, becomes one; nothing if unknown."""
    if not isinstance(value, Mapping):
        return "convert it with its model_dump()" if hasattr(value, "model_dump") else ""
    if str(value.get("object") or value.get("type") or "").endswith(_STREAMED):
        return "this is a chunk of a stream: assemble the whole message first"
    place = next((place for key, place in _ANSWERS.items() if key in value), "")
    return f"this is an API response: use its {place}" if place else ""


def advise_list(value: object) -> str:
    """Say where the messages are in *value*, which is not a list of them; nothing if unknown."""
    if not isinstance(value, Mapping):
        return ""
    held = (key for key in CONVERSATION_KEYS if isinstance(value.get(key), Sequence))
    place = next(held, "")
    return f"; this is a request: use its {place!r}" if place else ""
