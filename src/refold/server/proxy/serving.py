"""Runs a proxy until it is told to end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from refold.server.proxy.proxy import Proxy
from refold.server.proxy.settings import Settings


async def serve(settings: Settings, say: Callable[[str], None]) -> str:
    """Serve until SIGTERM or SIGINT; *say* where, and return one line about what was saved."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            loop.add_signal_handler(number, ended.set)
        except NotImplementedError:  # Windows: an interrupt ends the loop instead
            break
    proxy = Proxy(settings)
    try:
        await proxy.start()
        say(f"listening on {proxy.url}")
        await ended.wait()
    finally:
        await proxy.close()
    return proxy.stats.summary()
