"""Messages in the shapes of other libraries: how they become messages that can be read here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_LANGCHAIN: Final = (
    "convert LangChain messages with langchain_core.messages.convert_to_openai_messages(messages)"
)
_PYDANTIC_AI: Final = (
    "a message of pydantic-ai has no plain shape, its dump neither: write every part as a message "
    'with "role" and "content" (the return of a tool with "tool_call_id", too), or shorten what '
    "tools return as it comes, with ToolCompressor"
)
_PACKAGES: Final[Mapping[str, str]] = {
    "langchain": _LANGCHAIN,
    "langchain_core": _LANGCHAIN,
    "pydantic_ai": _PYDANTIC_AI,
}
"""What to do with an object whose class comes from there; `model_dump()` would lead nowhere."""
_LANGCHAIN_TYPES: Final = frozenset({"human", "ai", "system", "tool", "function", "chat", "remove"})


def advise(value: object) -> str:
    """Say how *value*, which is no message that we can read, becomes one; nothing if unknown."""
    if isinstance(value, Mapping):
        return _advise_on_keys(value)
    for class_ in type(value).__mro__:
        for package, advice in _PACKAGES.items():
            if f"{class_.__module__}.".startswith(f"{package}."):
                return advice
    return "convert it with its model_dump()" if hasattr(value, "model_dump") else ""


def _advise_on_keys(message: Mapping[str, Any]) -> str:
    if "parts" in message:
        is_pydantic_ai = "role" not in message and message.get("kind") in ("request", "response")
        return _PYDANTIC_AI if is_pydantic_ai else ""
    kind = message.get("type")
    if "role" not in message and "content" in message and isinstance(kind, str):
        return _LANGCHAIN if kind in _LANGCHAIN_TYPES else ""
    return ""
