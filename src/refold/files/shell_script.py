"""Parse a shell script into simple commands: words, redirections and the operators between them.

Only what can be parsed with certainty is: a script with loops, conditions, functions, subshells or
an unclosed quotation is rejected as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_BLANK: Final = re.compile(r"(?:[ \t\r]|\\\n)*+")
_REDIRECT: Final = re.compile(r"([0-9]*+|&(?=>))(<<<|<<-?+|<>|<&|<|>>|>\||>&|>)")
_OPERATOR: Final = re.compile(r"&&|\|\||\|&|[|&;()\n]")
_PLAIN: Final = re.compile(r"[^ \t\r\n'\"\\$`|&;<>()]++")
_PATTERN: Final = re.compile(r"[*?\[{]")
"""Makes a word stand for others."""
_EXPANSION: Final = re.compile(r"`|\$[\w({@*#?!$'\"-]")
_VARIABLE: Final = re.compile(r"\$(?:\w++|[@*#?!$-])")
_ESCAPE: Final = re.compile(r"\\([\\$`\"\n])")
"""What a backslash escapes between double quotes."""
_STOP: Final = re.compile(r"[\"'`(){}\\]")
_JOINTS: Final = frozenset({"|", "|&", "&&", "||"})
_BREAKS: Final = frozenset({"", ";", "\n"})
_ENDS: Final = frozenset(" \t\r\n|&;<>()")
_ENDS_PLAIN: Final = _ENDS | {""}
"""What follows an unquoted word, as most words are."""
_CLOSERS: Final = {"(": ")", "{": "}"}
_MOST_WORDS: Final = 5_000
"""Longer scripts are rejected; here-documents do not count."""
_RESERVED: Final = frozenset(
    "if then elif else fi for while until do done case esac select function { } ! [[ coproc "
    "time".split()
)


class Word(NamedTuple):
    """A word of a command, without its quotation marks."""

    text: str
    is_known: bool = True
    """False where only a running shell could tell: variables, results of commands, patterns."""


class Redirect(NamedTuple):
    """Where a stream comes from or goes to."""

    stream: str
    """A number, `&` for output and errors, or nothing."""
    sign: str
    target: Word


class Command(NamedTuple):
    """One program with its arguments."""

    words: list[Word]
    redirects: list[Redirect]
    bodies: list[str]
    """The here-documents that are its input."""


class Step(NamedTuple):
    """Pipelines joined by `&&` or `||`."""

    pipelines: list[list[Command]]
    is_sure: bool
    """False if it runs in the background, or if one may run because another failed."""


class _UnreadableError(Exception):
    """The script cannot be parsed statically."""


def read_script(script: str) -> list[Step] | None:
    """Return the steps of *script*, or `None` if it cannot be parsed with certainty."""
    try:
        return list(_steps(_Reader(script)))
    except _UnreadableError:
        return None


def _steps(reader: _Reader) -> Iterator[Step]:
    pipelines: list[list[Command]] = [[]]
    is_sure, operator = True, "\n"
    while operator:
        before = operator
        command, operator = reader.read_command()
        if command.words or command.redirects:
            pipelines[-1].append(command)
        elif before in _JOINTS and operator == "\n":
            operator = before  # a line may end after it
            continue
        elif before in _JOINTS or operator not in _BREAKS:
            raise _UnreadableError  # nothing where a command must be
        if operator in ("(", ")"):
            raise _UnreadableError
        if operator in ("&&", "||"):
            is_sure = is_sure and operator == "&&"
            pipelines.append([])
        elif operator not in _JOINTS:
            if pipelines[-1]:
                yield Step(pipelines, is_sure and operator != "&")
            pipelines, is_sure = [[]], True


class _Reader:
    """Parses a script in one pass."""

    def __init__(self, script: str) -> None:
        self._text = script
        self._at = 0
        self._left = _MOST_WORDS
        self._awaited: list[tuple[str, bool, Command]] = []
        """Here-documents that start on the next line: their end mark, whether tabs may precede it,
        and the command that reads them."""

    def read_command(self) -> tuple[Command, str]:
        """Return the command before the next operator, and the operator; "" at the end."""
        command = Command([], [], [])
        while self._left:
            self._left -= 1
            self._skip_blank()
            if self._at >= len(self._text):
                return command, ""
            redirect = _REDIRECT.match(self._text, self._at)
            if redirect is not None and self._text[redirect.end() : redirect.end() + 1] != "(":
                self._at = redirect.end()
                self._redirect(command, redirect[1], redirect[2])
                continue
            operator = _OPERATOR.match(self._text, self._at)
            if operator is not None:
                self._at = operator.end()
                if operator[0] == "\n":
                    self._take_bodies()
                return command, operator[0]
            word = self._word()
            if not command.words and word.text in _RESERVED:
                raise _UnreadableError
            command.words.append(word)
        raise _UnreadableError

    def _skip_blank(self) -> None:
        text = self._text
        blank = _BLANK.match(text, self._at)
        self._at = blank.end() if blank else self._at
        if text.startswith("#", self._at):
            end = text.find("\n", self._at)
            self._at = len(text) if end < 0 else end

    def _redirect(self, command: Command, stream: str, sign: str) -> None:
        self._skip_blank()
        target = self._word()
        if sign in ("<<", "<<-"):
            self._awaited.append((target.text, sign == "<<-", command))
        else:
            command.redirects.append(Redirect(stream, sign, target))

    def _take_bodies(self) -> None:
        """Hand the here-documents that start here to their commands."""
        text = self._text
        for last_line, may_indent, command in self._awaited:
            start = self._at
            while True:
                end = text.find("\n", self._at)
                line = text[self._at : end if end >= 0 else len(text)]
                if self._at >= len(text) or last_line == (
                    line.lstrip("\t") if may_indent else line
                ):
                    break
                self._at = end + 1 if end >= 0 else len(text)
            command.bodies.append(text[start : self._at])
            self._at = min(len(text), self._at + len(line) + 1)
        self._awaited = []

    def _word(self) -> Word:
        """Read a word made of plain, quoted, escaped and expanded parts."""
        text, start = self._text, self._at
        plain = _PLAIN.match(text, start)
        if plain is not None and text[plain.end() : plain.end() + 1] in _ENDS_PLAIN:
            self._at = plain.end()
            return Word(plain[0], not _PATTERN.search(plain[0]))
        parts: list[str] = []
        is_known = True
        while self._at < len(text) and (sign := text[self._at]) not in _ENDS:
            if sign == "'":
                parts.append(self._quoted(self._find("'", self._at + 1)))
            elif sign == '"':
                inner = self._quoted(_closing(text, self._at + 1, '"'))
                is_known = is_known and not _EXPANSION.search(_ESCAPE.sub("", inner))
                parts.append(_ESCAPE.sub(_escaped, inner))
            elif sign == "\\":
                parts.append(text[self._at + 1 : self._at + 2].replace("\n", ""))
                self._at += 2
            elif sign == "`" or (sign == "$" and _EXPANSION.match(text, self._at)):
                self._skip_expansion()
                is_known = False
            elif sign == "$":
                parts.append(sign)
                self._at += 1
            else:
                plain = _PLAIN.match(text, self._at)
                parts.append(plain[0] if plain else "")
                is_known = is_known and not _PATTERN.search(parts[-1])
                self._at += len(parts[-1])
        if self._at == start:  # a process instead of a file, or nothing where something must be
            raise _UnreadableError
        return Word("".join(parts), is_known)

    def _quoted(self, end: int) -> str:
        """Return what is between the quote here and the one at *end*, and move past that."""
        inner = self._text[self._at + 1 : end]
        self._at = end + 1
        return inner

    def _find(self, sign: str, start: int) -> int:
        found = self._text.find(sign, start)
        if found < 0:
            raise _UnreadableError
        return found

    def _skip_expansion(self) -> None:
        text = self._text
        opener = text[self._at + 1 : self._at + 2]
        if text[self._at] == "`":
            self._at = _closing(text, self._at + 1, "`") + 1
        elif opener in _CLOSERS:
            self._at = _closing(text, self._at + 2, _CLOSERS[opener]) + 1
        elif opener == "'":
            self._at = _closing(text, self._at + 2, "'") + 1
        else:
            variable = _VARIABLE.match(text, self._at)
            self._at = variable.end() if variable else self._at + 1


def _escaped(found: re.Match[str]) -> str:
    return found[1].replace("\n", "")


def _closing(text: str, start: int, closer: str) -> int:
    """Return the place of the *closer* that belongs to what was opened before *start*."""
    waiting = [closer]
    stop = _STOP.search(text, start)
    while stop is not None:
        at, sign, awaited = stop.start(), stop[0], waiting[-1]
        after = at + 1
        if sign == "\\":
            after += 1
        elif sign == awaited:
            waiting.pop()
            if not waiting:
                return at
        elif awaited == "'":
            pass
        elif sign in _CLOSERS:
            if text[at - 1 : at] == "$" or awaited == ")" == _CLOSERS[sign]:
                waiting.append(_CLOSERS[sign])
        elif sign == "'" and awaited != '"':
            after = text.find("'", after) + 1
            if not after:
                break
        elif sign in '"`':
            waiting.append(sign)
        stop = _STOP.search(text, after)
    raise _UnreadableError
