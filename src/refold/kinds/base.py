"""What a kind of result is, what it sees of a text, and how pieces of a result are graded."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from refold.rows import Needs

_HEAD: Final = 8_000
"""Characters of the head that are sampled. From 2,000 to 16,000 at most one of 3,503 recorded
results is of another kind."""
_REST: Final = 3_000
"""Characters of the middle, and of the end: the same holds from 1,000 to 6,000."""
_SOME: Final = 14
"""Lines of the head, and together of middle and end. With 7 of each 37 of the 3,503 are of another
kind, with 28 and with 56 the same 14, in a sixth and a third more time."""
_WIDEST: Final = 240
"""Of each line. With 120 characters 9 of them are of another kind, with 480 one."""
_ARGUMENTS: Final = 600
"""Characters of the arguments in which a command is looked for; commands are shorter."""

_WRAPPED: Final = re.compile(r'\s*+\{\s*+"(?:output|stdout|stderr|content|result|text)"\s*+:\s*+"')
_FRAME_LINE: Final = re.compile(
    r"</?(?:returncode|output|stdout|stderr|system-reminder|result|error|function_results)>"
    r"|(?:Chunk ID|Wall time|Exit code|Process exited|Output|OBSERVATION|stdout|stderr)\b"
)
_SEARCH_TOOLS: Final = ("grep", "ripgrep", "search_code", "search_dir", "codesearch")
_SEARCH_COMMAND: Final = re.compile(r"[\s\"'|;&(](?:rg|grep|git grep|egrep|ag|ack) ")
_FRAME_STARTS: Final = frozenset("<CWEPOs")
"""The first letters of such lines: most other lines begin with another."""


def unwrap(text: str) -> str:
    r"""Return *text* with the line breaks of a wrapped output made real; no place moves.

    Some tools answer `{"output": "line one\nline two\n", …}`: one long line of JSON that is
    really a shell's output. An escape of two characters becomes a blank and what it stands for.
    """
    if "\\n" not in text or not _WRAPPED.match(text):
        return text
    return text.replace("\\n", " \n").replace("\\t", " \t").replace('\\"', ' "')


class Sample:
    """The part of a text that `claims` sees; its size does not grow with the text. Read-only."""

    __slots__ = ("arguments", "block", "is_unwrapped", "lines", "text", "tool")

    def __init__(
        self, text: str, lines: list[str], tool: str, arguments: str, *, is_unwrapped: bool
    ) -> None:
        self.text: Final = text
        """Head, middle and end of the text."""
        self.lines: Final = lines
        """Some lines of it that are not blank, without trailing blanks."""
        self.block: Final = "\n".join(("", *lines))
        """These lines as one text, with a line break before each."""
        self.tool: Final = tool.lower()
        self.arguments: Final = f" {arguments[:_ARGUMENTS]}"
        """The beginning of the call's arguments, after a blank, so that no pattern needs `^`."""
        self.is_unwrapped: Final = is_unwrapped
        """Whether the text was wrapped in JSON."""

    @property
    def was_search(self) -> bool:
        """Whether the tool was asked to search: by its name, or by the command it ran."""
        if any(name in self.tool for name in _SEARCH_TOOLS):
            return True
        return _SEARCH_COMMAND.search(self.arguments) is not None

    def has(self, *needles: str) -> bool:
        """Return whether the text holds one of the *needles*; much faster than any pattern."""
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
    """Sample the head, the middle and the end of *text*."""
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


def is_any(_sample: Sample) -> bool:
    """Return that any text will do."""
    return True


LONG: Final = 220
"""A piece is hardly ever longer than this many characters; longer lines are cut."""

_ERRORS: Final = frozenset({"error", "exit", "failure"})
_GRAVE: Final = 3.0
"""The least weight of an error; see `Grade.weight`."""


@dataclass(frozen=True, slots=True)
class Grade:
    """The grade of a line: how much its piece is worth, and which lines share a piece."""

    label: str
    """The reason in a word: error, warning, exit, failure, frame, repeat, summary, signature, …"""
    weight: float
    """Its worth: 1 for ordinary lines, 0.2 for boilerplate, 2–3 for what explains the rest; 0 for
    what is only shown with the lines that it leads."""
    must: bool = False
    """Errors, warnings, failing tests, exit codes: dropped only when nothing else is left."""
    room: int = 80
    """Neighbouring lines of this grade share a piece up to this many characters."""
    leads: bool = False
    """Whether the lines below, up to the next that leads or begins, are shown only with it."""
    times: int = 1
    """How many lines are equal to this one but for numbers; only the first is a must."""
    begins: bool = False
    """Whether something begins here, such as a record: it shares no piece with what precedes it,
    and nothing above leads it."""

    def may_go_on(self, grade: Grade) -> bool:
        """Return whether a piece of this grade may go on with a line of another *grade*."""
        return not grade.begins and (
            grade is self
            or (
                grade.weight == self.weight
                and grade.must == self.must
                and grade.leads == self.leads
                and grade.times == self.times
            )
        )

    @property
    def is_error(self) -> bool:
        """Whether it reports an error, not just a warning, a detail or a summary."""
        return self.must and self.label in _ERRORS and self.weight >= _GRAVE


class Pieces(NamedTuple):
    """The stretches of a text that are kept or dropped as one; they tile it."""

    ends: list[int]
    grades: list[Grade]

    def add(self, end: int, grade: Grade) -> None:
        """Add a piece that begins where the last one ends."""
        self.ends.append(end)
        self.grades.append(grade)


PLAIN: Final = Grade("", 1.0)
NOISE: Final = Grade("boilerplate", 0.2, room=200)
SETTLED: Final = Grade("boilerplate", 0.2, room=200)
"""Boilerplate that looks like an error but is none."""
ERROR: Final = Grade("error", 3.0, must=True)
WARNING: Final = Grade("warning", 2.0, must=True)
EXIT: Final = Grade("exit", 3.0, must=True)
FAILURE: Final = Grade("failure", 3.0, must=True)
EVIDENCE: Final = Grade("failure", 2.5, must=True)
"""How something failed, or merely that it did: it ranks below the errors themselves."""
ASIDE: Final = Grade("aside", 1.5)
"""The rest of a long line that is a must."""
DETAIL: Final = Grade("failure", 1.5)
"""The context of a failure: the code that failed, values, captured output."""
REPEAT: Final = Grade("repeat", 0.5, room=120)
"""An error line that repeats an earlier one."""
SUMMARY: Final = Grade("summary", 3.0)
BAD_SUMMARY: Final = Grade("summary", 3.0, must=True)
"""A summary that reports failures."""
HEADING: Final = Grade("heading", 1.5)
TABLE_HEAD: Final = Grade("heading", 3.0, leads=True)
"""The header of a table."""
COLUMNS: Final = Grade("heading", 0.0, leads=True)
"""The same where a codec turned records into rows: worthless without a row."""
SIGNATURE: Final = Grade("signature", 2.0)
USER_FRAME: Final = Grade("frame", 2.0, must=True, room=200)
OTHER_FRAME: Final = Grade("frame", 0.3, room=200)
PASSED: Final = Grade("passed", 0.2, room=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of tool result: a row of the table."""

    name: str
    split: Callable[[str], Pieces]
    """Cut a text of this kind into pieces."""
    claims: Callable[[Sample], bool] = is_any
    """Returns, from a sample, whether a text is of this kind."""
    needs: Needs = Needs()  # noqa: RUF009 - it is immutable
    """What the sampled lines of every such text hold: `refold.rows.Needs`; by default anything."""
    is_sure: Callable[[Sample], bool] | None = None
    """Returns whether a text is clearly of this kind; asked before any kind may claim it."""
    on_one_line: bool = False
    """Whether a text without line breaks can be of this kind."""
    is_excerpted: bool = True
    """Whether some pieces of such a text make sense without the rest.

    Half of some JSON is none, and prose says nothing of what of it matters.
    """
