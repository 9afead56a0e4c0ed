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
    media_kind,
    write_untyped_text,
)
from refold.messages.formats.content import add_answer, add_fields, count_unknown
from refold.messages.message import Call, Message, ToolResult
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


def _id_of(body: Mapping[str, Any], seen: Counter[str]) -> str:
    """Return the id of a call or answer, or its tool and how often that was *seen* before.

    Gemini wants the answers to the calls of one content in the next one, so that is enough.
    """
    id_, name = body.get("id"), str(body.get("name", ""))
    if isinstance(id_, str) and id_:
        return id_
    seen[name] += 1
    return f"{name}:{seen[name]}"


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
    unnamed: Counter[str] = Counter()
    for number, part in enumerate(parts or ()):
        path = ("parts", number)
        check_mapping(part, "a part", path, place)
        _read_part(reading, part, path, place, unnamed)
    return reading


def _read_part(
    reading: Message, part: Mapping[str, Any], path: Path, place: str, unnamed: Counter[str]
) -> None:
    name, response = _find(part, "response")
    key, call = _find(part, "call")
    media = _find(part, "data")[1] or _find(part, "file")[1]
    text = part.get("text")
    is_signed = _find(part, "signature")[1] is not None  # for this very part, so that must stay
    if is_mapping(response):
        tool = str(response.get("name") or "")
        result = ToolResult(_id_of(response, unnamed), response, (*path, name), tool)
        _read_response(reading, response, result)
    elif is_mapping(call):
        name, arguments = str(call.get("name", "")), call.get("args") or {}
        where = None if is_signed or not arguments else (*path, key, "args")
        reading.calls.append(Call(_id_of(call, unnamed), name, arguments, where))
    elif part.get("thought") is True:
        count_unknown(reading, {"text": text or ""}, reading.thinking)
    elif text is not None and not is_signed:
        add_text(reading, text, (*path, "text"), place)
    elif text is not None:
        reading.opaque.append(str(text))
    elif media is not None and not is_signed:
        held = media if is_mapping(media) else {}
        kind = media_kind(held.get("mimeType") or held.get("mime_type"))
        add_media(reading, kind, path, part)
    elif media is not None:
        reading.images += 1
    else:
        rest = {key: value for key, value in part.items() if key not in _SPELLINGS["signature"]}
        count_unknown(reading, rest, reading.opaque)


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
