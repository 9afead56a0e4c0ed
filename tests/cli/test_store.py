"""`refold store`, and stores that are named by an address."""

from __future__ import annotations

import base64
import json
import sqlite3
from pathlib import Path

import pytest

from refold import SqliteStore
from refold.stores.scope import ScopedStore
from tests.cli.conftest import Refold
from tests.cli.session import chat, jsonl

OLD, NEW = (base64.b64encode(bytes([n]) * 32).decode() for n in (1, 2))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(jsonl(chat()))
    return path


def fold_both(refold: Refold, file: Path, store: str) -> None:
    for name in ("ann", "bob"):
        named = ("--store", store, "--conversation", name)
        assert refold("compress", file, "-o", f"{name}.jsonl", *named).code == 0


def unfolds(refold: Refold, file: Path, store: str, name: str) -> bool:
    done = refold("uncompress", f"{name}.jsonl", "--store", store, "--conversation", name)
    return done.code == 0 and done.out == file.read_bytes()


def test_a_store_is_not_copied_onto_itself(refold: Refold, file: Path) -> None:
    fold_both(refold, file, "all.db")
    for target in ("all.db", "./all.db"):
        done = refold("store", "copy", "all.db", target)
        assert done.code == 2
        assert "SOURCE and TARGET are the same store: all.db" in done.err


def test_stat_says_how_much_and_whose(refold: Refold, file: Path) -> None:
    fold_both(refold, file, "all.db")
    shown = refold("store", "stat", "all.db").out.decode()
    assert "  ann: " in shown
    assert "  bob: " in shown
    figures = json.loads(refold("store", "stat", "all.db", "--json").out)
    assert figures["entries"] == sum(figures["scopes"].values()) > 4
    assert refold("store", "stat", "absent.db").code == 1
    assert not Path("absent.db").exists()


def test_verify_names_what_is_damaged(refold: Refold, file: Path) -> None:
    fold_both(refold, file, "all.db")
    done = refold("store", "verify", "all.db")
    assert (done.code, done.out) == (0, b"")
    assert "· 0 damaged" in done.err
    connection = sqlite3.connect("all.db")
    connection.execute("UPDATE original SET value = X'01' WHERE rowid = 1")
    connection.commit()
    connection.close()
    done = refold("store", "verify", "all.db")
    assert done.code == 1
    assert done.out.startswith(b"damaged: scope:3:ann:")


def test_a_copy_and_an_export_unfold_as_well(refold: Refold, file: Path) -> None:
    fold_both(refold, file, "all.db")
    assert refold("store", "copy", "all.db", "copy.db").code == 0
    assert refold("store", "export", "all.db", "all.jsonl.gz").code == 0
    assert refold("store", "import", "again.db", "all.jsonl.gz").code == 0
    for store in ("copy.db", "again.db", "sqlite:///again.db"):
        assert unfolds(refold, file, store, "ann")
        assert unfolds(refold, file, store, "bob")


def test_forget_removes_one_conversation_and_notes_it(refold: Refold, file: Path) -> None:
    fold_both(refold, file, "all.db")
    done = refold("store", "forget", "all.db", "--conversation", "ann", "--reason", "by mail")
    assert done.code == 0
    assert "originals removed" in done.err
    assert not unfolds(refold, file, "all.db", "ann")
    assert unfolds(refold, file, "all.db", "bob")
    notes = refold("store", "audit", "all.db").out.decode().splitlines()
    assert [("forget begun" in notes[0]), ("forget done" in notes[1])] == [True, True]
    assert notes[1].endswith("by mail")
    assert "ann" not in "".join(notes)
    assert (
        json.loads(refold("store", "audit", "all.db", "--conversation", "bob", "--json").out) == []
    )
    assert len(refold("store", "audit", "all.db", "--conversation", "ann").out.splitlines()) == 2


def test_gc_removes_what_is_old(refold: Refold) -> None:
    with SqliteStore("all.db", clock=lambda: 1_000.0) as store:
        ScopedStore(store, "ann").put({"a": 1})
        ScopedStore(store, "bob").put({"a": 1})
    with SqliteStore("all.db") as store:
        store.put({"new": 1})
    assert (
        "1 originals removed"
        in refold("store", "gc", "all.db", "--older-than", "90d", "--tenant", "ann").err
    )
    assert "1 originals removed" in refold("store", "gc", "all.db", "--older-than", "90d").err
    with SqliteStore("all.db") as store:
        assert store.get(["new"]) == {"new": 1}
    shown = refold("store", "stat", "all.db").out.decode().splitlines()
    assert shown[0].startswith("1 originals ·")
    assert shown[-1] == "4 notes of removals: see refold store audit"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("gc", "all.db"), "--older-than"),
        (("gc", "all.db", "--older-than", "soon"), "is not an age; write 30s"),
        (("forget", "all.db"), "name what to forget"),
        (("stat",), "STORE"),
    ],
)
def test_wrong_usage(refold: Refold, arguments: tuple[str, ...], words: str) -> None:
    done = refold("store", *arguments)
    assert done.code == 2
    assert words in done.err


@pytest.mark.parametrize(
    "command", [("forget", "x.db", "--tenant", "a"), ("gc", "x.db", "--older-than", "1d")]
)
def test_nothing_is_removed_from_a_file_that_is_not_there(
    refold: Refold, command: tuple[str, ...]
) -> None:
    done = refold("store", *command)
    assert done.code == 1
    assert "there is no such file" in done.err
    assert not Path("x.db").exists()


def test_an_address_that_nobody_knows(refold: Refold, file: Path) -> None:
    done = refold("compress", file, "-o", "small", "--store", "mysql://ann:secret@host/db")
    assert done.code == 1
    assert "no store has an address like 'mysql://ann@host/db'" in done.err
    assert "secret" not in done.err


def test_originals_of_an_earlier_fold_go_to_an_address_too(refold: Refold, file: Path) -> None:
    pytest.importorskip("obstore", reason="obstore is not installed; see `make test-stores`")
    store = f"file://{Path.cwd()}/objects"
    assert refold("compress", file, "-o", "once.jsonl").code == 0
    assert refold("compress", "once.jsonl", "-o", "twice.jsonl", "--store", store).code == 0
    done = refold("uncompress", "twice.jsonl", "--store", store)
    assert (done.code, done.out) == (0, file.read_bytes())


# --- encryption -----------------------------------------------------------------------------------


def test_keys_of_the_environment_encrypt(
    refold: Refold, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography", reason="cryptography is not installed")
    monkeypatch.setenv("REFOLD_STORE_KEYS", OLD)
    fold_both(refold, file, "all.db")
    assert refold("compress", file, "-o", "beside.jsonl").code == 0
    assert unfolds(refold, file, "all.db", "ann")
    assert refold("uncompress", "beside.jsonl").out == file.read_bytes()

    monkeypatch.setenv("REFOLD_STORE_KEYS", f"{NEW},{OLD}")
    assert refold("store", "copy", "all.db", "new.db").code == 0
    monkeypatch.setenv("REFOLD_STORE_KEYS", NEW)
    assert unfolds(refold, file, "new.db", "ann")
    assert not unfolds(refold, file, "all.db", "ann")
    done = refold("store", "verify", "all.db")
    assert done.code == 1
    assert done.out.startswith(b"not checked: ")
    assert b"all.db" in done.out
    assert b"it needs the key" in done.out
    assert "· 0 damaged" in done.err
    assert refold("store", "copy", "new.db", "plain.db", "--decrypt").code == 0
    assert refold("store", "copy", "plain.db", "sealed.db", "--encrypt").code == 0
    assert unfolds(refold, file, "sealed.db", "bob")
    monkeypatch.delenv("REFOLD_STORE_KEYS")
    assert unfolds(refold, file, "plain.db", "bob")
    assert not unfolds(refold, file, "sealed.db", "bob")
    done = refold("store", "verify", "sealed.db")
    assert done.code == 1
    assert done.out.startswith(b"encrypted, and not checked without REFOLD_STORE_KEYS: ")
    assert "· 0 damaged" in done.err


def test_a_key_that_is_none_is_not_shown(
    refold: Refold, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFOLD_STORE_KEYS", "hush!")
    done = refold("compress", file, "-o", "small", "--store", "all.db")
    assert done.code == 1
    assert "REFOLD_STORE_KEYS must hold keys in base64" in done.err
    assert "hush" not in done.err
