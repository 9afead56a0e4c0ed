"""Read messages as texts: JSON as lines, calls as they were made, output as what it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.codecs.records import flat, respell
from refold.files import Effects, effects_of, may_change
from refold.fold.kinds import without_harness
from refold.fold.people import is_insert, is_output, is_typed
from refold.fold.pieces import Kind, Text, Voice
from refold.lazy import regex
from refold.messages.failure import is_failure_text
from refold.messages.message import Call, Message
from refold.notation.recognize import is_digest, mark_of, read_argument, unmarked
from refold.scan.tokens.counter import TokenCounter

SYSTEM: Final = ("system", "developer")
"""Roles whose messages are instructions, no part of what is folded."""
_ENVELOPE: Final = regex(r"\A\s*+<returncode>(-?\d+)</returncode>\s*+(?:<output>\n?(.*))?\Z", re.S)
_EXIT: Final = regex(
    r"<returncode>(-?\d+)</returncode>|\"?exit_?code\"?[:=] ?(-?\d+)|\A[Ee]xit code:? (\d+)"
)
_PLAN: Final = regex(r"(?i)todo|plan")
_AS_MADE: Final = 240
"""A call of so many characters stands as the agent wrote it."""
_SHORT: Final = 160
"""Characters of an argument that stands on the first line."""
_LABEL: Final = 32
"""Characters of the value that names what a result is of."""


def read(messages: Sequence[Message], count: TokenCounter) -> list[Text]:
    """Return the texts of *messages* in reading order; system prompts are not part of it."""
    texts: list[Text] = []
    calls: dict[str, int] = {}
    files = _Files()
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
            if body.strip() and body != mark_of(body):  # a mark alone says nothing in a digest
                call = calls.get(part.call_id or "", -1)
                text = Text(message.index, number, voice, body, 0, Kind.PROSE, call=call)
                text.is_part = body is not part.text
                text.kind = Kind.DIGEST if is_digest(part.text) else Kind.PROSE
                texts.append(_spell_text(text, count))
                if call >= 0:
                    _note_outcome(texts[call], texts[-1], part.text)
                    files.note(call, len(texts) - 1, texts)
                    texts[-1].is_file = bool(files.effects[call].reads)
        for number, called in enumerate(message.calls):
            calls[called.id] = len(texts)
            files.effects[len(texts)] = effects_of(called)
            texts.append(_read_call(message.index, number, called, count))
    return texts


class _Files:
    """Which reads are out of date, and whose text a file has by now."""

    def __init__(self) -> None:
        self.effects: dict[int, Effects] = {}
        """Number of a call → the files that it touches."""
        self._current: dict[str, list[int]] = {}
        """File → the results that showed it as it is now."""
        self._by_call: dict[str, int] = {}

    def note(self, call: int, result: int, texts: Sequence[Text]) -> None:
        """Note a result: what it shows anew, or what its call has written, is out of date."""
        reads, writes = self.effects.get(call, Effects())
        if texts[call].outcome:
            return
        earlier = self._by_call.get(texts[call].text)
        if reads and earlier is not None:
            texts[earlier].is_stale = True
        if reads:
            self._by_call[texts[call].text] = result
        for path in reads:
            self._current.setdefault(path, []).append(result)
        for path in writes:
            texts[call].is_stale = True
            for number in self._current.pop(path, ()):
                texts[number].is_stale = True


_VOICES: Final = {"user": Voice.USER, "assistant": Voice.ASSISTANT, "model": Voice.ASSISTANT}


def _spell_text(text: Text, count: TokenCounter) -> Text:
    """Let *text* show results as lines: without envelope, JSON as records."""
    original = text.text
    if text.voice is Voice.TOOL:
        text.kind = Kind.LINES
        match = _ENVELOPE.match(original)
        if match is not None:
            code = "" if match[1] == "0" else f"exit {match[1]}\n"
            output = (match[2] or "").rstrip()
            if output.endswith("</output>"):
                output = output.removesuffix("</output>").removesuffix("\n")
            text.text = code + (output or "(no output)")
        lines = respell(text.text)
        if lines is not None:
            text.kind, text.heads = Kind.RECORDS, tuple(line.head for line in lines)
            text.text = "\n".join(line.text for line in lines)
    elif text.voice is Voice.ASSISTANT and original[:1] == "{":
        text.text = "\n".join(line.text for line in respell(original) or ()) or original
    text.tokens = count(text.text)
    text.is_typed = text.voice is Voice.USER and is_typed(without_harness(original))
    text.is_respelled = text.text is not original
    return text


def _note_outcome(call: Text, result: Text, body: str) -> None:
    """Let a call say how it ended, and its result what it is the result of."""
    result.label = call.label
    match = _EXIT.search(body[:300] + " " + body[-300:])
    code = next(filter(None, match.groups()), "0") if match else "0"
    if code != "0":
        call.outcome = f"exit {code}"
    elif is_failure_text(body):
        call.outcome = "failed"


def _read_call(message: int, number: int, call: Call, count: TokenCounter) -> Text:
    body = spell_call(call)
    text = Text(message, number, Voice.CALL, body, count(body), Kind.CALL, _label(call))
    text.changes = may_change(call)
    text.is_plan = _PLAN.search(call.name) is not None
    return text


def spell_call(call: Call) -> str:
    r"""Write a call: a short one as the agent did, a long one as lines, its short arguments first.

    >>> spell_call(Call("c1", "edit", {"path": "a.py", "new": "x = 1\ny = 2"}))
    'edit path=a.py\nnew:\nx = 1\ny = 2'
    """
    sent = _arguments(call)
    plain = {k: read_argument(v) if isinstance(v, str) else v for k, v in sent.items()}
    if len(call.spelled) <= _AS_MADE and "\\n" not in call.spelled and plain == sent:
        return call.text
    return _spell(call.name, plain)


def _arguments(call: Call) -> Mapping[str, Any]:
    return call.arguments or ({"": call.spelled} if call.spelled else {})


def _label(call: Call) -> str:
    """Return the tool and what the call was about in a word: the file, or the first argument."""
    effects = effects_of(call)
    paths = effects.reads or effects.writes
    subject = paths[0].rpartition("/")[2] if paths else ""
    if not subject:
        subject = next((flat(v) for v in _arguments(call).values()), "").split("\n")[0]
        if "/" in subject and " " not in subject:
            subject = subject.rstrip("/").rpartition("/")[2]
    if len(subject) > _LABEL:
        subject = subject[:_LABEL].rsplit(" ", 1)[0]
    return f"{call.name} {subject}".strip()


def _spell(name: str, arguments: Mapping[str, Any]) -> str:
    """Write a long call as lines, what is short first: its first line says what was done."""
    short: list[str] = []
    long: list[str] = []
    for key, value in arguments.items():
        one = flat(value)
        if len(one) <= _SHORT and "\n" not in one:
            short.append(f"{key}={one}" if key else one)
        elif isinstance(value, str):
            body = value.lstrip("\n")
            long.append(f"{key}:\n{body}" if key else body)
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
