"""Which tool calls of a recorded run changed something, and what each was about.

A call changed something unless it is known only to read: by the verb in the tool's name, and for a
shell by every program of its command. Tools that only note the agent's own plan change nothing.
A call that says itself that it failed changed nothing either, except in a shell, where half of a
command may have been done.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

from records import calls_of, values_in
from typed import squeeze, text_of

_READING: Final = frozenset(
    "get list read find search view open show check look lookup fetch grep glob cat ls think "
    "calculate query describe count status browse can is has verify inspect preview explain "
    "retrieve scroll goto webfetch websearch bashoutput".split()
)
"""Verbs that names of reading tools begin with."""
_ACTING: Final = frozenset(
    "write edit create delete remove update modify cancel book send pay submit commit set add "
    "insert replace move rename apply exchange return transfer execute".split()
)
"""Verbs that make a tool an acting one wherever they stand in its name."""
_OWN_NOTES: Final = frozenset(
    "think TodoWrite TodoRead update_plan TaskCreate TaskUpdate TaskList TaskGet EnterPlanMode "
    "ExitPlanMode AskUserQuestion Skill ToolSearch mcp__happy__change_title".split()
)
_SHELLS: Final = frozenset("bash shell run terminal execute_bash run_command exec".split())
_PARTS_OF_NAME: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")

_READING_PROGRAMS: Final = frozenset(
    "cat ls grep egrep fgrep rg ag find head tail less more wc echo printf cd pwd which whereis "
    "type tree stat file du df ps env printenv true false test [ sort uniq cut tr diff cmp jq yq "
    "nl awk gawk sed date whoami id uname hostname basename dirname realpath readlink xxd od "
    "strings md5sum sleep seq column export set source . wait exit pytest tox mypy ruff flake8 "
    "pylint golangci-lint eslint tsc gofmt man help xargs for do done if then else fi while "
    "case esac lsof history disassemble decompile".split()
)
_READING_SUBCOMMANDS: Final = {
    "git": frozenset(
        "status log diff show branch blame grep ls-files ls-tree rev-parse remote reflog cat-file "
        "describe shortlog merge-base rev-list config for-each-ref name-rev --no-pager".split()
    ),
    "go": frozenset("test vet build list doc env version".split()),
    "cargo": frozenset("test check build clippy tree metadata".split()),
    "npm": frozenset("test ls list view outdated".split()),
    "pnpm": frozenset("test ls list why typecheck lint check build".split()),
    "make": frozenset("test lint check build".split()),
    "mise": frozenset("tasks".split()),
    "gh": frozenset("pr run issue api repo".split()),
    "pip": frozenset("show list freeze".split()),
    "docker": frozenset("ps images logs inspect".split()),
}
"""Programs of which only these commands are known to read, or only to build and check."""
_SECOND_WORD_ACTS: Final = frozenset(
    "create merge close comment edit delete rerun checkout review ready".split()
)
"""`gh pr create` is no reading, whatever `gh pr` is."""
_SEPARATOR: Final = re.compile(r"&&|\|\||[;\n|]")
_HEREDOC: Final = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
_ASSIGNMENT: Final = re.compile(r"\A\s*(?:[A-Za-z_]\w*=(?:\$\(|[^\s$]\S*\s|\S*\Z|\s))+")
_REDIRECT: Final = re.compile(r"(?<![0-9&<=-])>>?\s*(?!/dev/null|&)([^\s&|;>]+)")
_IN_PLACE: Final = re.compile(r"\s(?:-[a-zA-Z]*i[a-zA-Z.]*|--in-place|-delete|-exec(?:dir)?)\b")
_NO_COMMAND: Final = re.compile(r"\s*(?:#|[`(*\d-]|[A-Z][^=\s]*(?:\s|\Z))")
"""Comments, and prose that a harness took for a command: programs are lower case."""
_PATCHED: Final = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (\S+)", re.MULTILINE)
_RUNNERS: Final = ("npm", "pnpm", "yarn", "mise")
_CHECKS: Final = ("test", "lint", "check", "build", "type", "vet")
"""What scripts are called that only look at a project."""
_PATHLIKE: Final = re.compile(r"[\w.~@+-]*/[\w./@+-]*[\w-]|[\w-]+\.[A-Za-z]\w{0,4}\b")
_IDLIKE: Final = re.compile(r"(?=\S*\d)[\w#@.+-]{3,60}")
_MIN_PATH: Final = 4
"""What is shorter comes from patterns of `sed`, not from names of files."""
_IS_NAMED: Final = re.compile(r"\w")
_FAILED: Final = re.compile(
    r"\s*(?:<tool_use_error>|error\b|\{\"error\"|the user doesn't want|invalid |not found)",
    re.IGNORECASE,
)
_MAX_SUBJECT: Final = 60
"""Characters of a sentence that must be there; what follows may be cut."""


@dataclass(frozen=True, slots=True)
class Change:
    """One call that changed something."""

    index: int
    """Of the message that made the call."""
    name: str
    subjects: tuple[str, ...]
    """What it was about; any of them will do. None if the call has no arguments."""


class Traces:
    """What a view says of calls: each call of it, and each line of its texts."""

    def __init__(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self._said: list[str] = []
        for message in messages:
            if message.get("role") == "system":
                continue
            self._said += map(squeeze, text_of(message).split("\n"))
            for _, name, arguments in calls_of(message):
                self._said.append(squeeze(f"{name} {' '.join(_leaves(arguments))}"))
        self._naming: dict[str, list[str]] = {}

    def has(self, change: Change) -> bool:
        """Tell whether one call or line names the tool of *change* together with a subject."""
        lines = self._lines_naming(change.name)
        if not change.subjects:
            return bool(lines)
        return any(subject in line for line in lines for subject in change.subjects)

    def _lines_naming(self, name: str) -> list[str]:
        if name not in self._naming:
            named = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
            self._naming[name] = [said for said in self._said if named.search(said)]
        return self._naming[name]


def find_changes(messages: Sequence[Mapping[str, Any]]) -> list[Change]:
    """Return the answered calls that changed something, in their order."""
    results = {
        message["tool_call_id"]: text_of(message)
        for message in messages
        if message.get("role") == "tool" and message.get("tool_call_id")
    }
    return [
        Change(index, name, subjects_of(name, arguments))
        for index, message in enumerate(messages)
        for call_id, name, arguments in calls_of(message)
        if call_id in results and is_changing(name, arguments, results[call_id])
    ]


def is_changing(name: str, arguments: str, result: str = "") -> bool:
    """Tell whether a call is not known to have left everything as it was."""
    if name in _OWN_NOTES:
        return False
    if name.lower() in _SHELLS:
        return any(map(_acts, _shell_commands(_command(arguments))))
    if _FAILED.match(result):
        return False
    words = [word.lower() for word in _PARTS_OF_NAME.findall(name.rpartition("__")[2])]
    if any(word in _ACTING for word in words):
        return True
    return not words or (
        name.lower() not in _READING and words[0] not in _READING and words[-1] != "test"
    )


def subjects_of(name: str, arguments: str) -> tuple[str, ...]:
    """Return what a call was about: paths and ids among its arguments, and the first of them.

    A path is known by its file and folder, whatever stands before them. Of a shell's command it is
    the paths and the first words of the part that changes something.
    """
    if name.lower() in _SHELLS:
        script = _command(arguments)
        paths = _PATCHED.findall(script)
        texts: list[str] = []
        for command in filter(_acts, _shell_commands(script)):
            paths += _PATHLIKE.findall(command)
            texts.append(" ".join(takewhile(_is_plain, command.split()[:3])))
        paths = [path for path in paths if len(path) >= _MIN_PATH]
        texts = [text for text in texts if not paths or text.count(" ") == 2]
    else:
        leaves = list(_leaves(arguments))
        paths = [leaf for leaf in leaves if _PATHLIKE.fullmatch(leaf)]
        texts = [leaf for leaf in leaves if _IDLIKE.fullmatch(leaf)] + leaves[:1]
    ends = ("/".join(path.rsplit("/", 2)[-2:]) for path in paths)
    firsts = (squeeze(text.strip().split("\n")[0])[:_MAX_SUBJECT] for text in texts)
    return tuple(dict.fromkeys(text for text in (*ends, *firsts) if _IS_NAMED.search(text)))


def _is_plain(word: str) -> bool:
    return word[0] not in "'\"<>$"


def _leaves(arguments: str) -> Iterator[str]:
    """Yield what among *arguments* may be a subject."""
    for value in values_in(arguments):
        if value is not None and not isinstance(value, bool):
            yield str(value)


def _command(arguments: str) -> str:
    """Return the command that a shell was given, as one text."""
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if isinstance(given, dict):
        given = given.get("command") or given.get("cmd") or ""
    if isinstance(given, list):
        is_wrapped = len(given) > 2 and given[1] in ("-c", "-lc")
        return str(given[2]) if is_wrapped else " ".join(map(str, given))
    return str(given)


def _shell_commands(script: str) -> Iterator[str]:
    """Yield the simple commands of a script; what is fed to one by a heredoc is left out."""
    lines = iter(script.split("\n"))
    for line in lines:
        for mark in _HEREDOC.findall(line):
            for fed in lines:
                if fed.strip() == mark:
                    break
        if not _NO_COMMAND.match(line):
            yield from filter(str.strip, _SEPARATOR.split(_without_quotes(line)))


def _without_quotes(line: str) -> str:
    """Blank separators and redirections inside quotes, so that they split nothing."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", lambda quoted: re.sub(r"[;|&<>]", " ", quoted[0]), line)


def _acts(command: str) -> bool:
    """Tell whether a simple command is not known only to read."""
    if _REDIRECT.search(command):
        return True
    words = _ASSIGNMENT.sub("", command).strip(" (){}!").split()
    while words and words[0] in ("sudo", "time", "timeout", "command", "npx", "do", "then", "else"):
        words = words[2:] if words[0] == "timeout" else words[1:]
    if not words or words[0].startswith("#"):
        return False
    program = words[0].rpartition("/")[2]
    if program in _READING_SUBCOMMANDS:
        options = [word for word in words[1:] if not word.startswith("-") and "/" not in word]
        if options[:1] == ["run"] and program in _RUNNERS:
            return not "".join(options[1:2]).startswith(_CHECKS)
        reads = bool(options) and options[0] in _READING_SUBCOMMANDS[program]
        return not reads or (program == "gh" and bool(_SECOND_WORD_ACTS & set(options[1:2])))
    if words[1:3] == ["-m", "pytest"]:
        return False
    is_reader = program in _READING_PROGRAMS
    return not is_reader or (program in ("sed", "find", "awk") and bool(_IN_PLACE.search(command)))
