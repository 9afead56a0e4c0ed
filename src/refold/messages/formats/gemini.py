"""Contents of the Gemini API: parts with text, calls, answers, thoughts, media; role `model`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.errors import MessageError
from refold.messages.formats.base import (
    ONE_SHAPE,
    Format,
    add_media,
    add_text,
    check_mapping,
    check_role,
    is_mapping,
    keys_of,
    kind_of,
    write_untyped_text,
)
from refold.messages.formats.content import add_answer, add_fields, count_unknown
from refold.messages.message import Call, MediaKind, Message, ToolResult
from refold.messages.wire import CLASS_KEY, Path

_ROLES: Final = {"model": "assistant", "function": "user"}
_SPELLINGS: Final[Mapping[str, tuple[str, str]]] = {
    "call": ("functionCall", "function_call"),
    "response": ("functionResponse", "function_response"),
    "signature": ("thoughtSignature", "thought_signature"),
    "data": ("inlineData", "inline_data"),
    "file": ("fileData", "file_data"),
}
"""The wire writes fields one way, the Python SDK takes the other as well."""


def _matches(content: Mapping[str, Any]) -> bool:
    return "content" not in content and "kind" not in content


def _find(part: Mapping[str, Any], field: str) -> tuple[str, Any]:
    """Return how *part* spells a field, and its value; `None` if it has none."""
    for name in _SPELLINGS[field]:
        if part.get(name) is not None:
            return name, part[name]
    return "", None


class _Unnamed:
    """Names calls and answers without ids by their tool and their number in the content.

    Gemini wants the answers to the calls of one content in the next one, so that is enough.
    """

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def id_of(self, body: Mapping[str, Any]) -> str:
        id_, name = body.get("id"), str(body.get("name", ""))
        if isinstance(id_, str) and id_:
            return id_
        self._seen[name] += 1
        return f"{name}:{self._seen[name]}"


def _read(content: Mapping[str, Any], place: str) -> Message:
    parts = content.get("parts")
    role = content.get("role")
    role = "user" if role is None else check_role(role, content, place)
    reading = Message(role=_ROLES.get(role, role))
    if "parts" not in content or "kind" in content:  # which pydantic-ai's have
        problem = f"is no content of Gemini (it has {keys_of(content)}), and others here are"
        raise MessageError(f"{problem}; {ONE_SHAPE}", place)
    if not isinstance(parts, list | None):
        raise MessageError(f"must be a list of parts, got {kind_of(parts)}", f"{place}.parts")
    unnamed = _Unnamed()
    for number, part in enumerate(parts or ()):
        path = ("parts", number)
        check_mapping(part, "a part", path, place)
        _read_part(reading, part, path, place, unnamed)
    return reading


def _read_part(
    reading: Message, part: Mapping[str, Any], path: Path, place: str, unnamed: _Unnamed
) -> None:
    name, response = _find(part, "response")
    key, call = _find(part, "call")
    if is_mapping(response):
        tool = str(response.get("name") or "")
        result = ToolResult(unnamed.id_of(response), response, (*path, name), tool)
        _read_response(reading, response, result)
    elif is_mapping(call):
        name, given = str(call.get("name", "")), call.get("args") or {}
        is_signed = _find(part, "signature")[1] is not None
        where = None if is_signed or not given else (*path, key, "args")
        reading.calls.append(Call(unnamed.id_of(call), name, given, where))
    elif part.get("thought") is True:
        count_unknown(reading, {"text": part.get("text") or ""}, reading.thinking)
    elif part.get("text") is not None and _find(part, "signature")[1] is None:
        add_text(reading, part["text"], (*path, "text"), place)
    elif part.get("text") is not None:  # a signature is one for this very text
        reading.opaque.append(str(part["text"]))
    elif (media := _find(part, "data")[1] or _find(part, "file")[1]) is not None:
        if _find(part, "signature")[1] is None:
            add_media(reading, _media_kind(media), path, part)
        else:
            reading.images += 1
    else:
        signature = _SPELLINGS["signature"]
        said = {key: value for key, value in part.items() if key not in signature}
        count_unknown(reading, said, reading.opaque)


def _media_kind(media: object) -> MediaKind:
    """Tell what the data of a part are, by their MIME type."""
    told = (media.get("mimeType") or media.get("mime_type")) if is_mapping(media) else None
    match str(told or "").partition("/")[0]:
        case "image" | "audio" | "video" as kind:
            return kind
    return "file"


def _read_response(reading: Message, response: Mapping[str, Any], result: ToolResult) -> None:
    """Read what a tool returned: each field of its object may be replaced by a text."""
    before, path = len(reading.parts), (*result.path, "response")
    add_fields(reading, response.get("response"), path, result)
    media = response.get("parts")
    reading.images += len(media) if isinstance(media, list) else 0
    if len(reading.parts) == before:
        add_answer(reading, path, result)


def _write(contents: Sequence[Mapping[str, Any]], text: str, role: str) -> dict[str, Any]:
    kinds = [content[CLASS_KEY] for content in contents if CLASS_KEY in content]
    content = {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}
    return {CLASS_KEY: kinds[0], **content} if kinds else content


FORMAT: Final[Format] = Format(
    name="gemini",
    keys=frozenset({"parts"}),
    claims=_matches,
    read=_read,
    write=_write,
    write_text=write_untyped_text,
    sides="in turns",
)
