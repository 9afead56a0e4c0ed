"""A provider for each test, and proxies that many tests share: starting one takes longest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any, NamedTuple

import pytest

from refold.server.proxy.proxy import Proxy
from tests.server.proxy.running import proxy_for, wait_until_counted
from tests.server.upstream import ScriptedUpstream

_KEYS = count()


class Running(NamedTuple):
    """A proxy, and the provider behind it."""

    upstream: ScriptedUpstream
    proxy: Proxy


Shared = Callable[..., Running]


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as upstream:
        yield upstream


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """Lend the proxy with some settings; its figures are those of all tests that had it.

    A test is a client with a `key` of its own, so that it shares no conversation either.
    """
    started: dict[str, Running] = {}
    with ExitStack() as stack:

        def lend(**settings: Any) -> Running:
            name = repr(settings)
            if name not in started:
                upstream = stack.enter_context(ScriptedUpstream())
                proxy = proxy_for(upstream, tmp_path_factory.mktemp("proxy"), **settings)
                started[name] = Running(upstream, stack.enter_context(proxy))
            wait_until_counted(started[name].proxy)
            started[name].upstream.forget()
            return started[name]

        yield lend


@pytest.fixture
def key() -> str:
    return f"sk-ant-test-{next(_KEYS)}"


@pytest.fixture
def faults(proxy: Proxy) -> Callable[[], Counter[str]]:
    """Return what has gone wrong in this test so far."""
    before = proxy.stats.faults.copy()
    return lambda: proxy.stats.faults - before
