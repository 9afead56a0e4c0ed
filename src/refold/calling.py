"""Call functions of users, which may be synchronous or asynchronous."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any, Final

_MAX_THREADS: Final = 32
"""So many calls of a synchronous function run at once; rate limits of models are lower."""


def is_async(function: Callable[..., object]) -> bool:
    """Tell whether *function* is a coroutine function, or an object with an async `__call__`."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004 - the method itself, not a test
    )


class Callee:
    """Makes any function awaitable; a synchronous one runs in a thread, so calls overlap.

    It uses a thread pool of its own: an event loop waits for its default pool before it closes, so
    a function that hangs would break deadlines. An asynchronous function is never called in a
    thread: if the wait for that thread were cancelled, its coroutine would never be awaited.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        from concurrent.futures import ThreadPoolExecutor  # loads logging, most never call

        self._function = function
        self._is_async = is_async(function)
        self._pool = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="refold")

    async def __call__(self, *args: object) -> Any:
        """Return the result of the function."""
        if self._is_async:
            return await self._function(*args)
        import asyncio

        call = partial(copy_context().run, self._function, *args)
        answer = await asyncio.get_running_loop().run_in_executor(self._pool, call)
        return await answer if inspect.isawaitable(answer) else answer
