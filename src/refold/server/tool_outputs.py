"""Where the texts are in what the tools of Claude Code return.

Claude Code checks a changed output against the schema of its tool and ignores it if it does not
fit. So only texts are replaced, each where it stands, and everything else stays as it is.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # this is loaded after every tool call: `typing` takes longer than all of it
    from collections.abc import Callable, Mapping
    from typing import Any

EACH = "*"
"""Stands for every element of a list."""

_FIELDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "Bash": (("stdout",), ("stderr",)),
    "PowerShell": (("stdout",), ("stderr",)),
    "Read": (("file", "content"),),
    "Grep": (("content",), ("filenames",)),
    "Glob": (("filenames",),),
    "LSP": (("result",),),
    "WebFetch": (("result",),),
    "Agent": (("content", EACH, "text"),),
    "Task": (("content", EACH, "text"),),
}
"""The texts of built-in tools; a list of strings is a text, one line each. Seen in 2.1.325."""
_MCP = "mcp__"
_MCP_FIELDS = ((), (EACH, "text"), ("content", EACH, "text"))
"""What an MCP tool returns is a text, a list of blocks, or an object with one."""
_OWN_SERVER = "mcp__refold__"
_RETRIEVE = ("retrieve_original", "refold_retrieve")
_NOT_SHOWN = ("isImage", "structuredContent", "persistedOutputPath")
"""With these set, what the model sees of a command is something else than its text."""


def is_retrieval(tool: str) -> bool:
    """Tell whether *tool* fetches originals: what it returns is wanted whole."""
    return tool.startswith(_OWN_SERVER) or tool.endswith(_RETRIEVE)


def map_texts(tool: str, output: Any, change: Callable[[str], str]) -> Any:
    """Return the *output* of a *tool* with its texts changed; the same object if none was.

    What is not known, and what is not shown as text, is left alone.
    """
    if is_retrieval(tool):
        return output
    if isinstance(output, dict) and any(output.get(key) for key in _NOT_SHOWN):
        return output
    fields = _MCP_FIELDS if tool.startswith(_MCP) else _FIELDS.get(tool, ())
    for path in fields:
        output = _map(output, path, change)
    return output


def _map(value: Any, path: tuple[str, ...], change: Callable[[str], str]) -> Any:
    """Return *value* with the text at *path* changed; *value* itself if it is not there."""
    if not path:
        return _change(value, change)
    key, rest = path[0], path[1:]
    if key == EACH and isinstance(value, list):
        changed = [_map(item, rest, change) for item in value]
        same = all(new is old for new, old in zip(changed, value, strict=True))
        return value if same else changed
    if isinstance(value, dict) and key in value:
        new = _map(value[key], rest, change)
        return value if new is value[key] else {**value, key: new}
    return value


def _change(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
        text = "\n".join(value)
        short = change(text)
        return value if short == text else short.split("\n")
    return value
