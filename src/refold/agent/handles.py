"""Handles: short names for whole results, derived from their content, and where they are kept."""

from __future__ import annotations

from typing import Any, Final

from refold.model.provenance import ID_PREFIX, make_summary_id
from refold.model.wire import text_digest

TOOL_PREFIX: Final = "refold:tool:"


def tool_key(handle: str) -> str:
    """Name the place where the whole result with this handle is kept."""
    return TOOL_PREFIX + handle


def handle_of_text(text: str) -> str:
    """Derive a handle from a text: the same text, the same handle, on every machine."""
    return make_summary_id((), (text_digest(text),)).removeprefix(ID_PREFIX)


def entry_of(text: str) -> dict[str, Any]:
    """Return what a store has to keep so that *text* can be fetched by its handle."""
    return {tool_key(handle_of_text(text)): {"role": "tool", "content": text}}
