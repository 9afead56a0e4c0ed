"""A store in Redis or Valkey: shared by machines, fast, with optional expiry."""

from __future__ import annotations

import math
import re
import struct
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import urlsplit

from refold.checks import check_positive, need
from refold.errors import ConfigError, StoreError
from refold.stores.base import Entry, Removed, is_removable
from refold.stores.codec import decode_key, encode_key, encode_prefix
from refold.stores.remote import TIMEOUT_SECONDS, RemoteStore
from refold.stores.scope import scopes_of

_CLUSTER: Final = "redis+cluster"
_SCHEMES: Final = ("redis", "rediss", "unix", _CLUSTER)
_TIME: Final = struct.Struct(">d")
"""The time when a record was stored, in front of it: Redis does not keep that."""
_TAG_BYTES: Final = 6
"""Scopes with the same tag only share a slot of a cluster, so a few bits are enough."""
_KEYS_PER_QUERY: Final = 500
"""A server does one command at a time, so this limits how long others wait. A guess."""
_GLOB: Final = re.compile(rb"([\\*?\[\]^])")
_AWAY: Final = ("READONLY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "LOADING", "NOREPLICAS")
"""The beginning of errors from a server that is failing over or loading."""


class RedisStore(RemoteStore):
    """Keeps originals in Redis; needs `refold[redis]`.

    *url* is `redis://…`, `rediss://…` with TLS, `unix://…`, or `redis+cluster://…` for a cluster.
    The keys of one conversation carry the same hash tag: they are on one node, where a put is one
    transaction, and conversations are spread over all nodes.

    With *ttl_seconds* an original lives for that long after it was last put; one that was ever put
    without it never expires. A server that may evict originals is refused: evicted originals cannot
    be unfolded.

    A put that has returned is as durable as the server is configured to be: `appendonly yes` with
    `appendfsync always` makes it as durable as a database.
    """

    def __init__(
        self,
        url: str,
        *,
        ttl_seconds: float | None = None,
        namespace: str = "refold",
        timeout_seconds: float = TIMEOUT_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if urlsplit(url).scheme not in _SCHEMES:
            raise ConfigError(
                "the address of a RedisStore must begin with redis://, rediss://, unix:// or "
                "redis+cluster://"
            )
        if ttl_seconds is not None:
            check_positive("ttl_seconds", ttl_seconds)
        if not namespace or "{" in namespace:
            raise ConfigError(f"namespace must be a text without '{{', got {namespace!r}")
        self._errors = need("redis.exceptions", "redis", what="a RedisStore", error=StoreError)
        self._lifetime_ms = None if ttl_seconds is None else math.ceil(ttl_seconds * 1000)
        self._start = namespace.encode()
        self._client: Any = None
        super().__init__(
            url,
            timeout_seconds=timeout_seconds,
            clock=clock,
            ttl_seconds=ttl_seconds,
            namespace=namespace,
        )

    async def _open(self) -> None:
        """Connect, and refuse a server that evicts originals."""
        from redis.asyncio import Redis, RedisCluster

        limits = {
            "socket_timeout": self._timeout_seconds,
            "socket_connect_timeout": self._timeout_seconds,
        }
        if self._url.startswith(_CLUSTER):
            url = "redis" + self._url.removeprefix(_CLUSTER)
            self._client = RedisCluster.from_url(url, **limits)
        else:
            self._client = Redis.from_url(self._url, **limits)
        await self._client.ping()
        await self._check_eviction()

    async def _close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def _known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of *keys* that exist; none if a new put must extend their lifetime."""
        if self._lifetime_ms is not None:
            return set()
        return set(await self._ask_each(keys, "EXISTS"))

    async def _write(self, records: Sequence[tuple[bytes, bytes]], now: float) -> None:
        """Set what does not exist, in one transaction for each node."""
        head = _TIME.pack(now)
        groups: dict[bytes, list[tuple[bytes, bytes]]] = defaultdict(list)
        for key, record in records:
            groups[_tag(key)].append((self._spell(key), head + record))
        for group in groups.values():
            async with self._client.pipeline(transaction=True) as pipeline:
                for name, value in group:
                    pipeline.set(name, value, nx=True, px=self._lifetime_ms)
                    if self._lifetime_ms is not None:
                        pipeline.pexpire(name, self._lifetime_ms, gt=True)
                await pipeline.execute()

    async def _read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        values = await self._ask_each(keys, "GET")
        return {key: value[_TIME.size :] for key, value in values.items()}

    async def _pages(self, prefix: str) -> AsyncIterator[Sequence[Entry]]:
        """Yield entries as the server scans its keys."""
        async for names in self._names(prefix):
            async with self._client.pipeline(transaction=False) as pipeline:
                for name in names:
                    pipeline.strlen(name)
                    pipeline.getrange(name, 0, _TIME.size - 1)
                answers = await pipeline.execute()
            yield [
                Entry(self._key(name), len(name) + size, _TIME.unpack(head)[0])
                for name, size, head in zip(names, answers[::2], answers[1::2], strict=True)
                if len(head) == _TIME.size  # else it has just expired
            ]

    async def _remove(self, prefix: str, before: float | None) -> Removed:
        """Remove page by page."""
        parts = []
        async for page in self._pages(prefix):
            old = [entry for entry in page if is_removable(entry, prefix, before)]
            async with self._client.pipeline(transaction=False) as pipeline:
                for entry in old:
                    pipeline.execute_command("UNLINK", self._spell(encode_key(entry.key)))
                gone = await pipeline.execute() if old else []
            sizes = [entry.size for entry, is_gone in zip(old, gone, strict=True) if is_gone]
            parts.append(Removed(len(sizes), sum(sizes)))
        return Removed.total(parts)

    async def _count(self) -> int:
        return sum([len(names) async for names in self._names("")])

    def _judge(self, error: Exception) -> tuple[str, bool]:
        """Treat lost connections as a restart, and a server that is not a primary as a failover."""
        match error:
            case self._errors.OutOfMemoryError():
                advice = "the server has no memory left; raise its maxmemory, or remove something"
                return advice, False
            case self._errors.TimeoutError():  # it has already waited long enough
                advice = "the server does not answer; check it, or give it more timeout_seconds"
                return advice, False
            case self._errors.AuthenticationError() | self._errors.NoPermissionError():
                return "the server refuses; check user, password and rights", False
            case self._errors.ConnectionError() | OSError():
                return "the server cannot be reached; check its address and state", True
        if str(error).startswith("MISCONF"):
            return "the server cannot write to its disk; check its free space", False
        return "", str(error).startswith(_AWAY)

    async def _ask_each(self, keys: Sequence[bytes], command: str) -> dict[bytes, Any]:
        """Send a command for each key, many at a time; empty answers are left out."""
        answered: dict[bytes, Any] = {}
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            some = keys[start : start + _KEYS_PER_QUERY]
            async with self._client.pipeline(transaction=False) as pipeline:
                for key in some:
                    pipeline.execute_command(command, self._spell(key))
                answers = await pipeline.execute()
            answered.update((k, one) for k, one in zip(some, answers, strict=True) if one)
        return answered

    async def _names(self, prefix: str) -> AsyncIterator[list[bytes]]:
        """Yield the names of keys that begin with *prefix*, each once: a scan may repeat some."""
        tag = b"?" * (2 * _TAG_BYTES)
        pattern = b"%b:{%b}:%b*" % (_escaped(self._start), tag, _escaped(encode_prefix(prefix)))
        seen: set[bytes] = set()
        page: list[bytes] = []
        async for name in self._client.scan_iter(match=pattern, count=_KEYS_PER_QUERY):
            if name not in seen:
                seen.add(name)
                page.append(name)
            if len(page) == _KEYS_PER_QUERY:
                yield page
                page = []
        if page:
            yield page

    def _spell(self, key: bytes) -> bytes:
        """Return the name of a key: its hash tag, in braces, chooses its node by its scopes."""
        return b"%b:{%b}:%b" % (self._start, _tag(key), key)

    def _key(self, name: bytes) -> str:
        return decode_key(name[len(self._start) :].partition(b"}:")[2])

    async def _check_eviction(self) -> None:
        """Refuse a server that drops originals when it runs out of memory."""
        info = await self._client.info("memory")
        # A cluster has one answer for each node, a single server has but one.
        nodes = [part for part in info.values() if isinstance(part, Mapping)] or [info]
        for node in nodes:
            policy = str(node.get("maxmemory_policy", ""))
            evicts = policy.startswith("allkeys") or (
                policy.startswith("volatile") and self._lifetime_ms is not None
            )
            if evicts and node.get("maxmemory"):
                raise StoreError(
                    f"its maxmemory-policy is {policy}, which drops originals when memory runs "
                    "out; set it to noeviction"
                )


def _tag(key: bytes) -> bytes:
    names, _ = scopes_of(decode_key(key))
    scopes = "\0".join(names).encode("utf-8", "surrogatepass")
    return blake2b(scopes, digest_size=_TAG_BYTES).hexdigest().encode()


def _escaped(part: bytes) -> bytes:
    return _GLOB.sub(rb"\\\1", part)
