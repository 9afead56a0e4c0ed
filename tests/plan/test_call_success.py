"""Whether a call succeeded: its exit status or a flag tells, else its words."""

from __future__ import annotations

import pytest

from refold.plan.superseded import Verdict
from tests.plan.runs import anthropic_call, call, read


def verdict(output: str, *paths: str) -> Verdict:
    *_, result = read(call(1, "bash", {"command": "make"}, output))
    return Verdict(result, [0], paths)


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("<returncode>0</returncode>\n<output>\nerror\n</output>", 0),
        ("<returncode>127</returncode>", 127),
        ("Exit code 1\nmake: failed", 1),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\n", 0),
        ("Chunk ID: 7\nWall time: 1 s\nProcess exited with code 2\nOutput:", 2),
        ('{"output":"no such file","metadata":{"exit_code":0,"duration_seconds":0.1}}', 0),
        ('{"output":"","metadata":{"exit_code":-1}}', -1),
        ("text\n[The command completed with exit code 3.]\n[Directory: /x]", 3),
        ("text\n\nCommand exited with code 1", 1),
        ("", None),
        ("The exit code was 0 last time", None),
        ('{"exit_code": 5}', None),
    ],
)
def test_exit_statuses(output: str, status: int | None) -> None:
    assert verdict(output).status == status


@pytest.mark.parametrize(
    ("output", "is_quiet"),
    [
        ("", True),
        ("error.py: done", True),
        ("Error: disk full", False),
        ("<returncode>0</returncode>\nraise ValueError('an error: it failed')", True),
        ("<returncode>0</returncode>\nsed: can't read a.py: No such file or directory", False),
        ("<returncode>0</returncode>\nbash: line 1: cd: x: No such file or directory", False),
    ],
)
def test_complaints(output: str, is_quiet: bool) -> None:
    assert verdict(output, "error.py").is_quiet is is_quiet


def test_a_flag_says_more_than_words() -> None:
    *_, flagged = read(anthropic_call(1, "bash", {"command": "make"}, "all done", is_error=True))
    assert Verdict(flagged, [0], ()).status == 1


def test_the_texts_of_a_call_are_named() -> None:
    assert verdict("x").keys == [(1, 0)]
