"""The PostToolUse hook of Claude Code: shortens the output of a tool before the model sees it.

Only new output is changed, so thinking, prompt caches and `/compact` stay valid. The hook runs
after every tool call, so it loads the engine only for outputs that are long enough. It fails open:
whatever goes wrong is counted, and the output stays as it is.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    from pathlib import Path

MIN_CHARS: Final = 2_000
"""Shorter texts stay as they are: the saving is not worth loading the engine. A guess, about 500
tokens."""
MAX_TOKENS: Final = 4_000
"""The most an excerpt takes. A guess: Claude Code itself cuts outputs at about 30,000 characters,
which is 8,000 to 10,000 tokens of a log."""
_EVENT: Final = "PostToolUse"
_EACH: Final = "*"
"""Stands for every element of a list."""
_FIELDS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "Bash": (("stdout",), ("stderr",)),
    "PowerShell": (("stdout",), ("stderr",)),
    "Read": (("file", "content"),),
    "Grep": (("content",), ("filenames",)),
    "Glob": (("filenames",),),
    "LSP": (("result",),),
    "WebFetch": (("result",),),
    "Agent": (("content", _EACH, "text"),),
    "Task": (("content", _EACH, "text"),),
}
"""Where tools have their texts, as of 2.1.325; a list of strings is a text, one line each."""
_MCP: Final = "mcp__"
_MCP_FIELDS: Final = ((), (_EACH, "text"), ("content", _EACH, "text"))
"""The output of an MCP tool is a text, a list of blocks, or an object with such a list."""
_REFOLD_SERVER: Final = "mcp__refold__"
_RETRIEVE: Final = ("retrieve_original", "refold_retrieve")
_NOT_AS_TEXT: Final = ("isImage", "structuredContent", "persistedOutputPath")
"""With one of these set, the model sees something other than the text."""


def run_hook(source: BinaryIO, *, store: str | Path, profile: str, max_tokens: object) -> str:
    """Return what Claude Code reads: JSON with the output in fewer tokens, or nothing.

    Never raises; failures are counted beside the *store*.

    Args:
        source: where the event comes from, as JSON.
        store: where originals are kept: a SQLite file, made if need be, or an address.
        profile: `lossless`, or `standard` for excerpts of what is still longer than *max_tokens*.
        max_tokens: a number, or the text of one from the command line.
    """
    try:
        event = json.loads(source.read())
        if not _is_long(event):
            return ""
        return _answer(event, store, profile, max_tokens)
    except Exception as error:  # noqa: BLE001 - a failing hook must not stop the agent
        from refold.server.originals import count_failure

        count_failure(store, error)
        return ""


def answer_on_standard_output(words: Sequence[str]) -> int:
    """Run the hook as *words* of the command line say; 0, for nothing may block the agent.

    Options that are unknown or have no value are passed over.
    """
    import gc

    from refold.private_files import data_file

    gc.disable()  # the process ends with its answer: looking for cycles takes a twentieth of it
    parts = [part for word in words for part in word.split("=", word.startswith("--"))]
    options = dict(pairwise(parts))
    store = options.get("--store") or data_file(sys.platform, os.environ)
    with suppress(OSError, AttributeError):  # streams that the agent has closed
        answer = run_hook(
            sys.stdin.buffer,
            store=store,
            profile=options.get("--profile", "lossless"),
            max_tokens=options.get("--max-tokens", MAX_TOKENS),
        )
        sys.stdout.write(answer)
        sys.stdout.flush()
    return 0


def _is_long(event: Any) -> bool:
    """Return whether there is a text in *event* that may be shortened."""
    lengths = [0]

    def measure(text: str) -> str:
        lengths.append(len(text))
        return text

    if event["hook_event_name"] == _EVENT:
        map_texts(event["tool_name"], event["tool_response"], measure)
    return max(lengths) >= MIN_CHARS


def _answer(event: Any, address: str | Path, profile: str, max_tokens: object) -> str:
    from refold.server.originals import add_counts, counts_beside, open_originals
    from refold.tools.text_store import TextStore, shorten_result

    counts = Counter(results=1)
    tool, output = event["tool_name"], event["tool_response"]
    with open_originals(address) as store:
        text_store, most = TextStore(store), int(str(max_tokens))

        def shorten(text: str) -> str:
            if len(text) < MIN_CHARS:
                return text
            short = shorten_result(
                text, text_store, profile=profile, max_tokens=most, is_file=tool == "Read"
            )
            if short is None:
                return text
            counts.update(
                folded=1, tokens_before=short.tokens_before, tokens_after=short.tokens_after
            )
            return short.text

        changed = map_texts(tool, output, shorten)
    add_counts(counts_beside(address), counts)
    if changed is output:
        return ""
    answer = {"hookEventName": _EVENT, "updatedToolOutput": changed}
    return json.dumps({"hookSpecificOutput": answer})


def _is_retrieval(tool: str) -> bool:
    """Return whether *tool* fetches originals: its output is wanted whole."""
    return tool.startswith(_REFOLD_SERVER) or tool.endswith(_RETRIEVE)


def map_texts(tool: str, output: Any, change: Callable[[str], str]) -> Any:
    """Return the *output* of a *tool* with its texts changed; the same object if none was.

    Claude Code validates a changed output against the schema of its tool, and ignores it if it does
    not fit. So only texts are replaced, in place; whatever is unknown or not shown as text is left
    alone.
    """
    if _is_retrieval(tool):
        return output
    if isinstance(output, dict) and any(output.get(key) for key in _NOT_AS_TEXT):
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
    if key == _EACH and isinstance(value, list):
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
