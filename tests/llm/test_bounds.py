"""How much is asked at once, how often, for how long, and what is told meanwhile."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from refold import ConfigError, Event, Result
from refold.llm.classify import Verdict
from refold.llm.summarizers import Cached, Limited, SummaryRequest
from tests.classic import Compressor, acompress
from tests.conversations import Conversation, spelled
from tests.llm.notes import (
    CLOSING,
    Clerk,
    Shelf,
    checked,
    content,
    fold,
    note,
    notes,
    plainly,
    report_of,
    short,
    sum_up,
    talk,
)
from tests.llm.summarizers.contract import cancelled, run, until
from tests.patience import FOR_EVER, run_idly

AT_ONCE = 4


def fold_idly(messages: Conversation, **choices: Any) -> Result:
    """Fold where time passes only while everybody waits."""
    return checked(messages, run_idly(acompress(messages, recency_window=1, **choices)))


class Crowd:
    """Counts how many are inside."""

    def __init__(self) -> None:
        self.now = self.most = self.total = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            self.now += 1
            self.total += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self.now -= 1


class Busy(Clerk):
    """Lets nobody go before as many are inside as may be."""

    def __init__(self) -> None:
        super().__init__()
        self.crowd = Crowd()
        self.is_full = False

    async def wait(self, request: SummaryRequest) -> None:
        with self.crowd:
            await until(lambda: self.is_full or self.crowd.now == AT_ONCE)
            self.is_full = True
            for _ in range(3):
                await asyncio.sleep(0)


class Held(Clerk):
    """Answers all but the notes that are held back; knows who has asked for those."""

    def __init__(self, *held: int) -> None:
        super().__init__()
        self.held = {note(n) for n in held}
        self.waiting = 0
        self.answered = 0

    async def wait(self, request: SummaryRequest) -> None:
        if request.text in self.held:
            self.waiting += 1
            try:
                await asyncio.Event().wait()
            finally:
                self.waiting -= 1
        self.answered += 1


class TestConcurrency:
    def test_300_messages_are_asked_about_four_at_a_time(self) -> None:
        model = Busy()
        messages = notes(300)
        result = run(acompress(messages, summarizer=model, recency_window=1))
        checked(messages, result)
        assert model.crowd.most == AT_ONCE
        assert report_of(result).accepted == model.crowd.total == 300

    def test_so_are_those_of_the_synchronous_face(self) -> None:
        model = Busy()
        assert report_of(fold(notes(60), summarizer=model)).accepted == 60
        assert model.crowd.most == AT_ONCE

    def test_a_blocking_function_too(self) -> None:
        crowd = Crowd()
        pair = threading.Barrier(2)

        def model(text: str) -> str:
            with crowd:
                pair.wait(FOR_EVER)
                return sum_up(text)

        assert report_of(fold(notes(60), summarizer=model)).accepted == 60
        assert 1 < crowd.most <= AT_ONCE

    def test_conversations_of_one_compressor_share_the_limit(self) -> None:
        model = Busy()
        compressor = Compressor(summarizer=model, recency_window=1)

        async def main() -> None:
            parts = [talk(*(note(n) for n in range(k, k + 20))) for k in (1, 101, 201)]
            await asyncio.gather(*map(compressor.acompress, parts))

        run(main())
        assert model.crowd.most == AT_ONCE
        assert model.crowd.total == 60

    def test_calls_that_are_given_the_same_wrapper_share_it_and_the_work(self) -> None:
        model = Busy()
        shared = Cached(Limited(model))

        async def main() -> None:
            folds = (acompress(notes(20), summarizer=shared, recency_window=1) for _ in range(3))
            results = await asyncio.gather(*folds)
            assert sum(report_of(result).calls for result in results) == 20

        run(main())
        assert model.crowd.most == AT_ONCE
        assert model.crowd.total == 20

    def test_kf_30_a_classifier_is_not_asked_about_everything_at_once(self) -> None:
        crowd = Crowd()

        async def judge(text: str) -> Verdict:
            with crowd:
                await asyncio.sleep(0.001)
            return Verdict("compress", 0.9, "prose")

        run(acompress(notes(100), classifier=judge, recency_window=1))
        assert crowd.total == 100
        assert crowd.most <= AT_ONCE


class TestOnce:
    def test_identical_texts_are_asked_about_once(self) -> None:
        model = Clerk()
        result = fold(talk(*[note(1)] * 6), summarizer=model, dedup=False)
        assert len(model.requests) == report_of(result).asked == 1
        assert [short(1) in content(result, n) for n in range(6)] == [True] * 6

    def test_copies_that_become_references_are_not_asked_about(self) -> None:
        model = Clerk()
        fold(talk(note(1), note(2), note(1), note(2)), summarizer=model)
        assert not model.requests  # what they refer to stays readable

    def test_a_second_run_asks_nothing(self) -> None:
        model = Clerk()
        compressor = Compressor(summarizer=model, recency_window=1)
        first, second = compressor.compress(notes(5)), compressor.compress(notes(5))
        assert first.messages == second.messages
        assert len(model.requests) == 5
        assert report_of(second).calls == 0
        assert report_of(second).accepted == 5

    @pytest.mark.parametrize("strategy", ["binary-search", "tiered"])
    @pytest.mark.parametrize("budget", [200, 800, 1_500, 2_500])
    def test_kf_30_under_a_budget_each_text_is_asked_about_once(
        self, budget: int, strategy: str
    ) -> None:
        model = Clerk()
        messages = notes(64)
        result = checked(
            messages,
            Compressor(summarizer=model, token_budget=budget, budget_strategy=strategy).compress(
                messages
            ),
        )
        assert result.fits
        assert model.requests
        assert set(model.times_asked.values()) == {1}
        assert len(model.requests) <= 64

    def test_kf_30_a_budget_keeps_the_last_question(self) -> None:
        messages = talk(*(note(n) for n in range(1, 30)))
        result = Compressor(summarizer=Clerk(), token_budget=300).compress(messages)
        assert result.messages[-1]["content"] == CLOSING

    def test_two_that_overlap_share_the_work(self) -> None:
        model = Held(3)
        compressor = Compressor(summarizer=model, recency_window=1)

        async def main() -> list[int]:
            tasks = [asyncio.create_task(compressor.acompress(notes(5))) for _ in range(2)]
            await until(lambda: model.waiting == 1 and model.answered == 4)
            await asyncio.sleep(0.01)  # time for the other one to ask as well, if it would
            assert all(await asyncio.gather(*(cancelled(task) for task in tasks)))
            model.held.clear()
            results = await asyncio.gather(*(compressor.acompress(notes(5)) for _ in range(2)))
            assert results[0].messages == results[1].messages
            return [report_of(result).calls for result in results]

        assert sum(run(main())) == 1
        asked = model.times_asked
        assert asked.pop(note(3)) == 2
        assert set(asked.values()) == {1}


class TestCancelling:
    def test_after_four_of_five_answers_those_are_kept(self) -> None:
        model = Held(5)
        shelf = Shelf()
        compressor = Compressor(summarizer=model, store=shelf, recency_window=1)

        async def main() -> None:
            task = asyncio.create_task(compressor.acompress(notes(5)))
            await until(lambda: model.answered == 4 and model.waiting == 1)
            assert await cancelled(task)
            assert model.waiting == 0
            assert asyncio.all_tasks() == {asyncio.current_task()}

        run(main())
        assert shelf.writes == 0
        model.held.clear()
        model.requests.clear()
        result = checked(notes(5), run(compressor.acompress(notes(5))))
        assert [request.text for request in model.requests] == [note(5)]
        assert report_of(result).accepted == 5
        assert shelf.writes == 1

    def test_at_any_moment_nothing_is_left_and_nothing_is_stored(self) -> None:
        expected = fold(notes(6), summarizer=Clerk()).messages
        for steps in range(0, 60, 3):
            shelf = Shelf()
            compressor = Compressor(summarizer=Clerk(), store=shelf, recency_window=1)

            async def main(
                compressor: Compressor = compressor, steps: int = steps, shelf: Shelf = shelf
            ) -> None:
                task = asyncio.create_task(compressor.acompress(notes(6)))
                for _ in range(steps):
                    await asyncio.sleep(0)
                is_done = task.done()
                task.cancel()
                await asyncio.wait([task])
                assert task.cancelled() or is_done or shelf.writes == 1
                assert asyncio.all_tasks() == {asyncio.current_task()}

            run(main())
            assert shelf.writes <= 1
            assert run(compressor.acompress(notes(6))).messages == expected

    def test_one_of_two_leaves_the_other(self) -> None:
        model = Held(2)
        compressor = Compressor(summarizer=model, recency_window=1)

        async def main() -> str:
            first, second = (asyncio.create_task(compressor.acompress(notes(2))) for _ in range(2))
            await until(lambda: model.waiting == 1)
            assert await cancelled(first)
            await until(lambda: model.waiting == 1)
            assert await cancelled(second)
            model.held.clear()
            return spelled((await compressor.acompress(notes(2))).messages)

        assert run(main()) == spelled(fold(notes(2), summarizer=Clerk()).messages)


class TestDeadline:
    def test_what_is_done_by_then_is_kept(self) -> None:
        told: list[Event] = []
        model = Held(2)
        result = fold_idly(notes(5), summarizer=model, pass_seconds=1, on_event=told.append)
        report = report_of(result)
        assert (report.asked, report.accepted, report.calls) == (5, 4, 4)
        [failure] = report.failures
        assert "1 of 5" in failure
        assert content(result, 1) == plainly(notes(5))[1]["content"]
        assert [short(n) in content(result, n - 1) for n in (1, 3, 4, 5)] == [True] * 4
        assert [(e.kind, e.done, e.total) for e in told[-2:]] == [("failed", 4, 5), ("done", 4, 5)]
        assert told[-2].detail == failure

    def test_what_was_answered_is_not_asked_again(self) -> None:
        model = Held(2)
        compressor = Compressor(summarizer=model, pass_seconds=0.5, recency_window=1)
        run_idly(compressor.acompress(notes(3)))
        model.held.clear()
        model.requests.clear()
        assert report_of(run(compressor.acompress(notes(3)))).accepted == 3
        assert [request.text for request in model.requests] == [note(2)]

    def test_judging_and_writing_share_the_time(self) -> None:
        asked: list[str] = []

        async def judge(text: str) -> Verdict:
            await asyncio.Event().wait()
            raise AssertionError

        async def write(text: str) -> str:
            asked.append(text)
            return sum_up(text)

        result = fold_idly(notes(3), classifier=judge, summarizer=write, pass_seconds=0.2)
        assert result.messages == plainly(notes(3))
        assert asked == []
        assert len(report_of(result).failures) == 2

    def test_no_time_at_all(self) -> None:
        result = fold(notes(2), summarizer=Clerk(), pass_seconds=0)
        assert result.messages == plainly(notes(2))
        assert len(report_of(result).failures) == 1

    @pytest.mark.parametrize("seconds", [-1, float("nan"), "5"])
    def test_a_time_that_is_none(self, seconds: object) -> None:
        with pytest.raises(ConfigError):
            Compressor(summarizer=sum_up, pass_seconds=seconds)

    def test_a_function_that_blocks_is_not_waited_for(self) -> None:
        is_over = threading.Event()
        was_over: list[bool] = []

        def model(text: str) -> str:
            was_over.append(is_over.wait(FOR_EVER))
            return sum_up(text)

        assert fold(notes(1), summarizer=model, pass_seconds=0.1).messages == plainly(notes(1))
        is_over.set()
        while not was_over:
            time.sleep(0.01)
        assert was_over == [True]

    def test_nor_is_a_classifier_that_does(self) -> None:
        is_over = threading.Event()
        outcomes: list[bool] = []

        def judge(text: str) -> Verdict:
            outcomes.append(is_over.wait(FOR_EVER))
            return Verdict("compress", 0.9, "prose")

        result = fold(notes(1), classifier=judge, pass_seconds=0.1)
        assert outcomes == []
        is_over.set()
        assert len(report_of(result).failures) == 1


class TestEvents:
    def test_start_items_done(self) -> None:
        told: list[Event] = []
        fold(notes(3), summarizer=sum_up, on_event=told.append)
        assert told == [
            Event(kind="start", done=0, total=3),
            Event(kind="item", done=1, total=3),
            Event(kind="item", done=2, total=3),
            Event(kind="item", done=3, total=3),
            Event(kind="done", done=3, total=3),
        ]

    def test_the_same_when_asynchronous(self) -> None:
        told: list[list[Event]] = [[], []]
        fold(notes(3), summarizer=sum_up, on_event=told[0].append)
        run(acompress(notes(3), summarizer=sum_up, recency_window=1, on_event=told[1].append))
        assert told[0] == told[1]

    def test_nothing_asked_nothing_told(self) -> None:
        told: list[Event] = []
        fold(talk("short"), summarizer=sum_up, on_event=told.append)
        assert told == []

    def test_judging_and_writing_are_two_passes(self) -> None:
        told: list[Event] = []

        def judge(text: str) -> Verdict:
            return Verdict("preserve" if text == note(1) else "compress", 0.9, "x")

        fold(notes(3), summarizer=sum_up, classifier=judge, on_event=told.append)
        assert [(e.total, e.done) for e in told if e.kind == "done"] == [(3, 3), (2, 2)]
        assert [e.kind for e in told].count("start") == 2

    def test_a_question_that_failed(self) -> None:
        told: list[Event] = []

        def model(text: str) -> str:
            if text == note(2):
                raise OSError("no network")
            return sum_up(text)

        fold(notes(3), summarizer=model, on_event=told.append)
        [failed] = [e for e in told if e.kind == "failed"]
        assert failed.detail == "OSError: no network"
        assert told[-1] == Event(kind="done", done=3, total=3)

    def test_what_a_listener_raises_ends_the_work(self) -> None:
        shelf = Shelf()

        def listen(event: Event) -> None:
            if event.kind == "item":
                raise KeyError("enough")

        with pytest.raises(KeyError, match="enough"):
            fold(notes(3), summarizer=Clerk(), on_event=listen, store=shelf)
        with pytest.raises(KeyError, match="enough"):
            run(acompress(notes(3), summarizer=Clerk(), on_event=listen, recency_window=1))
        assert shelf.writes == 0

    @pytest.mark.parametrize("kind", [KeyError, TimeoutError])
    def test_also_at_the_start(self, kind: type[Exception]) -> None:
        def listen(event: Event) -> None:
            raise kind("enough")

        with pytest.raises(kind, match="enough"):
            run(acompress(notes(3), summarizer=Clerk(), on_event=listen, recency_window=1))

    def test_and_in_a_pass_with_a_deadline(self) -> None:
        def listen(event: Event) -> None:
            if event.kind == "item":
                raise TimeoutError("enough")

        with pytest.raises(TimeoutError, match="enough"):
            fold(notes(3), summarizer=Clerk(), on_event=listen, pass_seconds=FOR_EVER)
