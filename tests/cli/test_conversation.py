"""`--conversation NAME`: files that share a store get nothing of each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from refold import SqliteStore, uncompress
from tests.cli.conftest import Refold
from tests.cli.session import chat, jsonl, shapes

SHAPES = shapes()


@pytest.fixture(params=list(SHAPES)[::4])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / str(request.param)
    path.write_bytes(SHAPES[path.name])
    return path


@pytest.mark.parametrize("place", [("--store", "all.db"), ()], ids=["store", "sidecar"])
def test_comes_back_under_its_name(refold: Refold, file: Path, place: tuple[str, ...]) -> None:
    before = file.read_bytes()
    named = (*place, "--conversation", "ann")
    assert refold("compress", file, "-o", "small", *named).code == 0
    assert len(Path("small").read_bytes()) < len(before)
    done = refold("uncompress", "small", *named)
    assert (done.code, done.out) == (0, before)
    assert done.err.endswith(" unfolded\n")


def test_comes_back_from_one_document(refold: Refold, file: Path) -> None:
    folded = refold("compress", file, "--json", "--conversation", "ann").out
    done = refold("uncompress", "-", "--conversation", "ann", stdin=folded)
    assert (done.code, done.out) == (0, file.read_bytes())


@pytest.mark.parametrize("name", [(), ("--conversation", "bob")], ids=["none", "other"])
def test_stays_folded_under_another_name(refold: Refold, name: tuple[str, ...]) -> None:
    Path("chat.jsonl").write_bytes(jsonl(chat()))
    refold("compress", "chat.jsonl", "-o", "small.jsonl", "--store", "all.db", *ANN)
    done = refold("uncompress", "small.jsonl", "--store", "all.db", *name)
    assert (done.code, done.out) == (3, Path("small.jsonl").read_bytes())
    assert "another --conversation" in done.err


def test_a_forgotten_name_is_told_where_the_originals_lie_beside_the_file(refold: Refold) -> None:
    Path("chat.jsonl").write_bytes(jsonl(chat()))
    refold("compress", "chat.jsonl", "-o", "small.jsonl", *ANN)
    assert "another --conversation" in refold("uncompress", "small.jsonl").err
    assert refold("uncompress", "small.jsonl", "--conversation", "bob").code == 3


def test_messages_with_ids_stay_apart_too(refold: Refold) -> None:
    messages = [{"id": f"i{n}", **message} for n, message in enumerate(chat())]
    Path("chat.jsonl").write_bytes(jsonl(messages))
    refold("compress", "chat.jsonl", "-o", "small.jsonl", "--store", "all.db", *ANN)
    done = refold("uncompress", "small.jsonl", "--store", "all.db", "--conversation", "bob")
    assert (done.code, done.out) == (3, Path("small.jsonl").read_bytes())


def test_two_rounds_come_back(refold: Refold, file: Path) -> None:
    common = ("--store", "all.db", *ANN, "--quiet")
    refold("compress", file, "-o", "one", *common)
    refold("compress", "one", "-o", "two", *common, "--set", "recency_window=0")
    assert refold("uncompress", "two", "--store", "all.db", *ANN).out == file.read_bytes()


@pytest.mark.parametrize("to", ["store", "document"])
def test_originals_move_along_to_another_place(refold: Refold, file: Path, to: str) -> None:
    folded = refold("compress", file, "--json", *ANN).out
    if to == "store":
        refold("compress", "-", "-o", "small", "--store", "b.db", *ANN, stdin=folded)
        done = refold("uncompress", "small", "--store", "b.db", *ANN)
    else:
        refold("compress", file, "-o", "small", *ANN)
        again = refold("compress", "small", "--json", *ANN).out
        done = refold("uncompress", "-", *ANN, stdin=again)
    assert (done.code, done.out) == (0, file.read_bytes())


def test_is_the_name_that_the_library_knows(refold: Refold) -> None:
    messages = chat()
    Path("chat.jsonl").write_bytes(jsonl(messages))
    refold("compress", "chat.jsonl", "--json", "-o", "small.json", "--store", "all.db", *ANN)
    folded = json.loads(Path("small.json").read_bytes())["messages"]
    with SqliteStore("all.db") as store:
        assert uncompress(folded, store, conversation="ann").messages == messages
        assert uncompress(folded, store, conversation="bob").messages == folded


def test_earlier_stand_ins_are_known_by_their_name(refold: Refold) -> None:
    Path("chat.jsonl").write_bytes(jsonl(chat()))
    refold("compress", "chat.jsonl", "-o", "small.jsonl", "--store", "all.db", *ANN)
    known = [
        refold("explain", "small.jsonl", "--json", "--store", "all.db", *name).out
        for name in (ANN, ("--conversation", "bob"))
    ]
    assert [out.count(b"already_compressed") > 0 for out in known] == [True, False]


@pytest.mark.parametrize("command", ["compress", "uncompress", "explain", "stats"])
def test_a_name_that_is_none(refold: Refold, command: str) -> None:
    Path("chat.jsonl").write_bytes(jsonl(chat()))
    done = refold(command, "chat.jsonl", "--conversation", "")
    assert done.code == 2
    assert "the name is empty" in done.err


ANN = ("--conversation", "ann")
