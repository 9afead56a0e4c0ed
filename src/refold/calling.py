"""Call the functions that users give us, which may be synchronous or not."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any


def is_async(function: Callable[..., object]) -> bool:
    """Tell whether calling *function* gives a coroutine; an object may have an async `__call__`."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004 - the method itself, not a test
    )


async def call(function: Callable[..., Any], *args: object) -> Any:
    """Return what *function* returns in the end; a synchronous one runs in a thread.

    An asynchronous one is never called in a thread: if the wait for that thread were cancelled, its
    coroutine would be lost without ever having run.
    """
    answer = function(*args) if is_async(function) else await asyncio.to_thread(function, *args)
    return await answer if inspect.isawaitable(answer) else answer
