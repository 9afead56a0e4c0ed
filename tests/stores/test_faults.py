"""Servers that die, hang, fill up or are asked by everybody at once.

Whatever happens, what was folded can be unfolded, or the fold was never returned; and an error says
which store it was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from refold.errors import StoreError
from refold.stores import SqliteStore, open_store
from refold.stores.base import OpenStore

from .servers import (
    PostgresServer,
    RedisServer,
    S3Server,
    Server,
    folder,
    redis_cluster,
    wait_for,
)
from .talking import fold, talk, unfold
from .test_sqlite_processes import run_script

FOLDS = 1_000
KILLS = 3


class Place:
    """A server of some kind, and how to open a store on it."""

    def __init__(self, server: Server, open_: Callable[..., OpenStore], name: str) -> None:
        self.server = server
        self.open = open_
        self.name = name


def postgres(room: Path) -> Place:
    pytest.importorskip("psycopg", reason="psycopg is not installed; see `make test-stores`")
    from refold.stores.postgres import PostgresStore

    server = PostgresServer(room)
    return Place(server, lambda **choices: PostgresStore(server.url, **choices), server.url)


def redis(room: Path) -> Place:
    pytest.importorskip("redis", reason="redis is not installed; see `make test-stores`")
    from refold.stores.redis import RedisStore

    server = RedisServer(room)
    return Place(server, lambda **choices: RedisStore(server.url, **choices), server.url)


def s3(room: Path) -> Place:
    pytest.importorskip("obstore", reason="obstore is not installed; see `make test-stores`")
    from refold.stores.objects import ObjectStore

    server = S3Server(room)
    url = "s3://faults/originals"
    made: list[str] = []

    def open_(**choices: Any) -> OpenStore:
        if not made:
            made.append(server.bucket("faults"))
        return ObjectStore(url, options=server.options, **choices)

    return Place(server, open_, url)


DURABLE = {"postgres": postgres, "redis": redis}
ALL = {**DURABLE, "s3": s3}


@pytest.fixture
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    with folder() as room:
        made: Place = ALL[request.param](room)
        with made.server:
            yield made


on_durable = pytest.mark.parametrize("place", DURABLE, indirect=True)
on_all = pytest.mark.parametrize("place", ALL, indirect=True)


@on_durable
def test_a_server_that_is_killed_during_a_thousand_folds(place: Place) -> None:
    views: dict[int, Any] = {}
    errors: list[StoreError] = []
    with place.open() as store, ThreadPoolExecutor(4) as pool:

        def work(number: int) -> None:
            try:
                views[number] = fold(number, store)
            except StoreError as error:
                errors.append(error)

        def has_done(least: int) -> bool:
            return len(views) + len(errors) >= least

        done = [pool.submit(work, number) for number in range(FOLDS)]
        for kill in range(1, KILLS + 1):
            least = FOLDS * kill // (KILLS + 1)
            wait_for(partial(has_done, least), "some folds")
            place.server.kill()
            place.server.start()
        for future in done:
            future.result()
        assert len(views) + len(errors) == FOLDS
        assert len(views) > FOLDS // 2, errors[:1]
        for number, view in views.items():
            assert unfold(number, view, store) == talk(number)
    assert all(place.name in str(error) for error in errors)


def make_synchronous(primary: PostgresServer) -> None:
    """Let the primary wait for its standby from now on."""
    import psycopg

    with psycopg.connect(primary.url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        connection.execute("SELECT pg_reload_conf()")

        def is_synchronous() -> bool:
            asked = connection.execute("SELECT sync_state FROM pg_stat_replication")
            return bool(asked.fetchall() == [("sync",)])

        wait_for(is_synchronous, "the standby")


def test_a_standby_takes_over_and_has_everything() -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed; see `make test-stores`")
    with (
        folder() as one,
        folder() as two,
        PostgresServer(one) as primary,
        PostgresServer(two, primary=primary) as standby,
    ):
        make_synchronous(primary)
        hosts = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
        url = f"postgresql://refold@{hosts}/postgres?target_session_attrs=read-write"
        with open_store(url) as store, ThreadPoolExecutor(2) as pool:
            views = list(pool.map(lambda number: fold(number, store), range(20)))
            primary.kill()
            later = [pool.submit(fold, number, store) for number in range(20, 40)]
            standby.promote()
            views += [future.result() for future in later]
            for number, view in enumerate(views):
                assert unfold(number, view, store) == talk(number)


def has_copied(replica: RedisServer, offset: int) -> bool:
    told = replica.tell("INFO", "replication")
    is_up = told.get("master_link_status") == "up"
    return is_up and bool(told["slave_repl_offset"] >= offset)


def test_a_replica_of_a_cluster_takes_over() -> None:
    pytest.importorskip("redis", reason="redis is not installed; see `make test-stores`")
    with redis_cluster(replicas=1) as (first, *_, replica):
        wait_for(partial(has_copied, replica, 1), "the replica")
        with open_store(first.cluster_url) as store, ThreadPoolExecutor(2) as pool:
            views = list(pool.map(lambda number: fold(number, store), range(20)))
            offset = first.tell("INFO", "replication")["master_repl_offset"]
            wait_for(partial(has_copied, replica, offset), "the last of it")
            first.kill()
            views += pool.map(lambda number: fold(number, store), range(20, 40))
            for number, view in enumerate(views):
                assert unfold(number, view, store) == talk(number)


@on_all
def test_a_server_that_is_away_is_named(place: Place) -> None:
    with place.open(timeout_seconds=2) as store:
        view = fold(1, store)
        place.server.kill()
        for use in (lambda: store.put({"a": 1}), lambda: unfold(1, view, store)):
            with pytest.raises(StoreError, match=r"cannot (write to|read) the store") as caught:
                use()
            assert place.name in str(caught.value)
    with pytest.raises(StoreError, match="cannot open the store"):
        place.open(timeout_seconds=2)


@on_durable
def test_a_server_that_hangs_is_given_up_and_used_again(place: Place) -> None:
    with place.open(timeout_seconds=2) as store:
        store.put({"before": 1})
        place.server.hang()
        with pytest.raises(StoreError, match=r"does not answer|cannot be reached") as caught:
            store.put({"meanwhile": 1})
        assert place.name in str(caught.value)
        place.server.go_on()
        assert store.get(["before"]) == {"before": 1}
        store.put({"after": 2})
        assert store.get(["after"]) == {"after": 2}


@on_all
def test_two_writers_of_the_same_key_agree_for_ever(place: Place) -> None:
    with place.open() as one, place.open() as other:
        for number in range(20):
            key = f"key {number}"
            start = threading.Barrier(2)

            def write(store: OpenStore, key: str = key, start: Any = start) -> Any:
                start.wait()
                store.put({key: repr(store) + str(id(store))})
                return store.get([key])

            with ThreadPoolExecutor(2) as pool:
                first, second = pool.map(write, (one, other))
            assert first == second == one.get([key]) == other.get([key])


@on_all
def test_fifty_writers_at_once(place: Place) -> None:
    rounds = 4
    start = threading.Barrier(50)
    with ExitStack() as stack:
        stores = [stack.enter_context(place.open()) for _ in range(5)]

        def work(worker: int) -> None:
            store = stores[worker % len(stores)]
            start.wait()
            for i in range(rounds):
                store.put({f"{worker}/{i}": [worker, i], f"shared/{i}": i})
                assert store.get([f"{worker}/{i}"]) == {f"{worker}/{i}": [worker, i]}

        with ThreadPoolExecutor(50) as pool:
            for done in [pool.submit(work, worker) for worker in range(50)]:
                done.result()
        for store in stores:
            assert len(store) == 50 * rounds + rounds


def test_fifty_writers_of_one_file(tmp_path: Path) -> None:
    start = threading.Barrier(50)
    with SqliteStore(tmp_path / "s.db") as store:

        def work(worker: int) -> None:
            start.wait()
            store.put({f"{worker}": worker, "shared": worker})
            assert store.get([f"{worker}"]) == {f"{worker}": worker}

        with ThreadPoolExecutor(50) as pool:
            for done in [pool.submit(work, worker) for worker in range(50)]:
                done.result()
        assert len(store) == 51


def big(name: str) -> dict[str, Any]:
    """Some megabytes that hardly pack."""
    from refold.messages.wire import text_digest

    return {
        f"{name} {i}": "".join(text_digest(f"{name} {i} {j}") for j in range(300))
        for i in range(600)
    }


def test_a_full_disk_of_postgres_takes_nothing_half() -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed; see `make test-stores`")
    with (
        folder() as room,
        PostgresServer(room, largest_file=2_500_000) as server,
        open_store(server.url) as store,
    ):
        store.put({"before": 1})
        with pytest.raises(StoreError, match=r"cannot write to the store 'postgresql://"):
            store.put(big("a"))
        assert store.get([*big("a"), "before"]) == {"before": 1}
        store.put({"after": 2})
        view = fold(1, store)
        assert unfold(1, view, store) == talk(1)


def test_a_full_disk_of_redis_takes_nothing_half() -> None:
    pytest.importorskip("redis", reason="redis is not installed; see `make test-stores`")
    from refold.stores.redis import RedisStore

    with folder() as room:
        with (
            RedisServer(room, largest_file=500_000) as server,
            RedisStore(server.url, timeout_seconds=2) as store,
        ):
            store.put({"before": 1})
            with pytest.raises(StoreError, match=r"cannot write to the store 'redis://"):
                store.put(big("a"))
        # With its history on a disk that is full, Redis ends itself: it is another one now.
        with RedisServer(room) as server, open_store(server.url) as store:
            assert store.get([*big("a"), "before"]) == {"before": 1}
            assert unfold(1, fold(1, store), store) == talk(1)


FULL = """
import resource, sys
from refold.errors import StoreError
from refold.stores.objects import ObjectStore

with ObjectStore(f"file://{sys.argv[1]}", timeout_seconds=1) as store:
    store.put({"before": 1})
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    try:
        store.put({"small": 1, "big": [i * i for i in range(200_000)]})
    except StoreError as error:
        print(str(error).splitlines()[0])
    print(store.get(["before", "small", "big"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    store.put({"after": 2})
    print(store.get(["before", "after"]), len(store))
"""


def test_a_full_disk_of_a_folder_takes_nothing_half(tmp_path: Path) -> None:
    pytest.importorskip("obstore", reason="obstore is not installed; see `make test-stores`")
    error, found, after = run_script(FULL, tmp_path / "objects").splitlines()
    assert error.startswith(f"cannot write to the store 'file://{tmp_path}/objects': ")
    assert found == "{'before': 1}"
    assert after == "{'before': 1, 'after': 2} 2"


FORK = """
import os, sys
from refold.errors import StoreError
from refold.stores import open_store

with open_store(sys.argv[1]) as store:
    store.put({"parent": 1})
    if (child := os.fork()) == 0:
        try:
            store.put({"child": 1})
        except StoreError as error:
            print(error, flush=True)
        store.close()
        with open_store(sys.argv[1]) as own:
            own.put({"child": 2})
        os._exit(0)
    os.waitpid(child, 0)
    print(store.get(["parent", "child"]), flush=True)
"""


@on_durable
def test_a_forked_child_opens_its_own(place: Place) -> None:
    error, last = run_script(FORK, place.name).splitlines()
    assert "before this process was forked; open a new" in error
    assert last == "{'parent': 1, 'child': 2}"
