"""What a tool call does to files, judged by the tool's name, its script or its patch."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Final

from refold.files.shell import Effects, Touch, argv_effects, read_effects
from refold.files.shell_programs import is_patch, may_hold_patch, patched_files
from refold.messages.message import Call
from refold.scan.items import Shape, find_items, shape_of

# A tool's name says what it does; its result says whether that succeeded.
_WRITES: Final = re.compile(r"(?i)write|edit|replace|create|patch|insert|update|append|save")
_SHELL: Final = re.compile(r"(?i)bash|(?<!power)shell|terminal|exec|command|cmd|\A(?:run|sh|zsh)\Z")
_READS: Final = re.compile(r"(?i)read|view|open|cat|get|show|fetch")
_COMMAND: Final = re.compile(r'"command":\s?"(\w++)"')
"""An argument of tools that both read and write: its value says which."""
_TARGET: Final = re.compile(
    r'"(?:file|path|target|dest|to|uri|notebook)[\w-]*+"\s*+:\s*+"([^"\\\s]++)"'
)
_VALUE: Final = re.compile(r'"([^"\\\s]++)"')
_PATHS: Final = (Shape.PATH, Shape.DOTTED)
_SEEN: Final = 300
"""Characters at either end of the arguments that are searched for a path."""
_SCRIPTS: Final = ("command", "cmd", "script", "input", "patch")
_DIRECTORIES: Final = ("workdir", "cwd", "working_directory", "dir_path")
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash"})


def effects_of(call: Call) -> tuple[Effects | None, str | None]:
    """Return what a call does if it succeeds, and the working directory that it names.

    The directory is `None` where the call runs nothing in a shell.
    """
    tool, arguments = call.name, call.spelled
    is_write = _WRITES.search(tool) is not None
    if is_patch(arguments):
        return _touching(patched_files(arguments), is_write=True), None
    if may_hold_patch(arguments) or (_SHELL.search(tool) and not is_write):
        script, directory = _script(call)
        if script:
            return _run(script), directory
    if is_write or _READS.search(tool):
        return _tool(arguments, is_write=is_write), None
    return None, None


class CallEffects:
    """`effects_of` with a cache by the text of the call."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[str, tuple[Effects | None, str | None]] = {}

    def of(self, call: Call) -> tuple[Effects | None, str | None]:
        """Return the effects of *call* if it succeeds, and its working directory."""
        found = self._found.get(call.text)
        if found is None:
            found = self._found[call.text] = effects_of(call)
        return found


def _tool(arguments: str, *, is_write: bool) -> Effects | None:
    """Return the effects of a tool that is made for reading or writing files."""
    seen = arguments if len(arguments) <= 2 * _SEEN else arguments[:_SEEN] + arguments[-_SEEN:]
    command = _COMMAND.search(seen) if is_write else None
    if command is not None:
        is_write = _WRITES.search(command[1]) is not None
        if not is_write and not _READS.search(command[1]):
            return None
    return _touching(_paths(seen), is_write=is_write)


def _touching(paths: Iterable[str], *, is_write: bool) -> Effects:
    return Effects([Touch(path, is_write) for path in paths])


def _script(call: Call) -> tuple[str | list[str], str]:
    """Return the script or command words in the arguments, and the working directory."""
    values = call.arguments
    if values is None:
        return "", ""
    directories = [values.get(name) for name in _DIRECTORIES]
    directory = next((value for value in directories if isinstance(value, str)), "")
    for name in _SCRIPTS:
        value = values.get(name)
        if isinstance(value, str):
            return value, directory
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            return value, directory
    return "", directory


def _run(script: str | Sequence[str]) -> Effects | None:
    """Return the effects of a command: a script, or words, mostly of a shell with a script."""
    if isinstance(script, str):
        if is_patch(script):
            return _touching(patched_files(script), is_write=True)
        return read_effects(script)
    if posixpath.basename(script[0]) not in _SHELLS:
        return argv_effects(script)
    is_given = len(script) == 3 and script[1].startswith("-") and script[1].endswith("c")
    return read_effects(script[2]) if is_given else None


def _paths(arguments: str) -> frozenset[str]:
    """Return what looks like a path: a JSON value, or any word of other arguments.

    Where a key says which value is the path, no other value counts.
    """
    found = _TARGET.findall(arguments)
    if not found:
        is_json = arguments.startswith("{")
        found = _VALUE.findall(arguments) if is_json else find_items(arguments)
    return frozenset(item for item in found if shape_of(item) in _PATHS)
