"""Failed results are told by their flags and by how they begin and end."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.managing import find_results


@pytest.mark.parametrize(
    "extra",
    [
        {"is_error": True},
        {"isError": True},
        {"tool_call_error": True},
        {"status": "error"},
        {"exit_code": 2},
        {"metadata": {"exit_code": 1}},
        {"content": "Error: no such file"},
        {"content": "Error executing tool read: boom"},
        {"content": "Traceback (most recent call last):\n  File ..."},
        {"content": "FileNotFoundError: a.py"},
        {"content": "<tool_use_error>no</tool_use_error>"},
        {"content": '{"error": {"code": 404}}'},
        {"content": '{"output": "x", "metadata": {"exit_code": 1}}'},
        {"content": '{"success": false}'},
        {"content": "FAILED tests/a.py\nexit code: 1"},
        {"content": "Process exited with code 127\nsh: foo: not found"},
        {"content": "<exit_code>3</exit_code>\nout"},
    ],
)
def test_failures_are_told(extra: dict[str, Any]) -> None:
    message = {"role": "tool", "tool_call_id": "c1", "content": "body", **extra}
    assert [found.is_error for found in find_results([message])] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "Error handling is covered in chapter 3: see below",
        "INFO start\n" * 50 + "ERROR: disk full\n" + "INFO go on\n" * 50,
        "exit code: 0",
        '{"error": null, "ok": true, "exit_code": 0}',
        '{"error": ',
        "{" * 5_000,
        "No errors found.",
        "def on_error(self):\n    pass",
    ],
)
def test_talking_of_errors_is_no_failure(text: str) -> None:
    (found,) = find_results([{"role": "tool", "content": text}])
    assert not found.is_error


def test_anthropic_errors_are_told_block_by_block() -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": "a", "content": "fine"},
        {"type": "tool_result", "tool_use_id": "b", "content": "bad", "is_error": True},
    ]
    found = find_results([{"role": "user", "content": blocks}])
    assert [f.is_error for f in found] == [False, True]
