"""The limit of parallel calls, over all event loops and threads, and the deadline of each."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from typing import Final

from refold.checks import check_positive, check_whole
from refold.llm.summarizers.base import (
    Summarizer,
    Summary,
    SummaryRequest,
    TextFunction,
    as_summarizer,
)


class Limiter:
    """A limit of calls at once that several summarizers share: give the same one to all of them."""

    def __init__(self, max_concurrent: int = 4) -> None:
        check_whole("max_concurrent", max_concurrent, least=1)
        self.slots = _Slots(max_concurrent)


CALL_SECONDS: Final = 120.0
"""How long a call may take: models that think first take a minute and more. A guess."""


class Limited:
    """Lets at most *max_concurrent* calls reach *inner* at once, each for *seconds* at most.

    The others wait in line. One `Limiter` shared by several owners is a limit over all of them. A
    synchronous function cannot be stopped: it is no longer waited for, but its thread runs on.
    """

    def __init__(
        self,
        inner: Summarizer | TextFunction,
        *,
        max_concurrent: int | Limiter = 4,
        seconds: float = CALL_SECONDS,
    ) -> None:
        check_positive("seconds", seconds)
        if not isinstance(max_concurrent, Limiter):
            max_concurrent = Limiter(max_concurrent)
        self._inner = as_summarizer(inner)
        self._slots = max_concurrent.slots
        self._seconds = seconds

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Ask *inner* as soon as it is this call's turn; raise if it returns no summary."""
        await self._slots.acquire()
        scope = asyncio.timeout(self._seconds)
        try:
            async with scope:
                answer: object = await self._inner.summarize(request)
        except TimeoutError as error:
            if not scope.expired():  # the inner summarizer's own
                raise
            raise TimeoutError(
                f"the summarizer did not answer within {self._seconds:g} seconds"
            ) from error
        finally:
            self._slots.release()
        if not isinstance(answer, Summary) or not isinstance(answer.text, str):
            raise TypeError(f"a summarizer must return a Summary, got {type(answer).__name__}")
        return answer


class _Waiter:
    """A call in line: the future it sleeps on belongs to its own event loop."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[None] = self.loop.create_future()
        self.has_slot = False


class _Slots:
    """A fair semaphore for any number of event loops, which `asyncio.Semaphore` is not.

    A free slot goes straight to the longest waiter: first come, first served.
    """

    def __init__(self, free: int) -> None:
        # Reentrant: a coroutine that is collected as garbage leaves the line from wherever it is.
        self._lock = threading.RLock()
        self._free = free
        self._line: OrderedDict[_Waiter, None] = OrderedDict()

    async def acquire(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            waiter = _Waiter()
            self._line[waiter] = None
        try:
            await waiter.future
        except BaseException:
            self._leave(waiter)
            raise

    def release(self) -> None:
        """Hand the slot to the next in line whose event loop still runs, or put it back."""
        with self._lock:
            while self._line:
                waiter, _ = self._line.popitem(last=False)
                waiter.has_slot = True
                try:
                    waiter.loop.call_soon_threadsafe(_wake, waiter.future)
                except RuntimeError:  # its loop is closed, and the waiter gone
                    waiter.has_slot = False
                else:
                    return
            self._free += 1

    def _leave(self, waiter: _Waiter) -> None:
        """Give up waiting; a slot that was handed over in the same moment goes on to the next."""
        with self._lock:
            self._line.pop(waiter, None)
            if waiter.has_slot:
                waiter.has_slot = False
                self.release()


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
