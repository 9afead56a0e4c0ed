"""What lines of tool output are: one table of rules, the first that holds decides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.fold.people import is_prose
from refold.fold.pieces import Grade

_RULES: Final[tuple[tuple[Grade, str], ...]] = (
    # what a run came to, and which tests failed
    (Grade.FAILED, r"(?:FAILED|ERROR) (?=\S*[/.:])|(?:ERROR|FAIL): \S|[ \t]*--- FAIL"),
    (Grade.FAILED, r".*(?:::\S{1,200} (?:FAILED|ERROR)|\.\.\. (?:FAIL|ERROR))|not ok \d|FAIL\t"),
    (Grade.FAILED, r"[ \t]*[✕✗✖×❌] \S|[ \t]*● \S"),
    (Grade.GRAVE, r"(?:FAILED|ERROR|FAIL)[ :]"),
    (Grade.GRAVE, r"E  "),
    (Grade.GRAVE, r"_{3,} \S.* _{3,}$"),
    (Grade.GRAVE, r"Ran \d+ tests|(?:OK|FAILED)\b|test result: "),
    (Grade.GRAVE, r"[ \t]*Tests?(?: Suites| Files)?:? +(?:run: )?\d|\[\w+\] Tests run: \d"),
    (Grade.GRAVE, r"Error: |(?:[a-zA-Z_]\w*\.)*\w*(?:Error|Exception)\b"),
    (
        Grade.GRAVE,
        r".{0,99}\b\d+ (?:passed|failed|errors?)\b.{0,99} in [\d.]+|.*BUILD (?:SUCCESS|FAIL)",
    ),
    (Grade.GRAVE, r"\d+ (?:passing|failing)\b"),
    # what says nothing
    (Grade.NOISE, r".*(?:PASSED|\.\.\. ok|site-packages|\bDEBUG\b)"),
    (Grade.NOISE, r"\s+at [\w.$]+\(|[ \t]*(?:--- PASS|=== RUN|✓|✔|√) |ok \d"),
    (Grade.NOISE, r"</?[\w-]+>\s*$"),
    (Grade.NOISE, r"[\w.]+=(?:\[\]|\{\}|null|None)?$"),
    # what reports that something went wrong
    (
        Grade.ERROR,
        r".*(?i:\b(?:error|exception|traceback|failed|failure|fatal|panic|denied|not found|cannot"
        r"|assert\w*)\b)|.*\bFAIL\b|.*(?i:exit (?:code|status)?:? ?[1-9])",
    ),
    # what names what follows
    (
        Grade.SIGNATURE,
        r"[ \t]*(?:\d+[\t:→|-]\s*)?(?:async def|def|class|function|func|fn|export|pub|impl"
        r"|interface|type|struct)\b",
    ),
)
_LINE: Final = re.compile(
    "(?m)^(?:" + "|".join(f"(?P<g{n}>{pattern})" for n, (_, pattern) in enumerate(_RULES)) + ")"
)
_GRADES: Final = {f"g{n}": grade for n, (grade, _) in enumerate(_RULES)}
_HARNESS: Final = re.compile(
    r"(?m)^(?:Aider v\d|(?:Main |Weak )?[Mm]odels?: |Git repo: |Repo-map: |Use /help "
    r"|\S*/bin/aider\b"
    r"|(?:Cur|Git) working dir|Tokens: .* sent|Cost: |Applied edit to |Commit [0-9a-f]{6,} "
    r"|You can use /undo|HEAD is: |Added .* chat|.* is already in the chat|> |# Fix any errors"
    r"|## Running: |</?[\w-]+>\s*$)"
)


SIGNATURE: Final = re.compile(
    r"(?m)^[ \t]*(?:\d+[\t:→|-]\s*)?(?:async def|def|class|function|func|fn|export|pub|impl"
    r"|interface|type|struct)\b"
)
_KINDS: Final[tuple[tuple[str, float, re.Pattern[str]], ...]] = (
    ("diff", 0.02, re.compile(r"diff --git |@@ -\d|--- a/|Index: ")),
    (
        "test run",
        0.01,
        re.compile(
            r"(?:FAILED|PASSED|ERROR) [^\s:]+::|[^\s:]+::\S+ (?:PASSED|FAILED)|=+ test session"
            r"|Ran \d+ tests?"
            r"|=+ .*\d+ (?:passed|failed)|test result: |--- (?:FAIL|PASS)|ok  \t|\s*Tests:? +\d"
        ),
    ),
    ("file", 0.6, re.compile(r"\s*\d+[\t→|:]")),
    ("search hits", 0.5, re.compile(r"[\w./-]+[:-]\d+[:-]")),
    (
        "log",
        0.4,
        re.compile(
            r"\W{0,2}(?:\d{4}-\d\d-\d\d[T ]\d\d|\d\d:\d\d:\d\d|(?:INFO|DEBUG|WARN|ERROR)\b"
            r"|[A-Z][a-z]{2} +\d+ \d\d:|\d+\.\d+\.\d+\.\d+ - )"
        ),
    ),
    (
        "stack trace",
        0.1,
        re.compile(r"Traceback \(most|\s+at [\w.$<>]+\(|\s+File \"[^\"]+\", line \d"),
    ),
    ("listing", 0.6, re.compile(r"[d-][rwx-]{9}|(?:\./|/)?[\w.-]+(?:/[\w.-]+)*/?$")),
    (
        "build output",
        0.05,
        re.compile(r"[^\s:]+:\d+(?::\d+)?: (?:error|warning)|Compiling |npm "),
    ),
    ("code", 0.05, SIGNATURE),
)
"""The kinds of results: the share of lines that must look like it, and how they do."""
_SAMPLE: Final = 200
"""So many lines show what kind a text is."""
PROGRAM_KINDS: Final = frozenset(
    {"build output", "listing", "log", "search hits", "stack trace", "test run"}
)
"""What a program writes for this call, and nobody edits."""


def kind_of(text: str) -> str:
    """Return the kind of a text: `json`, one of those in the table, `prose` or `text`."""
    start = text.lstrip()[:1]
    if start in ("{", "[") and text.rstrip()[-1:] in ("}", "]"):
        return "json"
    lines = [line for line in text.split("\n", _SAMPLE)[:_SAMPLE] if line.strip()]
    for name, share, look in _KINDS:
        if sum(1 for line in lines if look.match(line)) > share * max(1, len(lines)):
            return name
    return "prose" if is_prose(text) else "text"


def grade_lines(text: str) -> Iterator[tuple[int, Grade]]:
    """Yield where a line of tool output begins that is more or less than plain, and what it is."""
    for found in _LINE.finditer(text):
        yield found.start(), _GRADES[found.lastgroup or ""]


def grade_harness(text: str) -> Iterator[tuple[int, Grade]]:
    """Yield the lines of a user's message that an agent's program wrote into it."""
    for found in _HARNESS.finditer(text):
        yield found.start(), Grade.NOISE


def without_harness(text: str) -> str:
    """Return what of a user's message no agent's program wrote."""
    if _HARNESS.search(text) is None:
        return text
    return "\n".join(line for line in text.split("\n") if not _HARNESS.match(line)).strip("\n")
