"""Read messages as texts: JSON as lines, calls as they were made, output as what it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.fold.kinds import without_harness
from refold.fold.people import is_insert, is_output, is_typed
from refold.fold.pieces import Kind, Text, Voice
from refold.fold.records import flat, respell
from refold.messages.failure import is_failure_text
from refold.messages.message import Call, Message
from refold.notation.recognize import read_argument, unmarked
from refold.scan.tokens.counter import TokenCounter

SYSTEM: Final = ("system", "developer")
"""Roles whose messages are instructions, no part of what is folded."""
_ENVELOPE: Final = re.compile(
    r"\A\s*<returncode>(-?\d+)</returncode>\s*(?:<output>\n?(.*?)\n?(?:</output>)?)?\s*\Z", re.S
)
_READS: Final = re.compile(
    r"(?i)^(?:\w+[_.:/-])*?(?:get|list|ls|find|search|read|view|open|cat|grep|glob|fetch|show|query"
    r"|look|check|calculate|think|describe|inspect|status|verify|can|todo\w*|update_plan|task\w*"
    r"|web\w*)(?=[_.:/-]|[A-Z]|$)|^(?:Read|Grep|Glob|LS|Task|Todo|Web)"
)
_SHELL_READS: Final = re.compile(
    r"^\s*(?:cd [^&;|]+(?:&&|;)\s*)*(?:cat|ls|grep|rg|find|head|tail|wc|echo|pwd|sed -n"
    r"|git (?:status|log|diff|show)|python3? -m pytest|pytest|go (?:test|vet|build)|nl|tree|which)"
    r"\b(?!.*(?:[^2&]>(?!&)|\btee\b|sed -i))",
    re.S,
)
_EXIT: Final = re.compile(
    r"<returncode>(-?\d+)</returncode>|\"?exit_?code\"?[:=] ?(-?\d+)|\A[Ee]xit code:? (\d+)"
)
_PLAN: Final = re.compile(r"(?i)todo|plan")
_COMMANDS: Final = ("command", "cmd", "code")
_AS_MADE: Final = 240
"""A call of so many characters stands as the agent wrote it."""
_SHORT: Final = 160
"""Characters of an argument that stands on the first line."""
_LABEL: Final = 48
"""Characters of the value that names what a result is of."""


def read(messages: Sequence[Message], count: TokenCounter) -> list[Text]:
    """Return the texts of *messages* in reading order; system prompts are no part of it."""
    texts: list[Text] = []
    calls: dict[str, int] = {}
    has_task = False
    for message in messages:
        if not message.is_turn or message.role in SYSTEM:
            continue
        for number, part in enumerate(message.parts):
            voice = _VOICES.get(message.role, Voice.TOOL)
            body = (
                unmarked(part.text)
                if part.text[:1] == "[" or "[" in part.text[-160:]
                else part.text
            )
            if message.is_result(part) or (voice is Voice.USER and has_task and is_output(body)):
                voice = Voice.TOOL
            has_task = has_task or (voice is Voice.USER and not is_insert(body))
            if body.strip():
                call = calls.get(part.call_id or "", -1)
                text = Text(message.index, number, voice, body, 0, Kind.PROSE, call=call)
                text.is_part = body is not part.text
                texts.append(_spell_text(text, count))
                if call >= 0:
                    _note_outcome(texts[call], texts[-1], part.text)
        for number, called in enumerate(message.calls):
            calls[called.id] = len(texts)
            texts.append(_read_call(message.index, number, called, count))
    return texts


_VOICES: Final = {"user": Voice.USER, "assistant": Voice.ASSISTANT, "model": Voice.ASSISTANT}


def _spell_text(text: Text, count: TokenCounter) -> Text:
    """Let *text* show results as lines: without envelope, JSON as records."""
    given = text.text
    if text.voice is Voice.TOOL:
        text.kind = Kind.LINES
        found = _ENVELOPE.match(given)
        if found is not None:
            code = "" if found[1] == "0" else f"exit {found[1]}\n"
            text.text = code + (found[2] or "(no output)")
        lines = respell(text.text)
        if lines is not None:
            text.kind, text.heads = Kind.RECORDS, tuple(line.head for line in lines)
            text.text = "\n".join(line.text for line in lines)
    text.tokens = count(text.text)
    text.is_typed = text.voice is Voice.USER and is_typed(without_harness(given))
    text.is_respelled = text.text is not given
    return text


def _note_outcome(call: Text, result: Text, body: str) -> None:
    """Let a call say how it ended, and its result what it is the result of."""
    result.label = call.label
    found = _EXIT.search(body[:300] + " " + body[-300:])
    code = next(filter(None, found.groups()), "0") if found else "0"
    if code != "0":
        call.outcome = f"exit {code}"
    elif is_failure_text(body):
        call.outcome = "failed"


def _read_call(message: int, number: int, call: Call, count: TokenCounter) -> Text:
    sent: Mapping[str, Any] = call.arguments or ({"": call.spelled} if call.spelled else {})
    given = {k: read_argument(v) if isinstance(v, str) else v for k, v in sent.items()}
    command = next((flat(v) for k, v in given.items() if k in _COMMANDS), None)
    changes = not (_READS.match(call.name) if command is None else _SHELL_READS.match(command))
    if len(call.spelled) <= _AS_MADE and "\\n" not in call.spelled and given == sent:
        said = call.text
    else:
        said = _spell(call.name, given)
    first = next((flat(v) for v in given.values()), "").split("\n")[0]
    label = f"{call.name} {first[:_LABEL]}".strip()
    text = Text(message, number, Voice.CALL, said, count(said), Kind.CALL, label, changes=changes)
    text.is_plan = _PLAN.search(call.name) is not None
    return text


def _spell(name: str, given: Mapping[str, Any]) -> str:
    """Write a long call as lines, what is short first: its first line says what was done."""
    short: list[str] = []
    long: list[str] = []
    for key, value in given.items():
        one = flat(value)
        if len(one) <= _SHORT and "\n" not in one:
            short.append(f"{key}={one}" if key else one)
        elif isinstance(value, str):
            long.append(f"{key}:\n{value}" if key else value)
        else:
            lines = _lines_of(value)
            long.append(f"{key}:\n{lines}" if key else lines)
    head = " ".join([name, *short])
    if long and not short:  # its first line says nothing yet
        key, _, rest = long[0].partition("\n")
        line, _, rest = rest.partition("\n")
        head = f"{head} {key} {line}"
        long[0] = rest
    return "\n".join([head, *filter(None, long)])


def _lines_of(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(flat(item) for item in value)
    return "\n".join(f"{key}={flat(item)}" for key, item in value.items())
