"""`PostgresStore` on a real server, with and without PgBouncer."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from refold.errors import ConfigError, StoreError
from refold.stores import open_store
from refold.stores.postgres import MIGRATIONS, PostgresStore
from tests.tools.managing import Clock

from .awaited import Awaited
from .contract import WholeStoreContract
from .servers import BouncerServer, PostgresServer, folder

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed; see `make test-stores`")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with folder() as room, PostgresServer(room) as server:
        yield server


@pytest.fixture(scope="module")
def bouncer(server: PostgresServer) -> Iterator[BouncerServer]:
    with folder() as room, BouncerServer(room, server) as bouncer:
        yield bouncer


def emptied(store: PostgresStore) -> PostgresStore:
    store.remove()
    store.remove("refold:audit:")
    return store


def run_sql(server: PostgresServer, *statements: str) -> list[Any]:
    with psycopg.connect(server.url, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return list(cursor.fetchall()) if cursor.description else []


class TestPostgresStore(WholeStoreContract):
    @pytest.fixture
    def store(self, server: PostgresServer) -> Iterator[PostgresStore]:
        with PostgresStore(server.url) as store:
            yield emptied(store)


class TestPostgresStoreAwaited(WholeStoreContract):
    @pytest.fixture
    def store(self, server: PostgresServer) -> Iterator[Awaited]:
        with PostgresStore(server.url) as store:
            awaited = Awaited(emptied(store))
            yield awaited
            awaited.close()


class TestPostgresStoreBehindPgBouncer(WholeStoreContract):
    @pytest.fixture
    def store(self, bouncer: BouncerServer) -> Iterator[PostgresStore]:
        with PostgresStore(bouncer.url) as store:
            yield emptied(store)


def test_open_store_opens_it(server: PostgresServer) -> None:
    with open_store(server.url) as store:
        assert isinstance(store, PostgresStore)
        assert repr(store) == f"PostgresStore({server.url!r})"


def test_what_is_old_goes(server: PostgresServer) -> None:
    clock = Clock()
    with PostgresStore(server.url, clock=clock) as store:
        emptied(store).put({"a": 1})
        clock.now += 100.0
        store.put({"a": 1, "b": 2})
        assert store.remove(before=clock.now).entries == 1
        assert store.get(["a", "b"]) == {"b": 2}


def test_pickles_as_other_connections(server: PostgresServer) -> None:
    with PostgresStore(server.url) as store:
        emptied(store).put({"a": 1})
        with pickle.loads(pickle.dumps(store)) as other:
            assert other.get(["a"]) == {"a": 1}


def test_tables_of_an_older_refold_are_upgraded_and_keep_what_they_have(
    server: PostgresServer,
) -> None:
    drop = "DROP TABLE IF EXISTS refold_original, refold_schema"
    with PostgresStore(server.url) as store:
        store.put({"a": 1})
        (record,) = run_sql(server, "SELECT value FROM refold_original WHERE key = 'a'")
    for version in range(len(MIGRATIONS)):
        run_sql(server, drop, *MIGRATIONS[:version])
        run_sql(server, "CREATE TABLE refold_schema (version integer NOT NULL)")
        run_sql(server, f"INSERT INTO refold_schema VALUES ({version})")
        if version:
            row = f"('a', 1.0, '\\x{record[0].hex()}')"
            run_sql(server, f"INSERT INTO refold_original VALUES {row}")
        with PostgresStore(server.url) as store:
            assert store.get(["a"]) == ({"a": 1} if version else {})
        assert run_sql(server, "SELECT version FROM refold_schema") == [(len(MIGRATIONS),)]
    run_sql(server, "UPDATE refold_schema SET version = 99")
    with pytest.raises(StoreError, match="its schema version is 99, this refold knows version"):
        PostgresStore(server.url)
    run_sql(server, drop)


def test_a_changed_value_is_named(server: PostgresServer) -> None:
    with PostgresStore(server.url) as store:
        emptied(store).put({"a": 1, "b": 2})
        run_sql(server, "UPDATE refold_original SET value = 'oops' WHERE key = 'a'")
        with pytest.raises(StoreError, match="the value of 'a' is not readable"):
            store.get(["a", "b"])
        assert store.get(["b"]) == {"b": 2}


def test_what_cannot_be_opened_says_why_and_shows_no_password(server: PostgresServer) -> None:
    nowhere = f"postgresql://ann:secret@127.0.0.1:{server.port}/absent"
    with pytest.raises(
        StoreError, match=r"cannot open the store 'postgresql://ann@.*/absent'"
    ) as e:
        PostgresStore(nowhere)
    assert "secret" not in str(e.value)
    with pytest.raises(ConfigError, match="must begin with postgresql://"):
        PostgresStore("host=localhost password=secret")
    with pytest.raises(ConfigError, match="max_connections"):
        PostgresStore(server.url, max_connections=0)


def test_a_user_without_rights_is_told_what_to_grant(server: PostgresServer) -> None:
    with PostgresStore(server.url):
        pass
    run_sql(server, "DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN")
    url = server.url.replace("refold@", "guest@")
    with pytest.raises(StoreError, match="the user lacks rights; grant SELECT, INSERT, DELETE"):
        PostgresStore(url)


def test_after_close_everything_says_so(server: PostgresServer) -> None:
    store = PostgresStore(server.url)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="it is closed; open a new PostgresStore"):
        store.put({"a": 1})
