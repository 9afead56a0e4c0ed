"""`RedisStore` on real servers: one alone, and a cluster."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from refold.errors import ConfigError, StoreError
from refold.stores import open_store
from refold.stores.redis import RedisStore
from refold.stores.scope import ScopedStore
from tests.tools.managing import Clock

from .awaited import Awaited
from .contract import WholeStoreContract
from .servers import RedisServer, folder, redis_cluster, wait_for

redis: Any = pytest.importorskip("redis", reason="redis is not installed; see `make test-stores`")


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with folder() as room, RedisServer(room) as server:
        yield server


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with redis_cluster() as servers:
        yield servers[0].cluster_url


def emptied(store: RedisStore) -> RedisStore:
    store.remove()
    store.remove("refold:audit:")
    return store


class TestRedisStore(WholeStoreContract):
    @pytest.fixture
    def store(self, server: RedisServer) -> Iterator[RedisStore]:
        with RedisStore(server.url) as store:
            yield emptied(store)


class TestRedisStoreAwaited(WholeStoreContract):
    @pytest.fixture
    def store(self, server: RedisServer) -> Iterator[Awaited]:
        with RedisStore(server.url) as store:
            awaited = Awaited(emptied(store))
            yield awaited
            awaited.close()


class TestRedisStoreWithExpiry(WholeStoreContract):
    @pytest.fixture
    def store(self, server: RedisServer) -> Iterator[RedisStore]:
        with RedisStore(server.url, ttl_seconds=1e6, namespace="expiring") as store:
            yield emptied(store)


class TestRedisCluster(WholeStoreContract):
    @pytest.fixture
    def store(self, cluster: str) -> Iterator[RedisStore]:
        with RedisStore(cluster) as store:
            yield emptied(store)


def test_open_store_opens_it(server: RedisServer) -> None:
    with open_store(server.url, ttl_seconds=60) as store:
        assert isinstance(store, RedisStore)


def test_conversations_are_spread_over_a_cluster(cluster: str) -> None:
    with RedisStore(cluster) as store:
        emptied(store)
        for number in range(30):
            ScopedStore(store, f"talk-{number}").put({"a": number, "b": number})
        assert len(store) == 60
        sizes = []
        client = redis.RedisCluster.from_url(cluster.replace("redis+cluster", "redis"))
        for node in client.get_primaries():
            sizes.append(client.dbsize(target_nodes=node))
        client.close()
        assert sum(sizes) == 60
        assert min(sizes) > 0


def test_an_original_lives_on_when_it_is_put_again(server: RedisServer) -> None:
    with RedisStore(server.url, ttl_seconds=50) as store, redis.Redis(port=server.port) as client:
        emptied(store).put({"a": 1})
        (name,) = client.scan_iter(match="refold:*")
        assert 0 < client.ttl(name) <= 50
        with RedisStore(server.url, ttl_seconds=5_000) as longer:
            longer.put({"a": 1})
        assert client.ttl(name) > 1_000
        store.put({"a": 1})
        assert client.ttl(name) > 1_000
        with RedisStore(server.url) as forever:
            forever.put({"b": 1})
        store.put({"b": 1})
        names = [name for name in client.scan_iter(match="refold:*") if client.ttl(name) == -1]
        assert len(names) == 1


def test_what_has_expired_is_absent(server: RedisServer) -> None:
    with RedisStore(server.url, ttl_seconds=0.01) as store:
        store.put({"short": 1})
        wait_for(lambda: store.get(["short"]) == {}, "an original to expire")


def test_what_is_old_goes(server: RedisServer) -> None:
    clock = Clock()
    with RedisStore(server.url, clock=clock) as store:
        emptied(store).put({"a": 1})
        clock.now += 100.0
        store.put({"a": 1, "b": 2})
        assert store.remove(before=clock.now).entries == 1
        assert store.get(["a", "b"]) == {"b": 2}


def test_namespaces_do_not_see_each_other(server: RedisServer) -> None:
    with RedisStore(server.url, namespace="one") as one, RedisStore(server.url) as other:
        one.put({"a": 1})
        assert other.get(["a"]) == {}
        assert one.remove().entries == 1


def test_pickles_as_other_connections(server: RedisServer) -> None:
    with RedisStore(server.url) as store:
        store.put({"a": 1})
        with pickle.loads(pickle.dumps(store)) as other:
            assert other.get(["a"]) == store.get(["a"])


@pytest.mark.parametrize(
    ("policy", "ttl"), [("allkeys-lru", None), ("allkeys-random", 60), ("volatile-ttl", 60)]
)
def test_a_server_that_drops_originals_is_refused(policy: str, ttl: float | None) -> None:
    limit = ("--maxmemory", "50mb", "--maxmemory-policy", policy)
    with (
        folder() as room,
        RedisServer(room, *limit) as server,
        pytest.raises(StoreError, match=f"its maxmemory-policy is {policy}, which drops"),
    ):
        RedisStore(server.url, ttl_seconds=ttl)


def test_a_server_without_memory_takes_all_or_nothing() -> None:
    with (
        folder() as room,
        RedisServer(room, "--maxmemory", "3mb") as server,
        RedisStore(server.url) as store,
    ):
        store.put({"before": 1})
        big = {f"{i}": [f"{i * j:x}" for j in range(1_000)] for i in range(1_500)}
        with pytest.raises(StoreError, match=r"127.0.0.1.*has no memory left; raise"):
            store.put(big)
        assert store.get([*big, "before"]) == {"before": 1}


def test_what_cannot_be_opened_says_why_and_shows_no_password() -> None:
    with pytest.raises(StoreError, match=r"cannot open the store 'redis://127.0.0.1:1/0'") as e:
        RedisStore("redis://:secret@127.0.0.1:1/0")
    assert "secret" not in str(e.value)
    with pytest.raises(ConfigError, match="must begin with redis://"):
        RedisStore("http://host")
    with pytest.raises(ConfigError, match="namespace"):
        RedisStore("redis://host", namespace="a{b")
