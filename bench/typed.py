"""What a person typed in a recorded conversation, told from what a harness put into their mouth.

In recorded runs the role `user` also holds outputs of commands, reminders, notes of an IDE and
marks of a simulator. A *typed* message is what is left of a user's message without them. The rules
are lists of openings, in the words of the harnesses that were recorded; a text that none of them
knows counts as typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

MAX_WORDS: Final = 150
"""Longer messages are pasted documents or whole specifications: they may be shortened."""
MIN_UNIT_WORDS: Final = 3
"""A sentence of fewer words may be in a view by chance."""

_NOTES: Final = (
    *("<command-", "<local-command-", "<bash-", "<system", "<environment_", "<user_instructions"),
    *("<user-prompt-", "<ide_", "<task-notification", "<turn_aborted", "<permissions"),
    *("<returncode>", "<output>", "<error>", "<tool_", "[File: ", "OBSERVATION:", "Observation:"),
    *("[Request interrupted", "[Image", "###STOP", "###TRANSFER", "###OUT-OF", "# AGENTS.md"),
    *("Caveat: The messages below", "This session is being continued from", "Stop hook feedback"),
    *("Base directory for this skill:", "Please continue the conversation from where we left"),
    *("Please always provide EXACTLY ONE action", "# Files mentioned", "# Question: "),
)
"""How messages begin that no person typed."""
_PROMPT: Final = re.compile(r"\n(?:bash-)?\$\s*\Z")
"""How an observation ends where a harness answers in the user's name."""
_HARNESS_LINE: Final = re.compile(
    r"Aider v\d|(?:Main |Weak )?[Mm]odels?: |Git repo: |Repo-map: |Use /help |\S*/bin/aider\b"
    r"|(?:Cur|Git) working dir: |Tokens: .* sent|Cost: |Approximate context window|\$ \d"
    r"|Applied edit to |Commit [0-9a-f]{6,} |Committing |You can use /undo|HEAD is: |Now at: "
    r"|Removed: |Removed .* the chat|(?:Added|Moved|Creating|Add) .* (?:chat|file)[.?]?\Z"
    r"|\S+ is already in the chat|Allow creation of |Diff since |No changes to display|\^C |> "
    r"|(?:## )?Running: |WARNING: |Only \d+ reflections|# Fix any errors|The LLM did not conform"
    r"|# \d+ SEARCH/REPLACE block|## SearchReplace"
)
"""Lines of a chat tool between those of its user."""
_COMMAND: Final = re.compile(r"/(?:[a-z][\w:-]*)?(?=\s|\Z)")
_ASKING_COMMAND: Final = re.compile(r"/(?:ask|code|architect|chat)\s+")
"""Commands of which the rest is a person's question."""
_REQUEST: Final = "## My request for Codex:"
"""Below it stands what was typed, above it what an IDE added."""
_OUTPUT: Final = re.compile(r"^.{0,20}(?:[=_]{8,}|\.{8,})", re.MULTILINE)
"""Rules and dotted lines: from here on it is the output of a program."""
_CODE_LINE: Final = re.compile(
    r"[(\[{\\;]\Z|\A\s*(?:```|@@|[+-]{3} |[=_-]{8,}|[\w.]+ = |[\w.]+\()"
    r"|\A\s*(?:if|for|while|def|class) .*:\Z"
)
"""Lines that show by themselves that they are no prose: traces and outputs that were pasted."""
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_IDEOGRAPH: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD: Final = re.compile(r"[^\W_]+")
_SHORT_SLACK: Final = 24
"""How much else may stand on a line that shows a message of one or two words: a role, a mark."""


@dataclass(frozen=True, slots=True)
class Typed:
    """What a person typed in one message."""

    index: int
    """Of the message."""
    text: str

    @property
    def is_short(self) -> bool:
        """Whether it is a message that always stays, rather than a document."""
        return count_words(self.text) <= MAX_WORDS

    def units(self) -> Iterator[str]:
        """Yield its sentences and lines that are long enough to be recognized."""
        for line in self.text.split("\n"):
            for unit in _SENTENCE_END.split(line):
                if count_words(unit) >= MIN_UNIT_WORDS:
                    yield squeeze(unit)


@dataclass(frozen=True)
class Shown:
    """The words that a view shows, without its system prompt."""

    messages: Sequence[Mapping[str, Any]]

    @cached_property
    def texts(self) -> list[str]:
        """The texts of all messages."""
        return [text_of(m) for m in self.messages if m.get("role") not in ("system", "developer")]

    @cached_property
    def squeezed(self) -> str:
        """All of it, with single blanks; messages are apart."""
        return "\n".join(map(squeeze, self.texts))

    @cached_property
    def lines(self) -> frozenset[str]:
        """Its lines, and short messages as wholes, with single blanks."""
        lines = {squeeze(line) for text in self.texts for line in text.split("\n")}
        return frozenset(lines | {squeeze(text) for text in self.texts})

    def has_trace(self, typed: Typed) -> bool:
        """Tell whether at least a whole sentence or line of what was typed is there.

        Where every sentence is too short to be recognized, the message itself must be there, on a
        line that says little else.
        """
        units = list(typed.units())
        if units:
            return any(unit in self.squeezed for unit in units)
        text = squeeze(typed.text)
        if text in self.lines:
            return True
        longest = len(text) + _SHORT_SLACK
        return any(len(line) <= longest and line.endswith(text) for line in self.lines)

    def has_whole(self, typed: Typed) -> bool:
        """Tell whether it is there word for word; notes of a harness in between may be gone."""
        if not any(typed.units()):
            return self.has_trace(typed)
        lines = filter(None, map(squeeze, typed.text.split("\n")))
        return squeeze(typed.text) in self.squeezed or all(line in self.lines for line in lines)


def find_typed(messages: Sequence[Mapping[str, Any]]) -> list[Typed]:
    """Return what a person typed, message by message; the first is the task."""
    found: list[Typed] = []
    has_answer = False
    for index, message in enumerate(messages):
        has_answer = has_answer or message.get("role") == "assistant"
        if message.get("role") != "user":
            continue
        text = text_of(message)
        if has_answer and _PROMPT.search(text):
            continue  # the output of a command; only before any command was it the task
        typed = _typed_part(text)
        if typed:
            found.append(Typed(index, typed))
    return found


def _typed_part(text: str) -> str:
    """Return *text* without what is known not to be typed; empty if nothing is left."""
    text = text.rpartition(_REQUEST)[2].strip()
    if text.startswith(_NOTES):
        return ""
    output = _OUTPUT.search(text)
    text = text[: output.start()] if output else text
    lines = [line for line in map(_typed_line, text.split("\n")) if line is not None]
    typed = "\n".join(lines).strip()
    is_prose = any(count_words(line) and not _CODE_LINE.search(line) for line in lines)
    return typed if is_prose else ""


def _typed_line(line: str) -> str | None:
    """Return what a person typed on a line; `None` if they did not."""
    if _HARNESS_LINE.match(line):
        return None
    asked = _ASKING_COMMAND.match(line)
    if asked is not None:
        return line[asked.end() :]
    return None if _COMMAND.match(line) else line


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message; its text parts one below the other."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(p["text"] for p in parts if isinstance(p, dict) and "text" in p)


def squeeze(text: str) -> str:
    """Return *text* with single blanks."""
    return " ".join(text.split())


def count_words(text: str) -> int:
    """Count words; scripts without blanks have about two characters a word."""
    ideographs = len(_IDEOGRAPH.findall(text))
    return len(_WORD.findall(_IDEOGRAPH.sub(" ", text))) + (ideographs + 1) // 2
