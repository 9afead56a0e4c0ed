"""Tool calls as digests show them: the tool and its short arguments first, long ones below.

Arguments are JSON with escaped line breaks. A digest shows them as lines, so that a call can be cut
between lines, and its first line says what was done even if nothing else of it is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from refold.files.calls import CallEffects
from refold.messages.failure import is_failure_text
from refold.messages.message import Call, Message
from refold.notation.marks import GAP
from refold.notation.recognize import read_argument

_SHORT: Final = 120
"""Arguments of up to so many characters stand on the first line, beside the tool's name."""
_FIRST_LINE: Final = 300
"""Characters of the first line; arguments that do not fit stand below."""

_DEPTH: Final = 20
"""The deepest nesting of arguments that is shown."""
_SHORT_NAME: Final = 60
"""A longer word is hardly the name of a file."""
_SHORT_SUBJECT: Final = 30
"""Characters of a subject: a longer one would say more than what a call was about. A guess."""
_FILES: Final = 2
"""So many of the files that a call writes are named right after the tool."""

_READS: Final = re.compile(
    r"(?i)(?:\A|[_.:/-])(?:get|list|ls|dir|search|find|read|view|open|cat|grep|rg|glob|fetch|show"
    r"|query|look_?up|check|calculate|think|retrieve|describe|inspect|status|browse|web_?search"
    r"|count|explain|verify|validate|estimate|preview|print|help|transfer_to_human\w*)"
    r"(?:\Z|[_.:/-]|(?=[A-Z]))"
    r"|\A(?:Read|Grep|Glob|LS|List|Search|View|Fetch|Think|NotebookRead|TodoRead|WebFetch|WebSearch"
    r"|BashOutput|ToolSearch)\Z"
)
"""Names of read-only tools; any other may have changed something."""
_SHELL: Final = re.compile(r"(?i)bash|shell|terminal|exec|command|cmd|\A(?:run|sh|zsh)\Z")
_PROGRAM: Final = re.compile(
    r"(?:\A|[;|&\n(`])[ \t]*+(?:(?:sudo|env|time|timeout[ \t]++[\w.]++|nohup|xargs|then|do|else|if"
    r"|while|\w++=[^\s;|&()`]*+)[ \t]++)*+([\w./+-]++)"
    r"(?:[ \t]++(-[\w-]++[ \t]++)*+([\w:.-]++))?+"
)
"""A program in a shell command, and the word after it, which may be a subcommand."""
_READ_ONLY: Final = frozenset(
    "cat ls ll grep egrep fgrep rg ag fd find head tail less more wc echo printf cd pwd which "
    "whereis type tree stat file du df ps env printenv true false test sort uniq cut tr diff cmp "
    "jq yq nl awk sed date whoami id uname hostname basename dirname realpath readlink xxd od "
    "strings md5sum sha256sum sleep seq column export set source wait exit pytest tox mypy ruff "
    "flake8 pylint eslint tsc jest vitest man help for done fi esac case lsof history top free "
    "ping dig nslookup".split()
)
"""Programs that only read, unless their output is redirected; tests count as reading."""
_READ_ONLY_SUBCOMMANDS: Final = {
    "git": "status log diff show branch blame grep ls-files ls-tree rev-parse remote reflog "
    "cat-file describe shortlog merge-base rev-list config",
    "go": "test vet build list doc env version",
    "cargo": "test check build clippy tree metadata",
    "npm": "test ls list view outdated",
    "pnpm": "test ls list why",
    "yarn": "test list why",
    "make": "test lint check",
    "pip": "show list freeze",
    "docker": "ps images logs inspect",
    "kubectl": "get describe logs",
    "python": "pytest unittest mypy --version -V",
    "python3": "pytest unittest mypy --version -V",
}
"""Read-only subcommands of other programs."""

_COMMAND: Final = re.compile(r'"(?:command|action|operation)"\s?:\s?"(\w++)"')


class SpelledCalls(NamedTuple):
    """The calls of a message as lines."""

    text: str
    heads: tuple[tuple[int, bool], ...]
    """Where each call begins, and whether it may have changed something."""


def spell_calls(
    calls: Sequence[Call], failed: Sequence[bool], effects: CallEffects | None = None
) -> SpelledCalls:
    """Write *calls* as lines; *failed* says which of them failed."""
    texts: list[str] = []
    heads: list[tuple[int, bool]] = []
    size = 0
    for call, has_failed in zip(calls, failed, strict=True):
        text = spell_call(call, effects, has_failed=has_failed)
        heads.append((size, may_change(call, effects)))
        texts.append(text)
        size += len(text) + 1
    return SpelledCalls("\n".join(texts), tuple(heads))


def spell_call(call: Call, effects: CallEffects | None = None, *, has_failed: bool = False) -> str:
    r"""Write one call: `name key=value …` and, below, its long arguments.

    >>> spell_call(Call("c1", "edit", {"path": "a.py", "new": "x = 1\ny = 2"}))
    'edit path=a.py\nnew:\nx = 1\ny = 2'
    """
    said, below = _lay_out(_arguments(call))
    if below and not said:  # there is no short argument that says what it was about
        key, _, value = below[0].partition(":\n")
        said.append(_begin(f"{key}={value.lstrip()}" if value else key))
    head = [call.name, *dict.fromkeys(_files_beside(call, said, effects)), *said]
    if has_failed:
        head.append("(failed)")
    return "\n".join([" ".join(head), *below])


def _lay_out(
    arguments: Iterable[tuple[str, object]], depth: int = 0
) -> tuple[list[str], list[str]]:
    """Return what stands on one line, and below it what is long or has parts."""
    said: list[str] = []
    below: list[str] = []
    room = _FIRST_LINE
    for key, value in arguments:
        text = _spell(value, depth)
        short = f"{key}={text}" if key else text
        if not _has_parts(value) and "\n" not in text and len(text) <= _SHORT and len(short) < room:
            said.append(short)
            room -= len(short) + 1
        else:
            below.append(f"{key}:\n{text}" if key else text)
    return said, below


def _files_beside(call: Call, said: Sequence[str], effects: CallEffects | None) -> list[str]:
    """Return the files that *call* writes and that are not *said* yet, as the call names them."""
    found: list[str] = []
    told = call.text
    for path in _written(call, effects):
        spelled = path
        while spelled not in told and "/" in spelled:  # relative to the shell's directory
            spelled = spelled.partition("/")[2]
        if not any(spelled in short for short in said):
            found.append(spelled)
    return found[:_FILES]


def _begin(said: str) -> str:
    """Return the beginning of a long argument: its first line, cut between words."""
    line = said.lstrip().split("\n", 1)[0]
    if len(line) > _SHORT:
        line = line[:_SHORT].rsplit(" ", 1)[0]
    return f"{line} {GAP}"


def _arguments(call: Call) -> Iterator[tuple[str, object]]:
    """Yield the arguments of a call with their names; "" if they are no JSON object."""
    if call.arguments is not None:
        yield from call.arguments.items()
    elif call.spelled:
        yield "", call.spelled


def _has_parts(value: object) -> bool:
    """Tell whether *value* is written part by part, each on lines of its own."""
    if isinstance(value, list):
        return any(isinstance(item, dict | list) for item in value)
    return isinstance(value, dict)


def _spell(value: object, depth: int = 0) -> str:
    """Write a value without escapes: plain lists on one line, objects like calls."""
    if depth > _DEPTH:
        return GAP
    match value:
        case str():
            return read_argument(value)
        case dict():
            said, below = _lay_out(value.items(), depth + 1)
            return "\n".join([*([" ".join(said)] if said else []), *below])
        case list():
            between = "\n" if _has_parts(value) else ", "
            return between.join(_spell(item, depth + 1) for item in value)
        case bool() | None:
            return json.dumps(value)
    try:
        return str(value)
    except ValueError:  # an integer with more digits than Python prints
        return GAP


def may_change(call: Call, effects: CallEffects | None = None) -> bool:
    """Tell whether a call may have changed something: all but those known to be read-only."""
    if not _SHELL.search(call.name):
        # A tool for both reading and editing says in its first argument which it was.
        told = _COMMAND.search(call.spelled[:_FIRST_LINE])
        return not _READS.search(told[1] if told else call.name)
    script = _script_of(call)
    return not all(map(_is_read_only, _PROGRAM.findall(script))) or bool(_written(call, effects))


def _script_of(call: Call) -> str:
    """Return the script among the arguments of a shell: the longest one."""
    given = (_spell(value) for _, value in _arguments(call))
    return max(given, key=len, default="").removeprefix("bash, -lc, ")


def _is_read_only(found: tuple[str, ...]) -> bool:
    program, _, subcommand = found
    program = program.rpartition("/")[2]
    return program in _READ_ONLY or subcommand in _READ_ONLY_SUBCOMMANDS.get(program, "").split()


def subject_of(call: Call, effects: CallEffects | None = None) -> str:
    """Return what *call* was about in a word or two; "" if that takes more.

    The file that its result shows, if it is one file, else its arguments, if they are short.

    >>> subject_of(Call("c1", "Read", {"file_path": "/w/src/setup.py", "limit": 9}))
    'setup.py'
    >>> subject_of(Call("c1", "get_order", {"order_id": "#W7463343"}))
    '#W7463343'
    """
    found, _ = (CallEffects() if effects is None else effects).of(call)
    if found is not None and found.shows_files and len(found.touched) == 1:
        name = found.touched[0].path.rpartition("/")[2]
        if "." in name and len(name) <= _SHORT_NAME:
            return name
    values = [value for _, value in _arguments(call) if isinstance(value, str)]
    subject = " ".join(values)
    return subject if len(subject) <= _SHORT_SUBJECT and "\n" not in subject else ""


def _written(call: Call, effects: CallEffects | None) -> list[str]:
    """Return the files that a call is known to write."""
    found, _ = (CallEffects() if effects is None else effects).of(call)
    return [] if found is None else [touch.path for touch in found.touched if touch.is_write]


def find_failed(messages: Sequence[Message]) -> frozenset[str]:
    """Return the ids of the calls whose results report a failure."""
    failed: set[str] = set()
    for message in messages:
        for part in message.parts:
            has_failed = part.result is not None and part.result.has_failed
            if part.call_id and (has_failed or is_failure_text(part.text)):
                failed.add(part.call_id)
    return frozenset(failed)
