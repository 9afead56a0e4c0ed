"""The PostToolUse hook of Claude Code: a tool's output is shortened before the model sees it.

Only what arrives is changed, so that thinking, prompt caches and `/compact` stay valid. The hook
runs after every call of a tool, so it loads the engine only for outputs that are long enough; and
it fails open: whatever goes wrong is counted, and the output stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from refold.server.tool_outputs import map_texts

if TYPE_CHECKING:
    from pathlib import Path

    from refold.server.arrival import ResultShortener

MIN_CHARS: Final = 2_000
"""Shorter texts stay as they are: what could be saved is not worth loading the engine. A guess,
about 500 tokens."""
MAX_TOKENS: Final = 4_000
"""The most an excerpt takes. A guess: Claude Code itself cuts outputs at about 30,000 characters,
which is 8,000 to 10,000 tokens of a log."""
_EVENT: Final = "PostToolUse"


def run_hook(source: BinaryIO, *, store: str | Path, profile: str, max_tokens: object) -> str:
    """Return what Claude Code reads: JSON with the output in fewer tokens, or nothing.

    Never raises; failures are counted beside the *store*.

    Args:
        source: where the event comes from, as JSON.
        store: where originals are kept: a SQLite file, made if need be, or an address.
        profile: `lossless`, or `standard` for excerpts of what is still longer than *max_tokens*.
        max_tokens: a number, or what the command line has in its place.
    """
    try:
        event = json.loads(source.read())
        if not _is_long(event):
            return ""
        return _answer(event, store, profile, max_tokens)
    except Exception as error:  # noqa: BLE001 - a hook that fails would be in the way of the agent
        _count(store, {"failures": 1, f"failures:{type(error).__name__}": 1})
        return ""


def _is_long(event: Any) -> bool:
    """Tell whether there is a text in *event* that may be shortened."""
    found = [0]

    def measure(text: str) -> str:
        found.append(len(text))
        return text

    if event["hook_event_name"] == _EVENT:
        map_texts(event["tool_name"], event["tool_response"], measure)
    return max(found) >= MIN_CHARS


def _answer(event: Any, address: str | Path, profile: str, max_tokens: object) -> str:
    from refold.agent.text_store import TextStore
    from refold.server.arrival import ResultShortener
    from refold.server.originals import open_originals

    amounts = {"results": 1}
    with open_originals(address) as store:
        shortener = ResultShortener(
            TextStore(store), profile=profile, max_tokens=int(str(max_tokens))
        )
        tool, output = event["tool_name"], event["tool_response"]
        changed = map_texts(tool, output, _shorten_with(shortener, tool == "Read", amounts))
    _count(address, amounts)
    if changed is output:
        return ""
    answer = {"hookEventName": _EVENT, "updatedToolOutput": changed}
    return json.dumps({"hookSpecificOutput": answer})


def _shorten_with(
    shortener: ResultShortener, is_file: bool, amounts: dict[str, int]
) -> Callable[[str], str]:
    def shorten(text: str) -> str:
        short = shortener.shorten(text, is_file=is_file) if len(text) >= MIN_CHARS else None
        if short is None:
            return text
        done = {"folded": 1, "tokens_before": short.tokens_before}
        for name, amount in {**done, "tokens_after": short.tokens_after}.items():
            amounts[name] = amounts.get(name, 0) + amount
        return short.text

    return shorten


def _count(store: str | Path, amounts: dict[str, int]) -> None:
    from refold.server.counts import add_counts, counts_beside

    add_counts(counts_beside(store), amounts)
