"""`SqliteStore` in one process: the contract, expiry, and every way it says no."""

from __future__ import annotations

import enum
import os
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from refold.errors import ConfigError, StoreError
from refold.stores import SqliteStore
from refold.stores.sqlite import explain

from .contract import WholeStoreContract, nested

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX files")


class Colour(enum.StrEnum):
    RED = "red"


class TestSqliteStore(WholeStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[SqliteStore]:
        with SqliteStore(tmp_path / "s.db") as store:
            yield store


def run_sql(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    try:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    finally:
        connection.close()


# --- one file, opened again ---------------------------------------------------------------------


def test_entries_outlive_the_store(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s.db") as store:
        store.put({"a": {"b": [1]}})
    with SqliteStore(str(tmp_path / "s.db")) as store:
        assert store.get(["a"]) == {"a": {"b": [1]}}


def test_two_stores_on_one_file_see_each_other(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s.db") as one, SqliteStore(tmp_path / "s.db") as two:
        one.put({"a": 1})
        two.put({"a": "ignored", "b": 2})
        assert one.get(["a", "b"]) == two.get(["a", "b"]) == {"a": 1, "b": 2}


def test_a_file_is_in_wal_mode(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "s.db").close()
    connection = sqlite3.connect(tmp_path / "s.db")
    try:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    finally:
        connection.close()


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "s.db").touch()
    with SqliteStore(tmp_path / "s.db") as store:
        store.put({"a": 1})
        assert len(store) == 1


def test_a_change_of_directory_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with SqliteStore("s.db") as store:
        monkeypatch.chdir("/")
        store.put({"a": 1})
        assert store.get(["a"]) == {"a": 1}


def test_repr_is_short(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with SqliteStore(path) as store:
        store.put({"a": "x" * 10_000})
        assert repr(store) == f"SqliteStore({str(path)!r})"
    assert repr(store) == f"SqliteStore({str(path)!r}, closed)"
    with SqliteStore(path, ttl_seconds=60) as store:
        assert repr(store) == f"SqliteStore({str(path)!r}, ttl_seconds=60)"


# --- expiry -------------------------------------------------------------------------------------


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_without_a_ttl_nothing_expires(tmp_path: Path, clock: Clock) -> None:
    with SqliteStore(tmp_path / "s.db", clock=clock) as store:
        store.put({"a": 1})
        clock.now += 1e12
        store.put({"b": 2})
        assert store.get(["a", "b"]) == {"a": 1, "b": 2}


@pytest.mark.parametrize(("age", "there"), [(0, True), (59.9, True), (60, True), (60.1, False)])
def test_an_entry_older_than_the_ttl_is_absent(
    tmp_path: Path, clock: Clock, age: float, there: bool
) -> None:
    with SqliteStore(tmp_path / "s.db", ttl_seconds=60, clock=clock) as store:
        store.put({"a": 1})
        clock.now += age
        assert store.get(["a"]) == ({"a": 1} if there else {})
        assert len(store) == int(there)


def test_the_next_put_deletes_what_expired(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "s.db"
    with SqliteStore(path, ttl_seconds=60, clock=clock) as store, SqliteStore(path) as witness:
        store.put({"old": 1})
        clock.now += 61
        assert len(witness) == 1
        store.put({"new": 2})
        assert witness.get(["old", "new"]) == {"new": 2}


def test_an_expired_key_can_be_put_again(tmp_path: Path, clock: Clock) -> None:
    with SqliteStore(tmp_path / "s.db", ttl_seconds=60, clock=clock) as store:
        store.put({"a": 1})
        clock.now += 61
        store.put({"a": 1})
        assert store.get(["a"]) == {"a": 1}


def test_putting_again_renews_the_time_and_keeps_the_value(tmp_path: Path, clock: Clock) -> None:
    with SqliteStore(tmp_path / "s.db", ttl_seconds=60, clock=clock) as store:
        store.put({"a": "first"})
        clock.now += 50
        store.put({"a": "second"})
        clock.now += 50
        assert store.get(["a"]) == {"a": "first"}
        clock.now += 50
        assert store.get(["a"]) == {}


def test_a_clock_that_goes_back_shortens_no_life(tmp_path: Path, clock: Clock) -> None:
    with SqliteStore(tmp_path / "s.db", ttl_seconds=60, clock=clock) as store:
        store.put({"a": 1})
        clock.now -= 500
        store.put({"a": 1, "b": 2})
        clock.now += 500
        assert store.get(["a", "b"]) == {"a": 1}


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf")])
def test_a_ttl_that_cannot_work(tmp_path: Path, ttl: float) -> None:
    with pytest.raises(ConfigError, match="ttl_seconds must be a number above 0"):
        SqliteStore(tmp_path / "s.db", ttl_seconds=ttl)
    assert not (tmp_path / "s.db").exists()


def test_a_clock_without_a_time_is_an_error_and_not_a_loss(tmp_path: Path, clock: Clock) -> None:
    clock.now = float("nan")
    with (
        SqliteStore(tmp_path / "s.db", clock=clock) as store,
        pytest.raises(StoreError, match="NOT NULL"),
    ):
        store.put({"a": 1})


# --- only reading ---------------------------------------------------------------------------------


def test_a_store_that_is_only_read_takes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no such file"):
        SqliteStore(tmp_path / "s.db", read_only=True)
    assert not (tmp_path / "s.db").exists()
    with SqliteStore(tmp_path / "s.db") as store:
        store.put({"a": 1})
    with SqliteStore(tmp_path / "s.db", read_only=True) as store:
        with pytest.raises(StoreError, match="it was opened with read_only=True"):
            store.put({"b": 2})
        assert store.get(["a", "b"]) == {"a": 1}


# --- what cannot be opened ----------------------------------------------------------------------


def under_a_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.touch()


def other_program(path: Path) -> None:
    run_sql(path, "CREATE TABLE bookmark (url TEXT)")


def other_version(path: Path) -> None:
    SqliteStore(path).close()
    run_sql(path, "PRAGMA user_version = 3")


def damaged(path: Path) -> None:
    with SqliteStore(path) as store:
        store.put({str(i): "x" * 5_000 for i in range(20)})
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xff" * (len(data) - 100))


UNOPENABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "directory missing": (lambda path: path.parent.rmdir(), "directory does not exist; create"),
    "a directory": (Path.mkdir, "it is a directory; add a file name"),
    "under a file": (under_a_file, "directory does not exist; create"),
    "text": (lambda path: path.write_text("hello " * 1_000), "not an SQLite database; choose"),
    "short text": (lambda path: path.write_text("hello"), "not an SQLite database; choose"),
    "other program": (other_program, "database of another program; choose another path"),
    "newer schema": (other_version, "schema version is 3, this refold knows version 2; upgrade"),
    "damaged": (damaged, "the file is damaged; restore"),
}


@pytest.mark.parametrize("name", UNOPENABLE)
def test_what_cannot_be_opened(tmp_path: Path, name: str) -> None:
    prepare, words = UNOPENABLE[name]
    path = tmp_path / "room" / "s.db"
    path.parent.mkdir()
    prepare(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError, match=words) as caught:
        SqliteStore(path)
    assert str(caught.value).startswith(f"cannot open the store {str(path)!r}: ")
    assert before == (path.read_bytes() if path.is_file() else None)


@posix_only
def test_a_pipe_cannot_be_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s.db")
    with pytest.raises(StoreError, match="not a regular file; choose another path"):
        SqliteStore(tmp_path / "s.db")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (":memory:", "use a MemoryStore"),
        (Path(":memory:"), "use a MemoryStore"),
        ("", "the path is empty"),
        ("/", "it is a directory"),
        ("/tmp/a\0b", "null"),
        ("/tmp/" + "x" * 5_000, "File name too long; choose another path"),
    ],
)
def test_paths_that_name_no_file(path: str | Path, words: str) -> None:
    with pytest.raises(StoreError, match=words):
        SqliteStore(path)


# --- what cannot be written ---------------------------------------------------------------------


def loop() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


NOT_JSON: dict[str, tuple[object, str]] = {
    "tuple": ({"a": [1, (2,)]}, r"tuple at value\['a'\]\[1\]; convert it"),
    "tuple alone": ((), "tuple at value; convert it"),
    "bytes": (b"x", "bytes at value"),
    "set": ([{1}], r"set at value\[0\]"),
    "object": ({"a": object()}, r"object at value\['a'\]"),
    "str subclass": ([Colour.RED], r"Colour at value\[0\]"),
    "dict subclass": (OrderedDict(a=1), "OrderedDict at value"),
    "number as a key": ({"a": {1: "x"}}, "a dict in it has the key 1"),
    "None as a key": ({None: 1}, "a dict in it has the key None"),
    "str subclass as a key": ({Colour.RED: 1}, "a dict in it has the key <Colour.RED"),
    "fifty thousand levels": (nested(50_000), "nested more than 500 levels deep"),
    "a value in itself": (loop(), "nested more than 500 levels deep"),
    "an endless integer": (10**5_000, "cannot be written as JSON: .*4300 digits"),
}


@pytest.mark.parametrize("name", NOT_JSON)
def test_what_is_not_json_is_refused_whole(tmp_path: Path, name: str) -> None:
    value, words = NOT_JSON[name]
    with SqliteStore(tmp_path / "s.db") as store:
        with pytest.raises(StoreError, match=f"the value of 'bad key' .*{words}"):
            store.put({"good": 1, "bad key": value, "also good": 2})
        assert len(store) == 0
        store.put({"good": 1})
        assert store.get(["good"]) == {"good": 1}


def test_the_deepest_value_accepted_comes_back(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s.db") as store:
        store.put({"a": nested(500)})
        assert store.get(["a"]) == {"a": nested(500)}
        with pytest.raises(StoreError, match="more than 500 levels"):
            store.put({"b": nested(501)})


def test_a_stack_that_is_nearly_full_gives_an_error_at_worst(tmp_path: Path) -> None:
    def deep_inside(action: Callable[[], object], frames: int) -> object:
        return action() if frames == 0 else deep_inside(action, frames - 1)

    with SqliteStore(tmp_path / "s.db") as store:
        # Whether the stack is too small depends on the Python version; a crash it never is.
        with suppress(StoreError):
            deep_inside(lambda: store.put({"a": nested(500)}), 600)
        store.put({"a": nested(500)})
        with suppress(StoreError):
            deep_inside(lambda: store.get(["a"]), 600)
        assert store.get(["a"]) == {"a": nested(500)}


def test_after_close_everything_says_so(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    store.close()
    store.close()
    uses: list[Callable[[], object]] = [
        lambda: store.put({"a": 1}),
        lambda: store.get(["a"]),
        lambda: len(store),
    ]
    for use in uses:
        with pytest.raises(StoreError, match=r"s\.db': it is closed; open a new SqliteStore"):
            use()


@posix_only
@pytest.mark.parametrize("replace", [False, True])
def test_a_file_that_is_gone_takes_no_originals_with_it(tmp_path: Path, replace: bool) -> None:
    path = tmp_path / "s.db"
    with SqliteStore(path) as store:
        store.put({"a": 1})
        moved = path.rename(tmp_path / "moved.db")
        if replace:
            path.write_bytes(moved.read_bytes())
        with pytest.raises(StoreError, match=r"s\.db': the file was deleted or replaced"):
            store.put({"b": 2})


def test_a_value_changed_by_somebody_else_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with SqliteStore(path) as store:
        store.put({"a": 1, "b": 2})
        run_sql(path, "UPDATE original SET value = CAST('{oops' AS BLOB) WHERE key = X'61'")
        with pytest.raises(StoreError, match="the value of 'a' is not readable"):
            store.get(["a", "b"])
        assert store.get(["b"]) == {"b": 2}


def test_a_table_dropped_by_somebody_else_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with SqliteStore(path) as store:
        run_sql(path, "DROP TABLE original")
        with pytest.raises(StoreError, match=r"cannot write to the store .*no such table"):
            store.put({"a": 1})
        with pytest.raises(StoreError, match=r"cannot read the store .*no such table"):
            store.get(["a"])


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_BUSY, "another process keeps it locked"),
        (sqlite3.SQLITE_BUSY_RECOVERY, "another process keeps it locked"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "it is read-only; make"),
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened; make"),
        (sqlite3.SQLITE_FULL, "the disk is full; free some space"),
        (sqlite3.SQLITE_IOERR_FSYNC, "the disk refused; check"),
        (sqlite3.SQLITE_CORRUPT_INDEX, "damaged; restore"),
        (sqlite3.SQLITE_TOOBIG, "larger than SQLite can hold"),
        (sqlite3.SQLITE_MISUSE, "store '/x.db': what SQLite said"),
    ],
)
def test_sqlite_failures_in_words(code: int, words: str) -> None:
    error = sqlite3.OperationalError("what SQLite said")
    error.sqlite_errorcode = code
    said = str(explain(error, doing="write to", path=Path("/x.db")))
    assert said.startswith("cannot write to the store '/x.db': ")
    assert words in said
    assert "what SQLite said" in said
