"""What lines of tool output are: one table of rules, the first that holds decides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from refold.fold.people import is_prose
from refold.fold.pieces import Grade
from refold.lazy import regex

_RULES: Final[tuple[tuple[Grade, str, tuple[str, ...]], ...]] = (
    # what a run came to, and which tests failed
    (
        Grade.FAILED,
        r"(?:FAILED|ERROR) (?=\S*[/.:])|(?:ERROR|FAIL): \S|[ \t]*--- FAIL",
        ("FAIL", "ERROR"),
    ),
    (
        Grade.FAILED,
        r".*(?:::\S{1,200} (?:FAILED|ERROR)|\.\.\. (?:FAIL|ERROR))|not ok \d|FAIL\t",
        ("FAIL", "ERROR", "not ok "),
    ),
    (Grade.FAILED, r"[ \t]*[✕✗✖×❌] \S|[ \t]*● \S", tuple("✕✗✖×❌●")),
    (Grade.GRAVE, r"(?:FAILED|ERROR|FAIL)[ :]", ("FAIL", "ERROR")),
    (Grade.GRAVE, r"E  ", ("E  ",)),
    (Grade.GRAVE, r"_{3,} \S.* _{3,}$", ("___ ",)),
    (
        Grade.GRAVE,
        r"Ran \d+ tests|(?:OK|FAILED)\b|test result: ",
        ("Ran ", "OK", "FAILED", "test result: "),
    ),
    (
        Grade.GRAVE,
        r"[ \t]*Tests?(?: Suites| Files)?:? +(?:run: )?\d|\[\w+\] Tests run: \d",
        ("Test",),
    ),
    (
        Grade.GRAVE,
        r"Error: |(?:[a-zA-Z_]\w*\.)*\w*(?:Error|Exception)\b",
        ("Error", "Exception"),
    ),
    (
        Grade.GRAVE,
        r".{0,99}\b\d+ (?:passed|failed|errors?)\b.{0,99} in [\d.]+|.*BUILD (?:SUCCESS|FAIL)",
        (" passed", " failed", " error", "BUILD "),
    ),
    (Grade.GRAVE, r"\d+ (?:passing|failing)\b", (" passing", " failing")),
    # what says nothing
    (
        Grade.NOISE,
        r".*(?:PASSED|\.\.\. ok|site-packages|\bDEBUG\b)",
        ("PASSED", "... ok", "site-packages", "DEBUG"),
    ),
    (
        Grade.NOISE,
        r"[ \t]{1,99}at [\w.$]{1,200}\(|[ \t]*(?:--- PASS|=== RUN|✓|✔|√) |ok \d",
        ("at ", "--- PASS", "=== RUN", "✓", "✔", "√", "ok "),
    ),
    (Grade.NOISE, r"</?[\w-]{1,99}>[ \t\r]*$", (">",)),
    (Grade.NOISE, r"[\w.]+=(?:\[\]|\{\}|null|None)?$", ("=",)),
    # what names what follows
    (
        Grade.SIGNATURE,
        r"[ \t]*(?:\d{1,9}[\t:→|-][ \t]*)?(?:async def|def|class|function|func|fn|export|pub|impl"
        r"|interface|type|struct)\b",
        tuple("def class func fn export pub impl interface type struct".split()),
    ),
)
"""What a line is, how it looks, and what every text with such a line has one of."""
_ASIDE: Final = regex(r"(?ms)^<(system-reminder)>[ \t]*$.*?(?:^</\1>|\Z)")
"""What a harness adds to a result for the model."""
_ODD: Final = "\u0130\u0131\u017f\u212a"
"""Letters that count as others where case is ignored."""
_LINE_END: Final = regex(r"\n")
_ERROR: Final = regex(
    r"(?i:.*\b(?:error|exception|traceback|failed|failure|fatal|panic|denied|not found|cannot"
    r"|assert\w*)\b)|.*\bFAIL\b|.*(?i:exit (?:code|status)?:? ?[1-9])"
)
"""What reports that something went wrong, unless a rule says better what it is."""
_TROUBLE: Final = (
    *("error", "exception", "traceback", "fail", "fatal", "panic", "denied", "not found"),
    *("cannot", "assert", "exit "),
)
"""One of these is in every such line, in small letters."""


@cache
def _rules_for(numbers: tuple[int, ...]) -> re.Pattern[str] | None:
    """Return the pattern of some rules, the first that holds decides."""
    rules = "|".join(f"(?P<g{n}>{_RULES[n][1]})" for n in numbers)
    return re.compile(f"(?m)^(?:{rules})") if rules else None


_HARNESS: Final = regex(
    r"(?m)^(?:Aider v\d|(?:Main |Weak )?[Mm]odels?: |Git repo: |Repo-map: |Use /help "
    r"|\S*/bin/aider\b"
    r"|(?:Cur|Git) working dir|Tokens: .* sent|Cost: |Applied edit to |Commit [0-9a-f]{6,} "
    r"|You can use /undo|HEAD is: |Added .* chat|.* is already in the chat|> |# Fix any errors"
    r"|## Running: |</?[\w-]+>\s*$)"
)


SIGNATURE: Final = regex(
    r"(?m)^[ \t]*(?:\d{1,9}[\t:→|-][ \t]*)?(?:async def|def|class|function|func|fn|export|pub|impl"
    r"|interface|type|struct)\b"
)
_KINDS: Final[tuple[tuple[str, float, re.Pattern[str]], ...]] = (
    ("diff", 0.02, regex(r"diff --git |@@ -\d|--- a/|Index: ")),
    (
        "test run",
        0.01,
        regex(
            r"(?:FAILED|PASSED|ERROR) [^\s:]{1,200}::|[^\s:]{1,200}::\S{1,200} (?:PASSED|FAILED)"
            r"|={1,99} (?:test session|.{0,99}\d (?:passed|failed))|Ran \d+ tests?|test result: "
            r"|--- (?:FAIL|PASS)|ok  \t|\s{0,9}Tests:? {1,9}\d"
        ),
    ),
    ("file", 0.6, regex(r"\s{0,40}\d{1,9}[\t→|:]")),
    ("search hits", 0.5, regex(r"[\w./-]{1,300}[:-]\d{1,9}[:-]")),
    (
        "log",
        0.4,
        regex(
            r"\W{0,2}(?:\d{4}-\d\d-\d\d[T ]\d\d|\d\d:\d\d:\d\d|(?:INFO|DEBUG|WARN|ERROR)\b"
            r"|[A-Z][a-z]{2} {1,9}\d{1,9} \d\d:|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3} - )"
        ),
    ),
    (
        "stack trace",
        0.1,
        regex(
            r"Traceback \(most|\s{1,99}at [\w.$<>]{1,200}\(|\s{1,99}File \"[^\"]{1,300}\", line \d"
        ),
    ),
    ("listing", 0.6, regex(r"[d-][rwx-]{9}|(?:\./|/)?(?:[\w.-]{1,99}/){0,20}[\w.-]{0,99}$")),
    (
        "build output",
        0.05,
        regex(r"[^\s:]{1,200}:\d{1,9}(?::\d{1,9})?: (?:error|warning)|Compiling |npm "),
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
    numbers = [n for n, row in enumerate(_RULES) if any(sign in text for sign in row[2])]
    line = _rules_for(tuple(numbers))
    graded = {
        match.start(): _RULES[int((match.lastgroup or "g0")[1:])][0]
        for match in (line.finditer(text) if line else ())
    }
    for start in _find_trouble(text):
        if graded.get(start, Grade.SIGNATURE) is Grade.SIGNATURE:
            graded[start] = Grade.ERROR
    for aside in _ASIDE.finditer(text) if "<system-reminder>" in text else ():
        graded[aside.start()] = Grade.NOISE
        for end in _LINE_END.finditer(text, aside.start(), aside.end()):
            graded[end.end()] = Grade.NOISE
    yield from sorted(graded.items())


def _find_trouble(text: str) -> Iterator[int]:
    """Yield where a line begins that reports an error: a line is matched only if it may be one."""
    small = text.lower()
    if not text.isascii() and any(letter in text for letter in _ODD):
        starts = {0, *(match.end() for match in _LINE_END.finditer(text))}
    else:
        starts = set[int]()
        for sign in _TROUBLE:
            place = small.find(sign)
            while place >= 0:
                starts.add(small.rfind("\n", 0, place) + 1)
                place = small.find(sign, small.find("\n", place) % (len(small) + 1))
    for start in starts:
        if _ERROR.match(text, start):
            yield start


def grade_harness(text: str) -> Iterator[tuple[int, Grade]]:
    """Yield the lines of a user's message that an agent's program wrote into it."""
    for match in _HARNESS.finditer(text):
        yield match.start(), Grade.NOISE


def without_harness(text: str) -> str:
    """Return what of a user's message no agent's program wrote."""
    if _HARNESS.search(text) is None:
        return text
    return "\n".join(line for line in text.split("\n") if not _HARNESS.match(line)).strip("\n")
