"""What a tool call does with files, by its name and its arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refold.files.calls import effects_of
from refold.messages.message import Call

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-see b.py\n+x\n*** End Patch"


def touched(tool: str, arguments: Any) -> list[tuple[str, bool]]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    effects, _ = effects_of(Call("", tool, text))
    return [(touch.path, touch.is_write) for touch in effects.touched] if effects else []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bash", {"command": "rm a.py"}),
        ("Bash", {"command": "rm a.py", "description": "Remove b.py"}),
        ("shell", {"command": ["bash", "-lc", "rm a.py"]}),
        ("shell", {"command": ["/bin/zsh", "-c", "rm a.py"]}),
        ("shell", {"command": ["rm", "a.py"]}),
        ("local_shell_call", {"type": "exec", "command": ["rm", "a.py"]}),
        ("exec_command", {"cmd": "rm a.py"}),
        ("run", {"command": "rm a.py"}),
        ("execute_bash", {"command": "rm a.py"}),
        ("run_terminal_cmd", {"command": "rm a.py"}),
        ("apply_patch", PATCH),
        ("apply_patch", {"input": PATCH}),
        ("shell", {"command": ["apply_patch", PATCH]}),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]}),
        ("write_file", {"path": "a.py", "content": "see b.py"}),
    ],
)
def test_many_ways_to_write_a_file(tool: str, arguments: Any) -> None:
    assert touched(tool, arguments) == [("a.py", True)]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bash", {"command": "cat a.py"}),
        ("shell", {"command": ["cat", "a.py"]}),
        ("read_file", {"path": "a.py"}),
        ("str_replace_editor", {"command": "view", "path": "a.py"}),
        ("get_command_help", {"path": "a.py"}),
    ],
)
def test_many_ways_to_read_a_file(tool: str, arguments: Any) -> None:
    assert touched(tool, arguments) == [("a.py", False)]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("PowerShell", {"command": "rm a.py"}),
        ("shell", {"command": ["powershell", "-Command", "rm a.py"]}),
        ("shell", {"command": ["bash", "-l", "a.sh", "b.py"]}),
        ("shell", {"command": []}),
        ("shell", {"command": ["rm", 7]}),
        ("bash", {"command": 7}),
        ("bash", {"path": "a.py"}),
        ("bash", "rm a.py"),
        ("bash", "[" * 100_000),
        ("BashOutput", {"bash_id": "1"}),
        ("think", {"thought": "rm a.py"}),
    ],
)
def test_what_does_nothing_that_can_be_told(tool: str, arguments: Any) -> None:
    assert touched(tool, arguments) == []


def test_a_shell_is_told_where_to_run() -> None:
    assert effects_of(Call("", "shell", '{"command": ["ls"], "workdir": "/repo"}'))[1] == "/repo"
    assert effects_of(Call("", "bash", '{"command": "ls"}'))[1] == ""
    assert effects_of(Call("", "read_file", '{"path": "a.py", "cwd": "/repo"}'))[1] is None
