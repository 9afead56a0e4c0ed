"""Time in tests: no verdict depends on how fast a machine is, or on how busy."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

FOR_EVER = 600.0
"""Seconds after which something hangs: a test then fails instead of holding up all others."""


def until(condition: Callable[[], bool]) -> bool:
    """Wait for what another thread does after it has answered; return whether it came true."""
    end = time.monotonic() + FOR_EVER
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


class _IdleClock(selectors.DefaultSelector):
    """Passes the time that nobody has a use for at once; while a thread works, none passes."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.threads = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if not timeout or self.threads:
            return super().select(None if timeout else timeout)
        events = super().select(0)
        self.now += 0 if events else timeout
        return events


class _IdleLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _IdleClock()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        work = super().run_in_executor(executor, func, *args)
        self._clock.threads += 1
        work.add_done_callback(self._rest)
        return work

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        del timeout  # no time passes while a thread is waited for, so none can run out
        await super().shutdown_default_executor()

    def _rest(self, _: object) -> None:
        self._clock.threads -= 1


def run_idly(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run on a loop whose clock goes on only where there is nothing left to do before.

    What answers at once has always answered before a deadline, and what hangs never has.
    """
    with asyncio.Runner(loop_factory=_IdleLoop) as runner:
        return runner.run(coroutine)
