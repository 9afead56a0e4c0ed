"""A read is out of date once its file was written, if the write succeeded."""

from __future__ import annotations

from typing import Any

import pytest

from refold.plan.superseded import find_superseded
from tests.conversations import Conversation
from tests.plan.runs import anthropic_call, call, read, source_code

PATH = {"path": "src/queue.py"}


def outdated(*steps: Conversation) -> set[tuple[int, int]]:
    messages = [{"role": "user", "content": "Fix it."}]
    for step in steps:
        messages += step
    return set(find_superseded(read(messages)))


def test_a_write_makes_the_reads_before_it_out_of_date() -> None:
    reads = [call(n, "read_file", PATH, source_code(n)) for n in (1, 2)]
    write = call(3, "write_file", PATH, "wrote 40 lines")
    later = call(4, "read_file", PATH, source_code(4))
    assert outdated(*reads, write, later) == {(2, 0), (4, 0)}


def test_a_read_alone_is_not_out_of_date() -> None:
    assert outdated(call(1, "read_file", PATH, "x"), call(2, "read_file", PATH, "x")) == set()


@pytest.mark.parametrize(
    "answer",
    [
        "Error: permission denied",
        "error: no such file",
        "The edit failed",
        "Traceback (most recent call last):",
        "No replacement was performed, old_str did not appear verbatim in the file.",
        "could not apply the patch",
        "Invalid arguments",
        "<tool_use_error>File has not been read yet.</tool_use_error>",
        "The tool use was rejected: the file was NOT written",
        '{"success": false, "message": "disk full"}',
        '{"path": "src/queue.py", "error": "disk full"}',
        "Found 3 matches of the string to replace, but replace_all is false.",
        "Multiple occurrences of the text in lines [1, 2].",
        "Timed out after 30 s",
        "Cancelled by the user",
        "Done with exit code 1",
        "Trying to write\nError: the disk is full",
    ],
)
def test_a_failed_write_supersedes_nothing(answer: str) -> None:
    assert outdated(call(1, "read_file", PATH, "x"), call(2, "write_file", PATH, answer)) == set()


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The file has been edited:\n 1\traise ValueError('not found')  # error: cannot fail",
        "Wrote src/queue.py\n  - try: put()\n  + except Invalid: the queue failed",
        '{"success": true, "error": null, "errors": []}',
        "Exit code 0",
    ],
)
def test_what_was_written_does_not_tell_that_the_write_failed(answer: str) -> None:
    steps = call(1, "read_file", PATH, "x"), call(2, "write_file", PATH, answer)
    assert outdated(*steps) == {(2, 0)}


def test_a_file_named_after_an_error_can_be_written() -> None:
    path = {"path": "src/error.py"}
    steps = call(1, "read_file", path, "x"), call(2, "write_file", path, "src/error.py: 4 lines")
    assert outdated(*steps) == {(2, 0)}


def test_the_file_is_found_behind_what_is_written_into_it() -> None:
    arguments = {"content": "put(job)\n" * 200, **PATH}
    steps = call(1, "read_file", PATH, "x"), call(2, "write_file", arguments, "wrote 200 lines")
    assert outdated(*steps) == {(2, 0)}


def test_a_file_that_is_only_copied_from_is_not_written() -> None:
    arguments = {"from": "src/queue.py", "path": "src/other.py"}
    steps = call(1, "read_file", PATH, "x"), call(2, "write_file", arguments, "ok")
    assert outdated(*steps) == set()


def test_a_write_that_is_flagged_as_failed_supersedes_nothing() -> None:
    before = anthropic_call(1, "read_file", PATH, "x")
    for flags, expected in (
        ({"is_error": True}, set()),
        ({"isError": True}, set()),
        ({"status": "error"}, set()),
        ({"metadata": {"exit_code": 1}}, set()),
        ({"is_error": False}, {(2, 0)}),
        ({}, {(2, 0)}),
    ):
        assert (
            outdated(before, anthropic_call(2, "edit_file", PATH, "see above", **flags)) == expected
        )


def test_a_pending_write_supersedes_nothing() -> None:
    assert outdated(call(1, "read_file", PATH, "x"), call(2, "write_file", PATH, None)) == set()


def test_a_write_of_another_file_supersedes_nothing() -> None:
    other = call(2, "write_file", {"path": "src/other.py"}, "ok")
    assert outdated(call(1, "read_file", PATH, "x"), other) == set()


def test_a_file_that_is_only_mentioned_in_what_is_written_was_not_written() -> None:
    arguments = {"path": "docs/notes.md", "content": "see src/queue.py for more"}
    assert (
        outdated(call(1, "read_file", PATH, "x"), call(2, "write_file", arguments, "ok")) == set()
    )


@pytest.mark.parametrize(
    ("command", "is_outdated"),
    [("view", False), ("str_replace", True), ("create", True), ("insert", True)],
)
def test_a_tool_that_reads_and_writes_is_told_what_to_do(command: str, is_outdated: bool) -> None:
    edit = {"command": command, **PATH}
    look = call(1, "str_replace_editor", {"command": "view", **PATH}, "x")
    expected = {(2, 0)} if is_outdated else set()
    assert outdated(look, call(2, "str_replace_editor", edit, "done")) == expected


def test_calls_that_are_numbered_anew_in_every_turn_are_told_apart() -> None:
    steps: list[Conversation] = [
        call(0, "read_file", PATH, "x"),
        call(0, "read_file", {"path": "src/other.py"}, "y"),
        call(0, "write_file", PATH, "ok"),
        call(0, "write_file", {"path": "src/other.py"}, "error: disk full"),
    ]
    assert outdated(*steps) == {(2, 0)}


@pytest.mark.parametrize("name", ["Read", "view_file", "cat", "get_file_contents", "open"])
def test_many_names_for_reading(name: str) -> None:
    write = call(2, "apply_patch", PATH, "done")
    assert outdated(call(1, name, PATH, "x"), write) == {(2, 0)}


@pytest.mark.parametrize("name", ["bash", "search", "think"])
def test_other_tools_are_neither_reads_nor_writes(name: str) -> None:
    assert outdated(call(1, name, PATH, "x"), call(2, "write_file", PATH, "ok")) == set()
    assert outdated(call(1, "read_file", PATH, "x"), call(2, name, PATH, "ok")) == set()


@pytest.mark.parametrize("arguments", [{}, [], "src/queue.py", 7, None, {"path": "no path"}])
def test_arguments_of_any_shape_are_read(arguments: Any) -> None:
    steps = call(1, "read_file", arguments, "x"), call(2, "write_file", arguments, "ok")
    assert outdated(*steps) == set()


def test_parts_of_one_result_go_together() -> None:
    steps = anthropic_call(1, "read_file", PATH, "x")
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    steps[1]["content"][0]["content"] = parts
    assert outdated(steps, anthropic_call(2, "edit", PATH, "ok")) == {(2, 0), (2, 1)}


def test_thinking_before_a_call_is_not_taken_for_it() -> None:
    steps = [anthropic_call(1, "read_file", PATH, "x"), anthropic_call(2, "edit", PATH, "ok")]
    for step in steps:
        thinking = {"type": "thinking", "thinking": "Let me see a.py.", "signature": "c2ln"}
        step[0]["content"].insert(0, thinking)
    assert outdated(*steps) == {(2, 0)}


def bash(number: int, command: str, output: str = "", **arguments: str) -> Conversation:
    return call(number, "bash", {"command": command, **arguments}, output)


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/a/b/' src/queue.py",
        "cat > src/queue.py <<'EOF'\nput(job)\nEOF",
        "cd src && sed -i 's/a/b/' queue.py",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/queue.py\nEOF",
    ],
)
@pytest.mark.parametrize("reader", [call(1, "read_file", PATH, "x"), bash(1, "cat src/queue.py")])
def test_a_shell_writes_files_and_reads_them(reader: Conversation, command: str) -> None:
    assert outdated(reader, bash(2, command)) == {(2, 0)}


@pytest.mark.parametrize("command", ["make", "echo 'sed -i x src/queue.py'", "rm src/other.py"])
def test_a_command_that_does_not_write_the_file_supersedes_nothing(command: str) -> None:
    assert outdated(bash(1, "cat src/queue.py"), bash(2, command)) == set()


def test_a_tool_writes_what_a_shell_has_shown() -> None:
    steps = bash(1, "sed -n 1,80p src/queue.py"), call(2, "edit_file", PATH, "ok")
    assert outdated(*steps) == {(2, 0)}


@pytest.mark.parametrize(
    ("command", "output", "is_written"),
    [
        ("echo x > src/queue.py", "<returncode>0</returncode>", True),
        ("echo x > src/queue.py", "<returncode>1</returncode>", False),
        ("echo x > src/queue.py", "bash: src/queue.py: Permission denied", False),
        ("echo x > src/queue.py && make", "<returncode>0</returncode>\n12 failed, error", True),
    ],
)
def test_a_command_counts_only_if_it_succeeded(command: str, output: str, is_written: bool) -> None:
    steps = bash(1, "cat src/queue.py"), bash(2, command, output)
    assert outdated(*steps) == ({(2, 0)} if is_written else set())


def test_a_read_that_failed_shows_no_file() -> None:
    failed = bash(1, "cat src/queue.py", "<returncode>1</returncode>\nNo such file")
    assert outdated(failed, bash(2, "echo x > src/queue.py")) == set()


def test_a_text_that_shows_several_files_is_out_of_date_once_all_were_written() -> None:
    both = bash(1, "cat a.py b.py")
    assert outdated(both, bash(2, "echo x > a.py")) == set()
    assert outdated(both, bash(2, "echo x > a.py"), bash(3, "echo x | tee b.py")) == {(2, 0)}


def test_a_file_is_the_same_from_another_directory() -> None:
    steps = (
        bash(1, "cd /repo && cat src/queue.py"),
        bash(2, "cat queue.py", workdir="/repo/src"),
        call(3, "write_file", {"path": "/repo/src/queue.py"}, "ok"),
    )
    assert outdated(*steps) == {(2, 0), (4, 0)}


def test_what_a_patch_only_mentions_was_not_written() -> None:
    patch = "*** Begin Patch\n*** Update File: docs/a.md\n+see src/queue.py\n*** End Patch"
    steps = call(1, "read_file", PATH, "x"), call(2, "apply_patch", {"input": patch}, "Done")
    assert outdated(*steps) == set()
