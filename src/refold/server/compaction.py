"""The SessionStart hook of Claude Code and Codex: it puts back what a compaction loses.

That is a small fold of the whole session, by the engine: the task, what the user said, the open
plan, the last changes; and how to ask for the rest. It fails open, as the other hook does.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

from refold.api import compress
from refold.messages.formats import load
from refold.messages.message import Message
from refold.notation.marks import legend
from refold.scan.tokens.estimate import estimate_tokens
from refold.server.agents import refold_command
from refold.server.originals import COMPACTED, VIEW, count_failure, open_originals

MOST_TOKENS: Final = 1_000
"""The most that is put back: a compaction was to make room."""
_EVENT: Final = "SessionStart"
_CODEX: Final = ("type", "compacted")
_SUMMARY: Final = ("isCompactSummary", True), ("subtype", "compact_boundary"), _CODEX
"""What the agents write into the session file where they compact."""
_HEAD: Final = (
    "refold kept everything from before the conversation was compacted. The task, the user's "
    f"words, the plan and the last steps follow. {legend()}"
)


def run_compaction_hook(source: BinaryIO, *, store: str | Path) -> str:
    """Return what the agent reads: JSON with what to put back, or nothing.

    Never raises; failures are counted beside the *store*, which keeps the originals.
    """
    try:
        event = json.loads(source.read())
        if event["hook_event_name"] != _EVENT or event.get("source") != "compact":
            return ""
        path = Path(event["transcript_path"])
        text = put_back(read_past(path), path, str(event["session_id"]), store)
    except Exception as error:  # noqa: BLE001 - a failing hook must not stop the agent
        count_failure(store, error)
        return ""
    answer = {"hookEventName": _EVENT, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": answer}) if text else ""


def read_past(path: Path) -> list[Any]:
    """Return the records of a session file up to the compaction that was just made."""
    records: list[Any] = []
    for line in path.read_text("utf-8", "replace").split("\n"):
        with suppress(ValueError, RecursionError):  # a line that is still being written
            records.append(json.loads(line))
    records = [one for one in records if isinstance(one, dict)]
    end = len(records)
    for place in range(len(records) - 1, -1, -1):
        if _is_answer(records[place]):
            break  # an older compaction: the conversation went on after it
        if any(records[place].get(key) == value for key, value in _SUMMARY):
            end = place
    if end < len(records) and records[end].get("type") == _CODEX[1]:
        # Its summary is the last answer before. Its own instructions are in the new context anyway.
        end = max((place for place in range(end) if _is_answer(records[place])), default=0)
    return [one for one in records[:end] if _payload(one).get("role") != "developer"]


def _is_answer(record: dict[str, Any]) -> bool:
    """Return whether a record is an answer of the model, or a call that it made."""
    payload = _payload(record)
    is_call = str(payload.get("type")).endswith("_call")
    return record.get("type") == "assistant" or payload.get("role") == "assistant" or is_call


def _payload(record: dict[str, Any]) -> dict[str, Any]:
    """Return what Codex has in a record; nothing if that is not its."""
    payload = record.get("payload")
    return payload if isinstance(payload, dict) else {}


def put_back(records: Sequence[Any], path: Path, session: str, store: str | Path) -> str:
    """Return the fold of *records*, which are in the file at *path*, and how to ask for the rest.

    It is empty if there is nothing to fold.
    """
    messages = load(records)
    # The newest results would be shown whole; what they say is in the summary as well.
    end = len(messages)
    while end and not (messages[end - 1].is_turn and _says_something(messages[end - 1])):
        end -= 1
    if not end:
        return ""
    name = f"{session}-{end}"
    tail = (
        f"More: the tool refold_retrieve, with conversation {name!r} and a query in plain words or "
        f"a handle; or `{shlex.join(refold_command('retrieve', str(path), '--query', 'WORDS'))}`."
    )
    room = MOST_TOKENS - estimate_tokens(f"{_HEAD}\n\n\n\n{tail}")
    with open_originals(store) as originals:
        for budget in (room, room * 3 // 4, room // 2):  # names of speakers come on top
            result = compress(
                records[:end], token_budget=budget, store=originals, conversation=name
            )
            view = "\n".join(filter(None, map(_spell, load(result.messages))))
            if estimate_tokens(view) <= room:
                text = f"{_HEAD}\n\n{view}\n\n{tail}"
                originals.put({VIEW + name: result.messages, COMPACTED + name: text})
                return text
    return tail


def _says_something(message: Message) -> bool:
    has_words = any(part.text.strip() and part.result is None for part in message.parts)
    return has_words or bool(message.calls)


def _spell(message: Message) -> str:
    """Return what a message says and calls, under who says it; empty if that is nothing."""
    texts = [part.text.strip() for part in message.parts if part.text.strip()]
    texts += (f"calls {call.name} {call.spelled}" for call in message.calls)
    role = "tool" if message.is_tool_result else message.role
    return f"{role}: " + "\n".join(texts) if texts and message.is_turn else ""
