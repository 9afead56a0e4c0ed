"""Which files a shell script reads and writes if its commands succeed.

Only programs whose effects are certain are known. What an unknown program does to files cannot be
told, but a redirection of its output is a write like any other.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from refold.files.shell_programs import (
    READERS,
    WRITERS,
    Call,
    call_of,
    files_shown,
    files_written,
)
from refold.files.shell_script import Command, Step, Word, read_script

_FILTERS: Final = frozenset({*READERS, "sed", "grep", "egrep", "fgrep", "rg", "tee"})
"""Programs that print the part of their input that was asked for."""
_SILENT: Final = frozenset(
    "cd echo printf pwd true : set export mkdir touch chmod sleep rm unlink mv cp truncate".split()
)
"""Programs that print nothing but what the script itself contains."""
_EDITORS: Final = frozenset({"sed", "perl"})
"""Programs that print nothing when they edit files in place."""
_ASKING: Final = frozenset("test [ grep egrep fgrep rg diff cmp which type false".split())
"""Programs that may fail silently, so that what follows `&&` is not run."""
_LEAVING: Final = frozenset({"cd", "pushd", "popd", "source", ".", "eval"})
"""Programs after which the current directory is unknown."""

_MATTERS: Final = re.compile(
    rf">|\. |\b(?:{'|'.join(sorted({*READERS, *WRITERS, *_LEAVING} - {'.'}))})\b"
)
"""A script without any of these has no effect that could be derived from it."""
_LONGEST: Final = 1_000
"""Longer paths are ignored."""
_MOST: Final = 200
"""Files beyond this number are not recorded."""


class Touch(NamedTuple):
    """A file that is read or written; its path is relative to where the script starts."""

    path: str
    is_write: bool
    is_told: bool = True
    """Whether an exit status of 0 proves that it happened."""
    is_asked: bool = False
    """Whether it may be skipped without an error."""


@dataclass(slots=True)
class Effects:
    """What a script does, in order."""

    touched: list[Touch] = field(default_factory=list)
    shows_files: bool = True
    """Whether it prints nothing but the files that it reads."""
    directory: str | None = ""
    """The working directory afterwards, relative to where it started; `None` if unknown."""

    def read(self, file: Word) -> None:
        """Record that *file* is printed."""
        path = self._path(file)
        if path is None:
            self.shows_files = False
        else:
            self.touched.append(Touch(path, is_write=False))

    def write(self, file: Word, *, is_told: bool, is_asked: bool) -> None:
        """Record that *file* is written, if its path is known."""
        path = self._path(file)
        if path is not None:
            self.touched.append(Touch(path, True, is_told, is_asked))

    def move(self, target: Word) -> None:
        """Record a change of the working directory."""
        self.directory = None if target.text.startswith("-") else self._path(target)

    def _path(self, file: Word) -> str | None:
        is_rooted = file.text.startswith(("/", "~"))
        if not is_rooted and self.directory is None:
            return None
        path = file.text if is_rooted else posixpath.join(self.directory or "", file.text)
        is_clear = file.is_known and file.text and len(path) <= _LONGEST
        is_file = is_clear and not path.startswith("/dev/")
        return path if is_file and len(self.touched) < _MOST else None


def read_effects(script: str) -> Effects | None:
    """Return what *script* does to files, or `None` if it cannot be read."""
    steps = read_script(script) if _MATTERS.search(script) else None
    if steps is None:
        return None
    effects = Effects()
    for step in steps:
        _follow(step, effects, is_last=step is steps[-1])
    return effects


def argv_effects(words: Sequence[str]) -> Effects:
    """Return what a program called without a shell does to files."""
    command = Command([Word(word) for word in words], [], [])
    effects = Effects()
    _follow(Step([[command]], is_sure=True), effects, is_last=True)
    return effects


def _follow(step: Step, effects: Effects, *, is_last: bool) -> None:
    """Record the effects of a step."""
    is_asked = False
    for pipeline in step.pipelines:
        calls = [call_of(command) for command in pipeline]
        last = calls[-1]
        if last.program == "cd" and len(last.words) == 1 and step.is_sure:
            effects.move(last.words[0])
        elif last.program in _LEAVING:
            effects.directory = None
        if not step.is_sure:
            effects.shows_files = False
            continue
        if not _is_redirected(last.command) and not all(map(_is_silent, calls)):
            _show(calls, effects)
        for call in calls:
            for file in _writes(call):
                effects.write(file, is_told=is_last and call is last, is_asked=is_asked)
        is_asked = is_asked or last.program in _ASKING


def _is_silent(call: Call) -> bool:
    """Return whether *call* prints nothing but what the script itself contains."""
    if call.program in _SILENT:
        return True
    return call.program in _EDITORS and any(True for _ in files_written(call))


def _show(calls: Sequence[Call], effects: Effects) -> None:
    """Record the files that a pipeline prints, or that it prints something else."""
    first, *rest = calls
    files = files_shown(first)
    speaks = bool(files) or first.program in _SILENT or bool(first.command.bodies)
    if not speaks or any(call.program not in _FILTERS for call in rest):
        effects.shows_files = False
    for file in files:
        effects.read(file)


def _is_redirected(command: Command) -> bool:
    """Return whether the output of *command* goes into a file."""
    return any(
        redirect.stream in ("", "1", "&") and _is_output(redirect.sign, redirect.target)
        for redirect in command.redirects
    )


def _is_output(sign: str, target: Word) -> bool:
    if sign == ">&":
        return not target.text.isdecimal() and target.text != "-"
    return sign in (">", ">>", ">|")


def _writes(call: Call) -> Iterator[Word]:
    """Yield the files that *call* writes, moves away or deletes."""
    yield from files_written(call)
    for redirect in call.command.redirects:
        if _is_output(redirect.sign, redirect.target):
            yield redirect.target
