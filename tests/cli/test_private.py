"""Nobody can read a result who could not read what it was made from."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Refold
from tests.cli.session import chat, jsonl

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(name: str) -> int:
    return stat.S_IMODE(Path(name).stat().st_mode)


@pytest.mark.parametrize("given", [0o600, 0o640, 0o644, 0o664])
def test_an_output_has_the_mode_of_the_input(refold: Refold, given: int) -> None:
    Path("chat.jsonl").write_bytes(jsonl(chat()))
    Path("chat.jsonl").chmod(given)
    refold("compress", "chat.jsonl", "-o", "small.jsonl")
    assert mode("small.jsonl") == given
    assert mode("small.jsonl.refold.db") == 0o600
    refold("uncompress", "small.jsonl", "-o", "again.jsonl")
    assert mode("again.jsonl") == given
    assert Path("again.jsonl").read_bytes() == jsonl(chat())


def test_an_output_that_was_there_does_not_open_what_was_closed(refold: Refold) -> None:
    Path("chat.jsonl").write_bytes(jsonl(chat()))
    Path("chat.jsonl").chmod(0o600)
    Path("small.json").touch(0o644)
    refold("compress", "chat.jsonl", "--json", "-o", "small.json")
    assert mode("small.json") == 0o600


def test_what_comes_through_a_pipe_is_its_owners(refold: Refold) -> None:
    refold("compress", "-", "--store", "s.db", "-o", "small.jsonl", stdin=jsonl(chat()))
    assert mode("small.jsonl") == mode("s.db") == 0o600
