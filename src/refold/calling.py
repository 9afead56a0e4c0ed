"""Call the functions that users give us, which may be synchronous or not."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, Final

_MAX_THREADS: Final = 32
"""As many calls of a synchronous function at once; more of them wait. A model's own limits are
lower."""


def is_async(function: Callable[..., object]) -> bool:
    """Tell whether calling *function* gives a coroutine; an object may have an async `__call__`."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004 - the method itself, not a test
    )


class Callee:
    """A function to await, whatever it is; a synchronous one runs in a thread, so calls overlap.

    The threads are its own: an event loop waits for its default ones before it closes, and a
    function that hangs must not keep a deadline from being kept. An asynchronous function is never
    called in a thread: if the wait for that thread were cancelled, its coroutine would be lost
    without ever having run.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._is_async = is_async(function)
        self._pool = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="refold")

    async def __call__(self, *args: object) -> Any:
        """Return what the function returns in the end."""
        if self._is_async:
            return await self._function(*args)
        call = partial(copy_context().run, self._function, *args)
        answer = await asyncio.get_running_loop().run_in_executor(self._pool, call)
        return await answer if inspect.isawaitable(answer) else answer
