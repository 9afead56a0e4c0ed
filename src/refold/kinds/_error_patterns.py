"""Patterns of errors and traces: how lines begin, or what they hold, when something went wrong."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from refold.kinds._lines import any_of
from refold.kinds.base import ERROR, EXIT, WARNING, Grade

NEEDLES: Final = (
    *("error", "fail", "warn", "exception", "traceback", "panic", "fatal", "critical", "severe"),
    *("exit", "returncode", "denied", "no such ", "not found", "err!", "caused by", "unable to"),
    *("segmentation", "goroutine", "uncaught", "cannot ", "not permitted", "could not "),
    *("couldn't", "refused", "timed out", "reset by peer", "broken pipe", "no space left"),
    *("already in use", "out of memory", "killed", "core dumped", "merge conflict"),
    *("undefined reference", "alert]", "emerg]"),
    *("fehler", "erreur", "ошибка", "错误", "錯誤", "エラー", "오류", "警告"),
)
"""Lower case; every line of program output that reports an error contains one of these."""

_BY_RARITY: Final = "xkvbpgwyfmucldrhsnioate "
"""Letters by their frequency in English, rare ones first; other characters are rarer still."""


def _from_rarest(needles: Iterable[str]) -> str:
    """Return a pattern that finds any of *needles* from its rarest letter.

    The engine looks for a set of letters at full speed, and most letters of a text are common.
    What stands before is looked at last: what follows tells most words apart at once.
    """
    by_letter: defaultdict[str, list[str]] = defaultdict(list)
    for needle in needles:
        letter = min(needle, key=_BY_RARITY.find)
        end = needle.index(letter) + 1
        by_letter[letter].append(f"{re.escape(needle[end:])}(?<={re.escape(needle)})")
    return any_of(*(re.escape(letter) + any_of(*rest) for letter, rest in by_letter.items()))


ANY_NEEDLE: Final = re.compile(_from_rarest(filter(str.isascii, NEEDLES)))
"""Finds the ASCII needles; `FOREIGN_NEEDLES` has those in other scripts."""
FOREIGN_NEEDLES: Final = tuple(needle for needle in NEEDLES if not needle.isascii())

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_.$]{0,120}+"
_RAISED: Final = (
    rf"{_NAME}(?:(?<=Error)|(?<=Exception)|(?<=Failure)|(?<=Fault))"
    r"(?:\([^\n()]{0,80}+\)| \[\w{1,60}+\])?"
)
_TOLD: Final = r"(?![\w.]++[;,]$)\S"
"""What follows `error:`; a single word with a comma is a member of some object."""
_REASON: Final = any_of(
    r"No such file or directory|[Pp]ermission denied|Operation (?:not permitted|timed out)",
    r"[Cc]onnection (?:refused|reset by peer|timed out)|Broken pipe|No space left on device",
    r"[Aa]ddress already in use|Out of memory",
)
"""Error messages of an operating system."""
_COULD_NOT: Final = any_of(
    r"(?:[Cc]ould not|[Cc]ouldn't|[Cc]annot|[Uu]nable to|[Ff]ailed to) \w", r"[Ff]ailed with \w"
)
_SIGNAL: Final = r"(?:Killed|Aborted|Bus error|Segmentation fault)(?=\r?$| {4}| \(core dumped\))"
"""How a shell reports that a program was killed by a signal."""
_NOT_ZERO: Final = r"-?[1-9][0-9]*+(?![0-9.])"

_BAD_EXIT: Final = any_of(
    rf"<(?:returncode|exit_?code)>\s*+{_NOT_ZERO}",
    rf"[\"']?(?:[Rr]eturn ?[Cc]ode|[Ee]xit[ _-]?(?:[Cc]ode|[Ss]tatus))[\"']?[:=]? ?{_NOT_ZERO}",
    r"(?:[Pp]rocess |[Cc]ommand |Script )?(?:exited|[Ee]xit|failed|finished) (?:with )?(?:exit )?"
    rf"(?:code|status):? {_NOT_ZERO}",
)
_ERROR_START: Final = any_of(
    r"Traceback \(most recent call last\)",
    r"Exception in thread |Caused by: |Uncaught |Unhandled ",
    rf"{_RAISED}(?:: \S|\r?$)",
    rf"(?:[Ff]atal ?[Ee]rror|[Ee]rror|ERROR|FATAL|[Ff]atal|[Pp]anic)(?:\[\w{{1,10}}\])?: {_TOLD}",
    r"(?:npm|yarn|pnpm) (?:ERR!|error)|ERR_\w",
    r"thread '[^'\n]*+' panicked|goroutine [0-9]++ \[running\]",
    r"FAILED (?=\S*[/.:])|FAILED \(|FAIL: |FAIL\t|--- FAIL: |not ok [0-9]",
    r"<tool_use_error>|<error>|Segmentation fault|make(?:\[[0-9]++\])?: \*\*\*",
    r"[\w.+/-]{1,200}+: (?:line [0-9]++: )?+(?:[^\n:]{1,120}+: ){0,3}"
    r"(?:No such file|[Pp]ermission denied|Operation not permitted|command not found|not found"
    r"|[Cc]annot )",
)
_WARNING_START: Final = any_of(
    r"(?:[Ww]arning|WARNING|WARN)(?:\[\w{1,40}\])?: \S",
    r"(?:npm|yarn|pnpm) (?:WARN|warn)\b",
    rf"{_NAME}(?<=Warning): \S",
)

IN_SOURCE: Final = re.compile(
    r"\n(?=[A-Za-z<_./-])"
    rf"(?:(?P<error>{_ERROR_START})|(?P<exit>{_BAD_EXIT})|(?P<warning>{_WARNING_START}))"
)
"""The start of a line that reports a problem, in any text, with the line break before it."""

_OUTPUT_START: Final = re.compile(
    r"(?:[ \t>|+]++|\x1b\[[0-9;]*+m|E {2,}+)*+"  # what traces, colours and test runners put first
    r"(?:(?P<error>"
    + any_of(
        _ERROR_START,
        r"(?:Error|ERROR|Failed|FAILED|Failure) [^\n:]{1,80}+: \S",
        r"[0-9]++:[0-9]++ ++error ++\S",  # eslint, below the name of a file
        r"E: \S|CONFLICT \(|Automatic merge failed",
        _COULD_NOT,
    )
    + rf")|(?P<warning>{_WARNING_START}|[0-9]++:[0-9]++ ++warning ++\S|W: \S))"
)
# Begins with a set of characters, so that the engine tries it only at the start of words.
_OUTPUT: Final = re.compile(
    r"[\s|\[\](<>:,{](?:(?P<error>"
    + any_of(
        rf"(?:error|Error)(?: [A-Z]{{1,6}}[0-9]++|\[\w{{1,10}}\])?: {_TOLD}|fatal error: ",
        r"(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC)(?=[\s:|\]])",
        r"(?:error|err|fatal|crit|critical|alert|emerg|panic)\]",
        r"(?:level|severity)[=:]\"?(?:error|fatal|crit)",
        r"(?:ERROR|FAILURE)!|FAILED(?=\r?$|[ \t]++\[)|BUILD FAIL",
        rf"{_RAISED}: \S",
        r"(?:npm|yarn|pnpm) ERR!|undefined reference to ",
        rf"{_REASON}|{_SIGNAL}|(?<=: ){_COULD_NOT}",
        r"(?:Fehler|Erreur|Ошибка|错误|錯誤|エラー|오류) ?[:：]",
    )
    + r")|(?P<warning>"
    + any_of(
        r"(?:warning|Warning)(?: [A-Z]{1,6}[0-9]++|\[\w{1,40}\])?: \S",
        r"(?:WARN|WARNING)(?=[\s:|\]])|warn(?:ing)?\]|level=\"?warn",
        rf"{_NAME}(?<=Warning): \S",
        r"(?:Warnung|警告) ?[:：]",
    )
    + rf")|(?P<exit>{_BAD_EXIT}))"
)

ERROR_FIELD: Final = r"(?:errors?|error_?[Mm]essage|exception|stderr)"
LEVEL_FIELD: Final = r"(?:level|severity|levelname|lvl)"
EXIT_FIELD: Final = r"(?:exit_?[Cc]ode|returncode|exit_?[Ss]tatus)"
"""Names of fields with errors, severities and exit statuses."""
PLAIN_FIELD: Final = re.compile(
    r"[{ \n](?:(?P<error>"
    + any_of(
        rf"{ERROR_FIELD}(?:=(?!\"\")\S|:(?:[{{\[](?![}}\]])|[1-9]|true\b))",
        rf"(?:{LEVEL_FIELD}|status)=(?i:error|fatal|critical|failed|failure|panic)\b",
        rf"{LEVEL_FIELD}:[56]0\b|success:false\b",
    )
    + rf")|(?P<warning>{LEVEL_FIELD}(?:=(?i:warn|warning)\b|:40\b))|(?P<exit>{EXIT_FIELD}:-?[1-9]))"
)
"""A field that reports an error, in JSON as `refold.codecs` writes it, and the character before."""
MAY_TELL: Final = re.compile(any_of(ERROR_FIELD, LEVEL_FIELD, EXIT_FIELD, "status", "success"))
"""The name of such a field."""

FRAME: Final = re.compile(
    r"[ \t|]++(?:(?:at (?:async |new )?|❯ )\S|File \"|"
    r"\.\.\. [0-9]++ (?:more|common)|[0-9]++: [ \t]*+\S"
    r"|(?:/|[A-Za-z]:\\|[\w.-]++/)[^\n:]{1,300}+:[0-9]++(?:[: ]|$)|from \S{1,300}+:[0-9]++:in )"
)
"""A stack frame of JavaScript, Java, Python, Rust, Go or Ruby."""

LIBRARY: Final = re.compile(
    r"site-packages|dist-packages|/lib(?:64)?/python[0-9]|<frozen |node_modules|node:internal"
    r"|\(internal/|/rustc/|/\.cargo/registry|/usr/local/go/src|/go/pkg/mod/|/libexec/|/gems/"
    r"|at (?:java|javax|jdk|sun|com\.sun|kotlin|scala|org\.junit|org\.springframework|org\.gradle"
    r"|org\.apache|org\.mockito|reactor|io\.netty)\.|\bstd::|\bcore::|\bruntime\.|testing\.tRunner"
    r"|\.\.\. [0-9]++ (?:more|common)|rust_begin_unwind|at (?:System|Microsoft)\."
)
"""A frame in library code."""

GRADES: Final = {"error": ERROR, "warning": WARNING, "exit": EXIT}
"""By the names of the groups above."""


def judge_output(line: str) -> Grade | None:
    """Return the grade of a line of a program's output that reports an error; else `None`."""
    found = _OUTPUT_START.match(line) or _OUTPUT.search(" " + line)
    return None if found is None else GRADES[found.lastgroup or ""]
