"""An event loop in a thread of its own, for a store that is used from threads and from other loops.

Drivers of databases tie a connection to the loop it was opened in. Here it always is the same one,
whoever asks: so each driver is written once, asynchronously, and what is put and got in a thread
and what is awaited share its connections.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for other threads until it is closed."""

    def __init__(self) -> None:
        # What psycopg waits on does not exist in the default loop of Windows.
        self._loop = asyncio.SelectorEventLoop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="refold-store", daemon=True
        )
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Return what *coroutine* returns; this thread waits for it."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # of use if it was the waiting that ended, as by Ctrl-C
            raise

    async def arun(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Return what *coroutine* returns; the event loop of the caller goes on meanwhile."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

    def close(self) -> None:
        """End the thread; what is still running is cancelled."""
        self.run(_cancel_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        if task is not None:
            task.cancel()
    await asyncio.gather(*(task for task in tasks if task is not None), return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
