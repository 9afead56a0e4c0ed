"""Which files shell programs write and print: one function per program.

The headers of a patch name the files that it changes; paths in its lines do not count.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from refold.files.shell_script import Command, Word

READERS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("cat", "less", "more"), ""),
    **dict.fromkeys(("head", "tail"), "nc"),
    **dict.fromkeys(("bat", "batcat"), "rlH"),
    "nl": "bdfhilnsvw",
}
"""Programs that print files unchanged, and their options that take a value."""
_LONG: Final = frozenset(
    "--lines --bytes --line-range --language --style --theme --expression --file --size "
    "--reference --source --suffix".split()
)
"""Long options that take the next word as their value."""
_SHOWS_LINES: Final = re.compile(r"[0-9$/]")
"""How a `sed -n` script that prints lines unchanged begins: with an address."""
_MAY_LEAVE: Final = tuple("t n i u --target-directory --no-clobber --interactive --update".split())
"""Options with which `mv` and `cp` may leave a file as it is, or name the target elsewhere."""
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*+=")
_BEGIN: Final = "*** Begin Patch"
_MARKED: Final = re.compile(
    r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\n]*+)$", re.MULTILINE
)
"""As tools called `apply_patch` want it."""
_UNIFIED: Final = re.compile(r"^--- ([^\t\n]*+)[^\n]*+\n\+\+\+ ([^\t\n]*+)", re.MULTILINE)
_NO_FILE: Final = "/dev/null"
_WRAPPERS: Final = frozenset({"sudo", "command", "builtin", "env", "nohup", "exec"})
"""Programs that run the program named by their arguments."""


class Call(NamedTuple):
    """A program and its arguments."""

    program: str
    words: list[Word]
    command: Command


def call_of(command: Command) -> Call:
    """Return the program that *command* actually runs, without wrappers and assignments."""
    words = command.words
    start = 0
    while start < len(words) - 1 and (
        _ASSIGNMENT.match(words[start].text) or words[start].text in _WRAPPERS
    ):
        start += 1
    name = words[start] if words else Word("")
    program = posixpath.basename(name.text) if name.is_known else ""
    return Call(program, words[start + 1 :], command)


def files_written(call: Call) -> Iterator[Word]:
    """Yield the files that a program writes, moves away or deletes by itself."""
    if call.program in WRITERS:
        yield from WRITERS[call.program](call)


def files_shown(call: Call) -> list[Word]:
    """Return the files that a program prints unchanged."""
    if call.program == "sed":
        options, operands = _parse(call.words, "efl", rest="i")
        is_quiet = not _has_no(options, "n", "--quiet", "--silent")
        if not is_quiet or not _has_no(options, "e", "f", "i", "--in-place", "--expression"):
            return []
        shows = operands and operands[0].is_known and _SHOWS_LINES.match(operands[0].text)
        return operands[1:] if shows else []
    if call.program not in READERS:
        return []
    _, operands = _parse(call.words, READERS[call.program])
    inputs = [redirect.target for redirect in call.command.redirects if redirect.sign == "<"]
    return operands or inputs


def _parse(
    words: Sequence[Word], takes: str = "", *, rest: str = ""
) -> tuple[dict[str, str], list[Word]]:
    """Split *words* into options and operands.

    The letters in *takes* are followed by a value; to those in *rest* it can only be attached.
    """
    options: dict[str, str] = {}
    operands: list[Word] = []
    left = iter(words)
    for word in left:
        text = word.text
        if not text.startswith("-") or text == "-":
            operands.append(word)
        elif text == "--":
            operands.extend(left)
        elif text.startswith("--"):
            name, equals, value = text.partition("=")
            options[name] = value if equals or name not in _LONG else next(left, Word("")).text
        else:
            for place, letter in enumerate(text[1:], 2):
                options[letter] = ""
                if letter in takes or letter in rest:
                    options[letter] = text[place:]
                    if not text[place:] and letter in takes:
                        options[letter] = next(left, Word("")).text
                    break
    return options, operands


def _has_no(options: Mapping[str, str], *names: str) -> bool:
    return options.keys().isdisjoint(names)


def _sed(call: Call) -> Iterator[Word]:
    options, operands = _parse(call.words, "efl", rest="i")
    if _has_no(options, "i", "--in-place"):
        return
    if operands and operands[0] == Word(""):  # the suffix of BSD's `sed -i ''`
        del operands[0]
    has_script = not _has_no(options, "e", "f", "--expression", "--file")
    yield from operands[0 if has_script else 1 :]


def _perl(call: Call) -> Iterator[Word]:
    options, operands = _parse(call.words, "eE", rest="iMmIFCD0")
    if "i" in options:
        yield from operands[1 if _has_no(options, "e", "E") else 0 :]


def _tee(call: Call) -> Iterator[Word]:
    yield from _parse(call.words)[1]


def _rm(call: Call) -> Iterator[Word]:
    options, operands = _parse(call.words)
    if _has_no(options, "i", "I", "n", "--dry-run", "--cached", "--interactive"):
        yield from operands


def _mv(call: Call) -> Iterator[Word]:
    """Yield where a file was, and where it was moved to."""
    copied = list(_cp(call))
    if copied:
        yield from _parse(call.words)[1][:-1]
    yield from copied


def _cp(call: Call) -> Iterator[Word]:
    """Yield the target: a file, or a directory with files of the same names in it."""
    options, operands = _parse(call.words)
    if len(operands) < 2 or not _has_no(options, *_MAY_LEAVE):
        return
    *sources, target = operands
    if not target.is_known:
        return
    if len(sources) == 1:
        yield target
    for source in sources:
        if source.is_known:
            yield Word(posixpath.join(target.text, posixpath.basename(source.text.rstrip("/"))))


def _truncate(call: Call) -> Iterator[Word]:
    yield from _parse(call.words, "sr")[1]


def _dd(call: Call) -> Iterator[Word]:
    for word in call.words:
        if word.text.startswith("of="):
            yield Word(word.text[3:], word.is_known)


def _git(call: Call) -> Iterator[Word]:
    words = call.words
    if not words or words[0].text not in _GIT_WRITERS:
        return
    yield from _GIT_WRITERS[words[0].text](call._replace(words=words[1:]))


def _checkout(call: Call) -> Iterator[Word]:
    """Yield all operands: some may name a commit, but no file of that name was read."""
    options, operands = _parse(call.words, "bB")
    if _has_no(options, "b", "B", "p", "--orphan", "--patch"):
        yield from operands


def _restore(call: Call) -> Iterator[Word]:
    options, operands = _parse(call.words, "s")
    is_staged_only = not _has_no(options, "S", "--staged") and _has_no(options, "W", "--worktree")
    if not is_staged_only and _has_no(options, "p", "--patch"):
        yield from operands


def _apply(call: Call) -> Iterator[Word]:
    options, operands = _parse(call.words, "pC")
    if not operands and _has_no(
        options, "R", "--check", "--stat", "--numstat", "--summary", "--cached", "--directory"
    ):
        yield from _diffed(call, options.get("p", "1"))


def _patch(call: Call) -> Iterator[Word]:
    options, operands = _parse(call.words, "pio")
    if not _has_no(options, "o", "--dry-run", "--output"):
        return
    if operands:
        yield operands[0]
    elif "p" in options:
        yield from _diffed(call, options["p"])


def _diffed(call: Call, strip: str) -> Iterator[Word]:
    for body in call.command.bodies if strip.isdecimal() and len(strip) == 1 else ():
        yield from map(Word, diffed_files(body, int(strip)))


def _apply_patch(call: Call) -> Iterator[Word]:
    for text in (*call.command.bodies, *(word.text for word in call.words)):
        yield from map(Word, patched_files(text))


def is_patch(text: str) -> bool:
    """Return whether *text* is a patch in the format of `apply_patch`."""
    return text.lstrip().startswith(_BEGIN)


def may_hold_patch(text: str) -> bool:
    """Return whether *text* may contain such a patch."""
    return _BEGIN in text


def patched_files(text: str) -> list[str]:
    """Return the files that a patch in the format of `apply_patch` changes."""
    return [name.strip() for name in _MARKED.findall(text)]


def diffed_files(text: str, strip: int) -> list[str]:
    """Return the files that a unified diff changes, without *strip* leading directories."""
    named = (name.rstrip() for pair in _UNIFIED.findall(text) for name in pair)
    cut = (name.split("/", strip) for name in named if name != _NO_FILE)
    return list(dict.fromkeys(parts[strip] for parts in cut if len(parts) > strip))


WRITERS: Final[Mapping[str, Callable[[Call], Iterator[Word]]]] = {
    "sed": _sed,
    "perl": _perl,
    "tee": _tee,
    "rm": _rm,
    "unlink": _rm,
    "mv": _mv,
    "cp": _cp,
    "truncate": _truncate,
    "dd": _dd,
    "git": _git,
    "patch": _patch,
    "apply_patch": _apply_patch,
    "applypatch": _apply_patch,
}
_GIT_WRITERS: Final[Mapping[str, Callable[[Call], Iterator[Word]]]] = {
    "checkout": _checkout,
    "restore": _restore,
    "rm": _rm,
    "mv": _mv,
    "apply": _apply,
}
