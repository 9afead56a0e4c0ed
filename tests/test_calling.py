"""What users give us is called as it wants to be called."""

from __future__ import annotations

import asyncio
import threading

import pytest

from refold.calling import Callee, is_async
from tests.patience import FOR_EVER


class AsyncObject:
    async def __call__(self, text: str) -> str:
        return f"{text} from {threading.current_thread().name}"


def test_an_object_with_an_async_call_is_asynchronous() -> None:
    assert is_async(AsyncObject())
    assert not is_async(str.upper)


def test_what_is_asynchronous_runs_where_it_was_called() -> None:
    here = threading.current_thread().name
    assert asyncio.run(Callee(AsyncObject())("hello")) == f"hello from {here}"


def test_what_is_synchronous_runs_in_a_thread() -> None:
    here = threading.current_thread().name
    assert asyncio.run(Callee(lambda: threading.current_thread().name)()) != here


def test_a_function_that_returns_something_to_await() -> None:
    answer = AsyncObject()
    assert asyncio.run(Callee(lambda: answer("hello"))()).startswith("hello")


@pytest.mark.filterwarnings("error")
def test_cancelled_before_it_began_nothing_is_lost() -> None:
    callee = Callee(AsyncObject())

    async def cancel() -> None:
        tasks = [asyncio.ensure_future(callee("x")) for _ in range(50)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(cancel())


def test_a_function_that_hangs_does_not_hold_up_the_loop_it_was_called_from() -> None:
    is_over = threading.Event()
    outcomes: list[bool] = []

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(Callee(lambda: outcomes.append(is_over.wait(FOR_EVER)))(), 0.01)

    asyncio.run(give_up())
    assert outcomes == []
    is_over.set()
