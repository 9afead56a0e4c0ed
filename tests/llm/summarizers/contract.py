"""What every summarizer around a summarizer does: inherit `SummarizerContract`, give a `wrap`.

Also the scripted summarizers that the tests of the wrappers share.
"""

from __future__ import annotations

import asyncio
import copy
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

import refold
from refold.llm.summarizers.base import Summarizer, Summary, SummaryRequest, Usage
from tests.patience import FOR_EVER

T = TypeVar("T")
Answer = Summary | BaseException

TEXT = "The build broke on Tuesday. " * 20
PAID = Usage(calls=1, input_tokens=120, output_tokens=9)


def ask(text: str = TEXT, **more: Any) -> SummaryRequest:
    return SummaryRequest(text=text, **more)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run on a loop of its own and insist that nothing is left on it."""

    async def main() -> T:
        try:
            async with asyncio.timeout(FOR_EVER):  # a deadlock is a failure, not a hanging test run
                return await coroutine
        finally:
            left = asyncio.all_tasks() - {asyncio.current_task()}
            assert not left, left

    return asyncio.run(main())


def run_in_threads(count: int, work: Callable[[int], T]) -> list[T]:
    """Start *work* in *count* threads at the same moment."""
    barrier = threading.Barrier(count)

    def start(number: int) -> T:
        barrier.wait(FOR_EVER)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(start, range(count)))


def run_script(script: str, *args: str) -> str:
    """Run *script* in a process of its own; return what it printed."""
    source = Path(refold.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", script, *args],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
    )
    return done.stdout.strip()


class Scripted:
    """Gives the answers of a script, in order, the last one for ever; keeps what it was asked."""

    def __init__(self, *script: Answer | str) -> None:
        self._script = script or (Summary(text="short", usage=PAID),)
        self._lock = threading.Lock()
        self.requests: list[SummaryRequest] = []

    async def summarize(self, request: SummaryRequest) -> Summary:
        with self._lock:
            answer = self._script[min(len(self.requests), len(self._script) - 1)]
            self.requests.append(request)
        await asyncio.sleep(0)
        if isinstance(answer, BaseException):
            raise answer
        return Summary(text=answer, usage=PAID) if isinstance(answer, str) else answer


class Echo:
    """Answers with the first ten characters, so that an answer tells what was asked."""

    async def summarize(self, request: SummaryRequest) -> Summary:
        await asyncio.sleep(0)
        return Summary(text=request.text[:10], usage=PAID)


class Gate:
    """Answers nobody until the gate is opened; knows how many wait in front of it.

    Usable over several loops: the waiting is done in steps of the loop, not on its futures.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = threading.Event()
        self.waiting = self.most_waiting = self.asked = self.cancelled = 0

    def open(self) -> None:
        self._open.set()

    async def summarize(self, request: SummaryRequest) -> Summary:
        with self._lock:
            self.asked += 1
            self.waiting += 1
            self.most_waiting = max(self.most_waiting, self.waiting)
        try:
            while not self._open.is_set():
                await asyncio.sleep(0.0005)
        except asyncio.CancelledError:
            with self._lock:
                self.cancelled += 1
            raise
        finally:
            with self._lock:
                self.waiting -= 1
        return Summary(text=request.text[:10], usage=PAID)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what another task or thread is about to do."""
    async with asyncio.timeout(FOR_EVER):
        while not condition():
            await asyncio.sleep(0.0005)


async def cancelled(task: asyncio.Task[Any]) -> bool:
    task.cancel()
    await asyncio.wait([task], timeout=FOR_EVER)
    return task.done() and task.cancelled()


def caught(work: Awaitable[T]) -> Coroutine[Any, Any, T | Exception]:
    async def main() -> T | Exception:
        try:
            return await work
        except Exception as error:  # noqa: BLE001 - that is what it is for
            return error

    return main()


class ForeignError(Exception):
    """Something no wrapper knows."""


class SummarizerContract:
    def wrap(self, inner: Summarizer) -> Summarizer:
        raise NotImplementedError("give a summarizer around inner")

    def test_is_a_summarizer(self) -> None:
        assert isinstance(self.wrap(Scripted()), Summarizer)

    def test_an_answer_comes_through_unchanged(self) -> None:
        answer = Summary(text="short", usage=PAID)
        inner = Scripted(answer)
        request = ask(max_tokens=77, must_keep=("Tuesday",))
        assert run(self.wrap(inner).summarize(request)) == answer
        assert inner.requests == [request]

    def test_an_error_comes_through(self) -> None:
        error = ForeignError("no")
        wrapped = self.wrap(Scripted(error, Summary(text="short", usage=PAID)))
        with pytest.raises(ForeignError) as caught_error:
            run(wrapped.summarize(ask()))
        assert caught_error.value is error
        assert run(wrapped.summarize(ask())).text == "short"

    def test_a_function_will_do(self) -> None:
        wrapped = self.wrap(lambda text: text[:5])  # type: ignore[arg-type]
        assert run(wrapped.summarize(ask())).text == TEXT[:5]

    def test_cancelling_reaches_the_inner_one_and_leaves_nothing(self) -> None:
        gate = Gate()
        wrapped = self.wrap(gate)

        async def main() -> None:
            task = asyncio.create_task(wrapped.summarize(ask()))
            await until(lambda: gate.waiting == 1)
            assert await cancelled(task)
            assert (gate.waiting, gate.cancelled) == (0, 1)

        run(main())
        gate.open()
        assert run(wrapped.summarize(ask())).text == TEXT[:10]

    def test_cancelling_before_the_first_step(self) -> None:
        wrapped = self.wrap(Echo())

        async def main() -> None:
            assert await cancelled(asyncio.create_task(wrapped.summarize(ask())))

        run(main())
        assert run(wrapped.summarize(ask())).text == TEXT[:10]

    def test_cancelling_one_leaves_the_others(self) -> None:
        gate = Gate()
        wrapped = self.wrap(gate)

        async def main() -> list[str]:
            requests = [ask(f"{i} {TEXT}") for i in range(3)]
            tasks = [asyncio.create_task(wrapped.summarize(r)) for r in requests]
            await until(lambda: gate.waiting == 3)
            assert await cancelled(tasks[1])
            gate.open()
            return [(await tasks[i]).text for i in (0, 2)]

        assert run(main()) == ["0 The buil", "2 The buil"]

    def test_several_loops_one_after_the_other(self) -> None:
        wrapped = self.wrap(Echo())
        texts = [f"{i} {TEXT}" for i in range(3)]
        assert [run(wrapped.summarize(ask(t))).text for t in texts] == [t[:10] for t in texts]

    def test_a_loop_that_ends_in_the_middle(self) -> None:
        gate = Gate()
        wrapped = self.wrap(gate)

        async def main() -> None:
            running = asyncio.create_task(wrapped.summarize(ask()))
            await until(lambda: gate.waiting == 1)
            assert not running.done()

        asyncio.run(main())  # cancels what is left, as the synchronous face does on an error
        gate.open()
        assert run(wrapped.summarize(ask())).text == TEXT[:10]

    def test_many_at_once(self) -> None:
        wrapped = self.wrap(Echo())
        texts = [f"{i} {TEXT}" for i in range(40)]

        async def main() -> list[Summary]:
            return await asyncio.gather(*(wrapped.summarize(ask(t)) for t in texts))

        assert [answer.text for answer in run(main())] == [t[:10] for t in texts]

    def test_many_threads_with_a_loop_each(self) -> None:
        wrapped = self.wrap(Echo())

        def work(number: int) -> bool:
            async def main() -> bool:
                texts = [f"{number} {i} {TEXT}" for i in range(5)]
                answers = await asyncio.gather(*(wrapped.summarize(ask(t)) for t in texts))
                return [a.text for a in answers] == [t[:10] for t in texts]

            return all(run(main()) for _ in range(3))

        assert all(run_in_threads(6, work))

    def test_the_request_is_not_changed(self) -> None:
        request = ask(f"password=hunter2hunter2 {TEXT}", must_keep=("hunter2hunter2", "Tuesday"))
        before = copy.deepcopy(request)
        run(self.wrap(Echo()).summarize(request))
        assert request == before
