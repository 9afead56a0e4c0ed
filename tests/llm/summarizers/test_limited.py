"""`Limited` holds over tasks, loops and threads, first come, first served; `WithTimeout`."""

from __future__ import annotations

import asyncio
import threading

import pytest

from refold.errors import ConfigError
from refold.llm.summarizers.base import Summarizer, Summary, SummaryRequest
from refold.llm.summarizers.stack import Limited
from tests.llm.summarizers.contract import (
    Gate,
    Scripted,
    SummarizerContract,
    ask,
    cancelled,
    run,
    run_in_threads,
    until,
)


class TestLimited(SummarizerContract):
    def wrap(self, inner: Summarizer) -> Summarizer:
        return Limited(inner)


class Crowd:
    """Counts how many calls are inside at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.inside = self.most = self.asked = 0
        self.order: list[str] = []

    async def summarize(self, request: SummaryRequest) -> Summary:
        with self._lock:
            self.asked += 1
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.order.append(request.text)
        try:
            for _ in range(3):
                await asyncio.sleep(0)
        finally:
            with self._lock:
                self.inside -= 1
        return Summary(text="s")


@pytest.mark.parametrize("bound", [1, 4, 7])
def test_300_at_once_never_exceed_the_bound(bound: int) -> None:
    crowd = Crowd()
    limited = Limited(crowd, max_concurrent=bound)

    async def main() -> None:
        await asyncio.gather(*(limited.summarize(ask(str(i))) for i in range(300)))

    run(main())
    assert (crowd.asked, crowd.most, crowd.inside) == (300, bound, 0)


def test_the_bound_holds_over_threads_and_loops() -> None:
    crowd = Crowd()
    limited = Limited(crowd, max_concurrent=3)

    def work(number: int) -> None:
        async def main() -> None:
            await asyncio.gather(*(limited.summarize(ask()) for _ in range(25)))

        run(main())
        run(main())

    run_in_threads(6, work)
    assert crowd.asked == 300
    assert crowd.most <= 3


def test_first_come_first_served() -> None:
    crowd = Crowd()
    limited = Limited(crowd, max_concurrent=2)

    async def main() -> None:
        await asyncio.gather(*(limited.summarize(ask(str(i))) for i in range(50)))

    run(main())
    assert crowd.order == [str(i) for i in range(50)]


def test_a_cancelled_waiter_leaves_the_line_and_a_cancelled_holder_its_place() -> None:
    gate = Gate()
    limited = Limited(gate, max_concurrent=1)

    async def main() -> None:
        holder, waiter, last = (
            asyncio.create_task(limited.summarize(ask(f"{i} text"))) for i in range(3)
        )
        await until(lambda: gate.waiting == 1)
        assert await cancelled(waiter)
        assert gate.asked == 1
        assert await cancelled(holder)
        await until(lambda: gate.asked == 2)
        gate.open()
        assert (await last).text == "2 text"

    run(main())


def test_a_place_handed_to_a_waiter_that_is_cancelled_in_that_moment_is_not_lost() -> None:
    done = asyncio.Event()

    class Waits:
        async def summarize(self, request: SummaryRequest) -> Summary:
            if request.text == "holder":
                await done.wait()
            return Summary(text=request.text)

    limited = Limited(Waits(), max_concurrent=1)

    async def main() -> None:
        holder = asyncio.create_task(limited.summarize(ask("holder")))
        waiter = asyncio.create_task(limited.summarize(ask("waiter")))
        last = asyncio.create_task(limited.summarize(ask("last")))
        await asyncio.sleep(0)
        done.set()
        await holder  # the place is the waiter's now, but it has not run yet
        waiter.cancel()
        assert (await last).text == "last"
        assert (await limited.summarize(ask("later"))).text == "later"
        await asyncio.wait([waiter])

    run(main())


def test_waiters_whose_loop_is_gone_do_not_hold_up_the_others() -> None:
    gate = Gate()
    limited = Limited(gate, max_concurrent=1)
    loop = asyncio.new_event_loop()
    holder = loop.create_task(limited.summarize(ask("holder")))
    loop.run_until_complete(until(lambda: gate.waiting == 1))

    async def wait_in_vain() -> None:
        task = asyncio.create_task(limited.summarize(ask("in vain")))
        await asyncio.sleep(0)
        assert not task.done()

    asyncio.run(wait_in_vain())
    gate.open()
    loop.run_until_complete(holder)
    loop.close()
    assert run(limited.summarize(ask("next"))).text == "next"


def test_refuses_a_bound_that_lets_nobody_in() -> None:
    with pytest.raises(ConfigError, match="max_concurrent must be a whole number, 1 or more"):
        Limited(Crowd(), max_concurrent=0)


def test_a_late_call_is_cancelled_and_the_error_names_the_deadline() -> None:
    gate = Gate()
    with pytest.raises(TimeoutError, match=r"did not answer within 0\.01 seconds"):
        run(Limited(gate, seconds=0.01).summarize(ask()))
    assert (gate.asked, gate.cancelled, gate.waiting) == (1, 1, 0)


def test_the_inner_timeout_is_not_taken_for_ours() -> None:
    error = TimeoutError("theirs")
    with pytest.raises(TimeoutError) as caught:
        run(Limited(Scripted(error), seconds=60).summarize(ask()))
    assert caught.value is error


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_refuses_a_deadline_that_is_none(seconds: float) -> None:
    with pytest.raises(ConfigError, match="seconds must be a number above 0"):
        Limited(Scripted(), seconds=seconds)
