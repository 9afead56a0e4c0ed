"""A few lines of a text, enough to tell its kind, and what is known of the tool that wrote it."""

from __future__ import annotations

import re
from typing import Final

_HEAD: Final = 8_000
"""Characters of the head that are looked at. From 2,000 to 16,000 at most one of 3,503 recorded
results is of another kind."""
_REST: Final = 3_000
"""Characters of the middle, and of the end: the same holds from 1,000 to 6,000."""
_SOME: Final = 14
"""Lines of the head, and together of middle and end. With 7 of each 37 of the 3,503 are of another
kind, with 28 and with 56 the same 14, in a sixth and a third more time."""
_WIDEST: Final = 240
"""Of each line. With 120 characters 9 of them are of another kind, with 480 one."""
_ARGUMENTS: Final = 600
"""Of the call, in which a command is looked for; commands are shorter."""

_WRAPPED: Final = re.compile(r'\s*+\{\s*+"(?:output|stdout|stderr|content|result|text)"\s*+:\s*+"')
_FRAME_LINE: Final = re.compile(
    r"</?(?:returncode|output|stdout|stderr|system-reminder|result|error|function_results)>"
    r"|(?:Chunk ID|Wall time|Exit code|Process exited|Output|OBSERVATION|stdout|stderr)\b"
)
_SEARCH_TOOLS: Final = ("grep", "ripgrep", "search_code", "search_dir", "codesearch")
_SEARCH_COMMAND: Final = re.compile(r"[\s\"'|;&(](?:rg|grep|git grep|egrep|ag|ack) ")
_FRAME_STARTS: Final = frozenset("<CWEPOs")
"""The first letters of such lines: most others are told by theirs."""


def unwrap(text: str) -> str:
    r"""Return *text* with the line breaks of a wrapped output made real; no place moves.

    Some tools answer `{"output": "line one\nline two\n", …}`: one long line of JSON that is
    really a shell's output. An escape of two characters becomes a blank and what it stands for.
    """
    if "\\n" not in text or not _WRAPPED.match(text):
        return text
    return text.replace("\\n", " \n").replace("\\t", " \t").replace('\\"', ' "')


class Sample:
    """What `claims` may look at; its size does not grow with the text. Read-only."""

    __slots__ = ("arguments", "block", "is_unwrapped", "lines", "text", "tool")

    def __init__(
        self, text: str, lines: list[str], tool: str, arguments: str, *, is_unwrapped: bool
    ) -> None:
        self.text: Final = text
        """The head, the middle and the end of the text."""
        self.lines: Final = lines
        """Some lines from there that are not blank, without blank ends."""
        self.block: Final = "\n".join(("", *lines))
        """The same lines as one text, a line break before each."""
        self.tool: Final = tool.lower()
        self.arguments: Final = f" {arguments[:_ARGUMENTS]}"
        """The beginning of the arguments of the call, after a blank: no pattern needs `^`."""
        self.is_unwrapped: Final = is_unwrapped
        """Whether the text was an output inside of JSON."""

    @property
    def was_search(self) -> bool:
        """Whether the tool was asked to search: told by its name, or by the command it ran."""
        if any(name in self.tool for name in _SEARCH_TOOLS):
            return True
        return _SEARCH_COMMAND.search(self.arguments) is not None

    def has(self, *needles: str) -> bool:
        """Tell whether the text holds one of the *needles*; much faster than any pattern."""
        text = self.text
        for needle in needles:  # noqa: SIM110 - `any` takes twice as long
            if needle in text:
                return True
        return False

    def share(self, pattern: re.Pattern[str]) -> float:
        """Return the share of the lines that begin as *pattern*, made by `line_pattern`, says."""
        return self.count(pattern) / len(self.lines) if self.lines else 0.0

    def count(self, pattern: re.Pattern[str]) -> int:
        """Return how many of the lines begin as *pattern*, made by `line_pattern`, says."""
        return len(pattern.findall(self.block))


def take_sample(text: str, tool: str, arguments: str) -> Sample:
    """Look at the head, the middle and the end of *text*."""
    whole, text = text, unwrap(text)
    is_unwrapped = text is not whole
    if len(text) > _HEAD + 2 * _REST:
        middle = len(text) // 2
        text = "\n".join((text[:_HEAD], text[middle : middle + _REST], text[-_REST:]))
    lines = list(filter(str.strip, text.split("\n")))
    if len(lines) > 2 * _SOME:
        middle = len(lines) // 2
        lines = [*lines[:_SOME], *lines[middle : middle + _SOME // 2], *lines[-(_SOME // 2) :]]
    lines = [
        line[:_WIDEST].rstrip()
        for line in lines
        if line[0] not in _FRAME_STARTS or not _FRAME_LINE.match(line)
    ]
    return Sample(text, lines, tool, arguments, is_unwrapped=is_unwrapped)
