"""What a tool call does with files, by its name, its patch or the table of commands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refold.files import effects_of, may_change
from refold.messages.message import Call

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-see b.py\n+x\n*** End Patch"


def effects(tool: str, arguments: Any) -> tuple[list[str], list[str]]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    reads, writes = effects_of(Call("", tool, text))
    return [*reads], [*writes]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bash", {"command": "echo x > a.py"}),
        ("bash", {"command": "cat >> a.py <<'EOF'\nx\nEOF"}),
        ("shell", {"command": ["bash", "-lc", "sed -i 's/a/b/' a.py"]}),
        ("exec_command", {"cmd": "make 2>/dev/null | tee -a a.py"}),
        ("apply_patch", PATCH),
        ("apply_patch", {"input": PATCH}),
        ("shell", {"command": ["apply_patch", PATCH]}),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]}),
        ("write_file", {"path": "./a.py", "content": "see b.py"}),
        ("str_replace_editor", {"command": "create", "path": "a.py"}),
    ],
)
def test_many_ways_to_write_a_file(tool: str, arguments: Any) -> None:
    assert effects(tool, arguments) == ([], ["a.py"])


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bash", {"command": "cat a.py"}),
        ("bash", {"command": "cd /repo && sed -n '1,80p' a.py"}),
        ("bash", {"command": "head -n 50 a.py"}),
        ("bash", {"command": "tail -50 a.py"}),
        ("shell", {"command": ["cat", "a.py"]}),
        ("read_file", {"path": "a.py"}),
        ("str_replace_editor", {"command": "view", "path": "a.py"}),
    ],
)
def test_many_ways_to_show_a_file(tool: str, arguments: Any) -> None:
    assert effects(tool, arguments) == (["a.py"], [])


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("PowerShell", {"command": "rm a.py"}),
        ("shell", {"command": []}),
        ("shell", {"command": ["rm", 7]}),
        ("bash", {"command": 7}),
        ("bash", {"command": "cat a.py | wc -l"}),
        ("bash", {"command": "make 2>&1 > /dev/null"}),
        ("bash", {"command": "test 3 -gt 2"}),
        ("bash", "[" * 100_000),
        ("bash", {"command": "cat " + "a " * 50_000 + "|"}),
        ("think", {"thought": "rm a.py"}),
    ],
)
def test_what_does_nothing_that_can_be_told(tool: str, arguments: Any) -> None:
    assert effects(tool, arguments) == ([], [])


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("cancel_pending_order", {"order_id": "#W1"}),
        ("Edit", {"file_path": "a.py"}),
        ("book_flight", {"id": 1}),
        ("send_mail", {"to": "a@example.com"}),
        ("str_replace_editor", {"command": "create", "path": "a.py"}),
        ("bash", {"command": "cd x && git commit -m y"}),
        ("bash", {"command": "cat <<EOF > new.py\nx\nEOF"}),
        ("bash", {"command": "rm -rf build"}),
        ("something_new", {}),
    ],
)
def test_what_may_have_changed_something(tool: str, arguments: dict[str, object]) -> None:
    assert may_change(Call("c", tool, json.dumps(arguments)))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_order_details", {"order_id": "#W1"}),
        ("Read", {"file_path": "a.py"}),
        ("searchFlights", {"to": "JFK"}),
        ("str_replace_editor", {"command": "view", "path": "a.py"}),
        ("bash", {"command": "sed -n 1,20p a.py"}),
        ("bash", {"command": "grep -rn commit src"}),
        ("calculate", {"expression": "1 + 1"}),
    ],
)
def test_what_only_looks(tool: str, arguments: dict[str, object]) -> None:
    assert not may_change(Call("c", tool, json.dumps(arguments)))
