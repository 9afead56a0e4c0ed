"""What a tool call does, by tables: tools and commands that only read, and which files are touched.

A tool's name says what it does, and a patch names its files. Of a shell only what stands in the
table is known to read; any other command may have changed something, nobody can tell what.
"""

from __future__ import annotations

import posixpath
import re
from typing import Final, NamedTuple

from refold.lazy import regex
from refold.messages.message import Call

_WRITES: Final = regex(r"(?i)write|edit|replace|create|patch|insert|update|append|save")
_SHELL: Final = regex(r"(?i)bash|(?<!power)shell|terminal|exec|command|cmd|\A(?:run|sh|zsh)\Z")
_SHOWS: Final = regex(r"(?i)read|view|open|cat|get|show|fetch")
"""Names of tools that may show a file."""
_READS: Final = regex(
    r"(?i)(?:\A|[_.:/-])(?:get|list|ls|dir|search|find|read|view|open|cat|grep|rg|glob|fetch|show"
    r"|query|look_?up|check|calculate|think|retrieve|describe|inspect|status|browse|web_?search"
    r"|count|explain|verify|validate|estimate|preview|print|help|transfer_to_human\w*)"
    r"(?:\Z|[_.:/-]|(?=[A-Z]))"
    r"|\A(?:Read|Grep|Glob|LS|List|Search|View|Fetch|Think|NotebookRead|TodoRead|WebFetch|WebSearch"
    r"|BashOutput|ToolSearch)\Z"
)
"""Names of read-only tools; any other may have changed something."""
_PROGRAM: Final = regex(
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
_SHOWING: Final = regex(
    r"(?:cd [\w./~@+-]++ ?(?:&&|;) ?)?(?:cat|nl|bat|head|tail|less|more|sed -n)(?: +-[\w]++)*+"
    r"(?: +(?:[+-]?\d++|'[\d,$p]++'|\"[\d,$p]++\"|[\d,$]++p))?((?: +[\w./~@+-]++)+)"
)
"""A whole script that shows nothing but files."""
_PRINTS: Final = regex(r"\b(?:cat|sed|head|tail|nl|bat|less|more|awk|diff|show)\b")
"""Commands that print files, or what changed in them."""
_WRITTEN: Final = regex(
    r"(?<![-=0-9&>'\"])>{1,2} ?(?!/dev/|&)([\w./~@+-]++)"
    r"|\b(?:tee(?: -a)?|sed -i(?: -\w++)*+ (?:'[^'\n]*+'|\"[^\"\n]*+\")) ([\w./~@+-]++)"
)
_PATCHED: Final = regex(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\n]++)$", re.M)
_BEGIN: Final = "*** Begin Patch"
_COMMAND: Final = regex(r'"(?:command|action|operation)"\s?:\s?"(\w++)"')
"""An argument of tools that both read and write: its value says which."""
_TARGET: Final = regex(r'"(?:file|path|target|dest|to|uri|notebook)[\w-]*+"\s*+:\s*+"([^"\\\s]++)"')
_SEEN: Final = 300
"""Characters at either end of the arguments that are searched for a path."""


class Effects(NamedTuple):
    """The files that a call shows, and those that it writes, if it succeeds."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


def effects_of(call: Call) -> Effects:
    """Return which files a call shows or writes, as far as its name or a table shows."""
    script = script_of(call)
    if _BEGIN in script:
        return Effects(writes=_clean(_PATCHED.findall(script)))
    if _SHELL.search(call.name) and not _WRITES.search(call.name):
        showing = _SHOWING.fullmatch(script.strip())
        written = [one or other for one, other in _WRITTEN.findall(script)]
        return Effects(_clean(showing[1].split()) if showing else (), _clean(written))
    text = call.spelled
    seen = text if len(text) <= 2 * _SEEN else text[:_SEEN] + text[-_SEEN:]
    verb = _COMMAND.search(seen)
    name = verb[1] if verb else call.name
    paths = _clean(_TARGET.findall(seen))
    if _WRITES.search(name):
        return Effects(writes=paths)
    return Effects(reads=paths) if _SHOWS.search(name) else Effects()


def shows_file(call: Call) -> bool:
    """Tell whether what a call returns may have the text of a file in it."""
    if _SHELL.search(call.name) and not _WRITES.search(call.name):
        return prints_file(script_of(call))
    return effects_of(call) != Effects()


def prints_file(script: str) -> bool:
    """Tell whether a command in *script* may print a file."""
    return _PRINTS.search(script) is not None


def may_change(call: Call) -> bool:
    """Tell whether a call may have changed something: all but those known to be read-only."""
    if not _SHELL.search(call.name):
        verb = _COMMAND.search(call.spelled[:_SEEN])
        return not _READS.search(verb[1] if verb else call.name)
    script = script_of(call)
    return not all(map(_is_read_only, _PROGRAM.findall(script))) or bool(effects_of(call).writes)


def script_of(call: Call) -> str:
    """Return the script among the arguments of a call: the longest one."""
    values = [call.spelled] if call.arguments is None else list(call.arguments.values())
    texts = [one for one in values if isinstance(one, str)]
    for value in values:
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            is_script = len(value) == 3 and str(value[1]).startswith("-")  # bash -lc SCRIPT
            texts.append(value[2] if is_script else " ".join(value))
    return max(texts, key=len, default="")


def _is_read_only(command: tuple[str, ...]) -> bool:
    program, _, subcommand = command
    program = program.rpartition("/")[2]
    return program in _READ_ONLY or subcommand in _READ_ONLY_SUBCOMMANDS.get(program, "").split()


def _clean(paths: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(posixpath.normpath(path.strip()) for path in paths))
