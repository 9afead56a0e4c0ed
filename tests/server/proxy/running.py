"""A proxy for tests: in a thread, between a client and a scripted provider."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from refold.server.proxy.figures import Totals
from refold.server.proxy.proxy import Proxy
from refold.server.proxy.settings import Settings
from refold.server.proxy.stats import SessionStats
from tests.server.upstream import LoopThread, ScriptedUpstream

PATIENT_MS = 600_000
"""No verdict depends on how fast a machine is: a fold is late only where a test wants it to be."""


@contextmanager
def proxy_for(upstream: ScriptedUpstream | str, folder: Path, **given: Any) -> Iterator[Proxy]:
    """Run a proxy whose providers are all *upstream*; its store is in *folder*."""
    url = upstream if isinstance(upstream, str) else upstream.url
    settings = Settings(
        **{
            "port": 0,
            "anthropic_url": url,
            "openai_url": url,
            "gemini_url": url,
            "store": str(folder / "originals.db"),
            "fold_ms": PATIENT_MS,
            **given,
        }
    )
    thread = LoopThread()
    proxy = Proxy(settings)
    try:
        thread.run(proxy.start())
        yield proxy
    finally:
        thread.run(proxy.close())
        thread.close()


@contextmanager
def held(proxy: Proxy) -> Iterator[None]:
    """Let the folder of a proxy stand still, so that folding is late; then let it finish."""
    free = threading.Event()
    proxy.folding.loop.call_soon_threadsafe(free.wait)
    try:
        yield
    finally:
        free.set()
    settle(proxy)


def settle(proxy: Proxy) -> None:
    """Wait until nothing is being folded."""
    while proxy.folding.waiting:
        time.sleep(0.01)


def wait_until_counted(proxy: Proxy) -> None:
    """Wait for the figures of the last request: its client has the answer before that."""
    while proxy.stats.active:
        time.sleep(0.01)


def totals_of(proxy: Proxy) -> Totals:
    """Return the totals once all is counted."""
    wait_until_counted(proxy)
    return proxy.stats.totals


def last_session(proxy: Proxy) -> SessionStats:
    """Return the figures of the conversation that was asked last, once all is counted."""
    wait_until_counted(proxy)
    return next(reversed(proxy.stats.sessions.values()))


def log_of(lines: int, seed: int = 0) -> str:
    """Return the result of a tool that can be said shorter without loss."""
    return "\n".join(
        f"2026-11-16T10:{n // 60:02d}:{n % 60:02d} INFO worker-{(n * 7 + seed) % 9} request "
        f"{1000 + (n * 37 + seed * 11) % 9000} handled path=/api/v{(n + seed) % 3}/items "
        f"status=200 ms={(n * 13 + seed * 5) % 400}"
        for n in range(lines)
    )
