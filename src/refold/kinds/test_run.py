"""Test runs: failures whole, what is known to pass only as boilerplate, the summary on top."""

from __future__ import annotations

import re
from typing import Final

from refold.kinds._error_patterns import FRAME, LIBRARY
from refold.kinds._errors import split_output
from refold.kinds._lines import END, GradesByLine, any_of, ends_with, line_pattern, line_rules
from refold.kinds.base import (
    DETAIL,
    EVIDENCE,
    FAILURE,
    LONG,
    NOISE,
    OTHER_FRAME,
    PASSED,
    REPEAT,
    SETTLED,
    SUMMARY,
    Grade,
    Kind,
    Pieces,
)
from refold.rows import Needs

_WHOLE: Final = 5
"""This many failures are kept in full; of later ones, the name and what is new."""
_EVIDENCE_LINES: Final = 12
"""Of each failure kept in full. From 6 to 24 the pieces of 97 recorded runs are the same but for
one: failures are shorter."""
_BLOCK_LINES: Final = 40
"""How far the block of a failure is followed. With 20 lines the recorded runs have 8 pieces fewer
of 3,729, with 80 two fewer: blocks run into each other."""

_NAMED: Final = Grade("failure", 3.1, must=True)
"""Which test failed: before all else."""

# These four are only on the way: `_settle_failures` turns each into a grade of its own.
_SECTION: Final = Grade("heading", 1.0)
_BAD_SECTION: Final = Grade("heading", 1.01)
_BLOCK: Final = Grade("heading", 1.02)
_SHOWN: Final = Grade("failure", 2.01)

_COUNTS: Final = (
    r"(?:[0-9]++ (?:passed|failed|errors?|skipped|deselected|x(?:failed|passed)|warnings?|rerun)"
    r"(?:, )?)++ in [0-9]"
)
_SUMMARY: Final = any_of(
    rf"=++ (?:{_COUNTS}|no tests ran)",  # pytest
    _COUNTS,
    rf"Ran [0-9]++ tests? in |OK(?: \([^\n]*+)?{END}|FAILED \((?:failures|errors)",  # unittest
    r"test result: ",  # cargo
    r"(?:\[\w++\] )?(?:Tests run: [0-9]|BUILD (?:SUCC|FAIL))",  # maven
    r"[0-9]++ tests completed",  # gradle
    r"[ \t]*+(?:Tests|Test Suites|Test Files|Snapshots):? ++[0-9]",  # jest, vitest
    r"[ \t]*+[0-9]++ (?:passing|failing|pending)|# (?:pass|fail|tests) [0-9]",  # mocha, node
    rf"(?:FAIL|PASS){END}",  # go
    r"[0-9]++ examples?, [0-9]",  # rspec
    r"(?:Passed|Failed)! ++- Failed: ",  # dotnet
    r"[0-9]++% tests passed, ",  # ctest
    r"\[={10}\] [0-9]++ tests? |\[  PASSED  \] [0-9]",  # googletest
)
_FAILED: Final = any_of(
    r"(?:FAILED|ERROR) (?=\S*[/.:])",
    r"(?:ERROR|FAIL): \S",
    r"[ \t]*+(?:--- FAIL: |FAIL[ \t]++\S)",
    r"[ \t]*+(?:✕|✗|✖|×|❌) \S",
    r"not ok [0-9]",
    r"[ \t]++Failed \S++ \[[0-9<]|\[  FAILED  \] \S",  # dotnet, googletest
    r"[ \t]*+[0-9]++/[0-9]++ Test ++#[^\n*]++\*\*\*\w|rspec \./",  # ctest, rspec
    ends_with(" FAILED", r"\.\.\. ERROR", r"\.\.\. FAIL", r"\(Failed\)"),
)
_BLOCK_HEAD: Final = any_of(
    r"_{3,}+ [^\n_]", r"---- \S++ stdout ----", r"[ \t]*+● \S", r"[ \t]*+[0-9]++\) \S"
)
_RAISED: Final = r"E {2,}+[A-Za-z_][\w.]*+(?:(?<=Error)|(?<=Exception)|(?<=Failure))(?=:|\n|\Z)"
_EVIDENT: Final = any_of(
    r"E {2,}+\S|> {3,}+\S",
    r"[ \t]*+(?:AssertionError|Expected|Received|thrown:|left: |right: |assertion )",
    r"[ \t]*+(?:expected|actual|Actual|got):? |[ \t]++Which is: |Failed asserting ",
    r"[ \t]*+(?:Failure/Error: |> [0-9]++ \||❯ [^\s:]++:[0-9])",  # rspec, jest, vitest
    r"[ \t]++at [^\s(]++\([^\n)]*+\) in \S",  # dotnet
    rf"[ \t]*+[\w./\\-]++:[0-9]++(?:: \S|{END})",
)
_OUTCOME: Final = any_of(
    r"\[ERROR\] Failed to execute goal ",  # maven
    r"FAILURE: Build failed |Execution failed for task ",  # gradle
    r"error Command failed |(?:npm|pnpm) (?:ERR!|error) Test failed|ELIFECYCLE",
    r"make(?:\[[0-9]++\])?: \*\*\* ",
    r"error: test failed, to rerun ",  # cargo
)
"""The final message of the tool that ran the tests: that they failed, not why."""
_CHATTER: Final = any_of(
    rf"\[ERROR\] *+(?:{END}|See |To see |Re-run |For more |-> \[|\[Help|After correcting)",
    r"collected [0-9]++ items?",
)
_PASSES: Final = any_of(
    r"(?:PASSED|SKIPPED|XFAIL|XPASS) |PASS[ \t]++\S",
    r"ok {2,}\t?\S|ok\t|[ \t]*+--- (?:PASS|SKIP): |=== (?:RUN|PAUSE|CONT|NAME)|\?[ \t]++\S",
    r"[ \t]*+(?:✓|✔|√|○|↓) |ok [0-9]|\[INFO\]",
    r"[ \t]++Passed \S++ \[[0-9<]|\[(?: RUN      |       OK |-{10})\]",  # dotnet, googletest
    r"[ \t]*+(?:[0-9]++/[0-9]++ Test ++#[^\n*]*+(?<=sec)|Start ++[0-9]++: \S)",  # ctest
    rf"[\w./-]*+ ?[.sxX]{{3,}}+ *+(?:\[ *[0-9]++%\])?{END}",
    ends_with(r"\.\.\. ok", "ignored", " PASSED", " SKIPPED", r"[0-9]%\]"),
)
_PASSED_TEST: Final = line_pattern(
    r"[ \t]*+(?:--- PASS: |[✓✔√] )|ok [0-9]|PASSED \S|\[       OK \]|[ \t]++Passed \S++ \[[0-9<]",
    r"[^\s:]++::\S++ PASSED\b",  # pytest
    ends_with(r"\.\.\. ok"),
)
"""A line that reports one passed test."""
_COUNTED: Final = re.compile(
    r"(?<![0-9])[0-9]++ (?:passed|passing|tests?|examples?)\b|# pass [0-9]|Tests run: |tests passed"
)
_SETUP: Final = any_of(
    r"platform \w|rootdir: |plugins: |cachedir: |configfile: |asyncio: |-- Docs: |>>>>> |> Task ",
    r"Creating t|Destroying test|System check |Operations to|Synchroni|Importing app",
    r"Skipping setup|Found [0-9]++ test|Testing against|running [0-9]",
    r"[ \t]*+(?:Compiling|Finished|Running|Doc-tests|Downloading|Creating table|Applying) ",
)
_MARKS: Final = line_rules(
    "",
    (_BAD_SECTION, r"=++ (?:FAILURES|ERRORS|XFAILURES) "),
    (SUMMARY, _SUMMARY),
    (_SECTION, r"={4,}+ [A-Za-z]"),
    (SETTLED, _CHATTER),
    (_BLOCK, _BLOCK_HEAD),
    (FAILURE, _RAISED),
    (_SHOWN, _EVIDENT),
    (EVIDENCE, _OUTCOME),
    (_NAMED, _FAILED),
    (PASSED, _PASSES),
    (NOISE, _SETUP),
)
_IS_RUN: Final = line_pattern(
    r"(?= *+[=0-9RTtFPo>\[✓✔✕✗✖×-])"  # most lines are passed over by their first letter
    + any_of(
        rf"=++ (?:test session starts|FAILURES|ERRORS|short test summary|{_COUNTS})|{_COUNTS}",
        r"Ran [0-9]++ tests? in |test result: |--- (?:FAIL|PASS|SKIP): |=== RUN |ok  \t|FAIL\t",
        r"(?:\[\w++\] )?Tests run: [0-9]| *+(?:Tests|Test Suites|Test Files):? ++[0-9]",
        r"(?:PASSED|FAILED) [^\s:]++::|(?:PASS|FAIL) ++(?:[^\s.]++\.)++[jt]sx?\b",
        r"TAP version|> Task :\S*[tT]est|[0-9]++ (?:tests completed|examples?), [0-9]",
        r" *+[0-9]++ (?:passing|failing)\b| {2,}+[✓✔✕✗✖×] \S",
        r"[0-9]++% tests passed, |(?:Passed|Failed)! ++- Failed: |Tests: [0-9]++, Assertions: ",
        r"\[(?: RUN      |       OK |  FAILED  |={10})\]",
    )
)
_VERDICT: Final = re.compile(
    r"\n(?:(?<=\.\.\. ok\n)|(?<=\.\.\. ERROR\n)|(?<=\.\.\. FAIL\n)|(?<= PASSED\n)|(?<= FAILED\n))"
)
"""At the end of a line."""


def split_tests(text: str) -> Pieces:
    """Cut the output of a test run into failures, passes, what surrounds them, and the summary."""
    marks = _MARKS(text)
    _settle_failures(text, marks)
    return split_output(text, marks)


def count_passed(text: str) -> int:
    """Count the tests that *text* reports one by one as passed."""
    return len(_PASSED_TEST.findall("\n" + text))


def counts_itself(text: str) -> bool:
    """Return whether a test run reports how many tests passed."""
    return _COUNTED.search(text) is not None


def _settle_failures(text: str, marks: GradesByLine) -> None:
    """Decide which lines about failures are a must: names always, evidence of the first ones."""
    seen: set[str] = set()
    is_bad = True  # until a section says that what follows is not about failures
    blocks = lines = 0
    for start, grade in list(marks.items()):
        if grade is _SECTION or grade is _BAD_SECTION:
            is_bad = grade is _BAD_SECTION
            marks[start] = _SECTION
        elif grade is _BLOCK:
            blocks, lines = blocks + is_bad, 0
            in_full = is_bad and blocks <= _WHOLE
            marks[start] = FAILURE if in_full else DETAIL if is_bad else _SECTION
            if in_full:
                _mark_block(text, start, marks)
        elif grade is _SHOWN:
            lines += 1
            is_new = _is_new(text, start, seen)
            tells = lines == 1 or (blocks <= _WHOLE and lines <= _EVIDENCE_LINES)
            marks[start] = REPEAT if not is_new else EVIDENCE if is_bad and tells else DETAIL
        elif grade in (_NAMED, FAILURE, SUMMARY) and not _is_new(text, start, seen):
            marks[start] = REPEAT


def _is_new(text: str, start: int, seen: set[str]) -> bool:
    """Return whether the line at *start* did not come before, and remember it."""
    line = _line_at(start, text).strip()
    if line in seen:
        return False
    seen.add(line)
    return True


def _line_at(start: int, text: str) -> str:
    end = text.find("\n", start)
    return text[start : end if end >= 0 else len(text)]


def _mark_block(text: str, start: int, marks: GradesByLine) -> None:
    """Raise the grades of the lines below the head of a failure, up to the next head."""
    pos = text.find("\n", start) + 1
    for _ in range(_BLOCK_LINES):
        if not 0 < pos < len(text):
            return
        grade = marks.setdefault(pos, _grade_detail(text, pos))
        if grade is _BLOCK or grade is _SECTION or grade is _BAD_SECTION:
            return
        pos = text.find("\n", pos) + 1


def _grade_detail(text: str, start: int) -> Grade:
    """Return the grade of a line about a failure: places in the user's own code matter more."""
    line = _line_at(start, text)[:LONG]
    if not FRAME.match(line):
        return DETAIL
    return OTHER_FRAME if LIBRARY.search(line) else EVIDENCE


KIND: Final = Kind(name="test_run", needs=Needs((_IS_RUN, _VERDICT)), split=split_tests)
