"""Whatever may be given as a summarizer, and wherever it is used, the result is the same."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from refold import (
    ConfigError,
    create_summarizer,
)
from refold.llm.summarizers import Summarizer, Summary, SummaryRequest
from tests.classic import Compressor, Session, acompress, compress
from tests.conversations import spelled
from tests.llm.notes import (
    Clerk,
    checked,
    content,
    fold,
    note,
    notes,
    report_of,
    short,
    sum_up,
    talk,
)
from tests.llm.summarizers.contract import run
from tests.patience import FOR_EVER


async def sum_up_later(text: str) -> str:
    await asyncio.sleep(0)
    return sum_up(text)


class Caller:
    async def __call__(self, text: str) -> str:
        return sum_up(text)


class Blocking:
    """Claims to be asynchronous, but hands out a ready answer."""

    async def summarize(self, request: SummaryRequest) -> Summary:
        return Summary(text=sum_up(request.text))


SUMMARIZERS: dict[str, Any] = {
    "function": sum_up,
    "coroutine function": sum_up_later,
    "lambda giving a coroutine": lambda text: sum_up_later(text.strip()),
    "object with async __call__": Caller(),
    "summarizer": Clerk(),
    "summarizer that never waits": Blocking(),
    "create_summarizer": create_summarizer(sum_up),
    "create_summarizer, async": create_summarizer(sum_up_later),
}


@pytest.mark.parametrize("name", SUMMARIZERS)
class TestEveryKind:
    def test_its_answer_is_used(self, name: str) -> None:
        result = fold(notes(2), summarizer=SUMMARIZERS[name])
        assert short(1) in content(result, 0)
        assert short(2) in content(result, 1)
        report = report_of(result)
        assert (report.asked, report.accepted, report.repaired) == (2, 2, 0)
        assert (report.refused, report.failures) == ((), ())

    def test_sync_and_async_give_the_same(self, name: str) -> None:
        messages = notes(5)
        one = Compressor(summarizer=SUMMARIZERS[name], recency_window=1)
        other = Compressor(summarizer=SUMMARIZERS[name], recency_window=1)
        sync = checked(messages, one.compress(messages))
        later = checked(messages, run(other.acompress(messages)))
        assert spelled(sync.messages) == spelled(later.messages)
        assert sync == later

    def test_the_synchronous_face_inside_a_running_loop(self, name: str) -> None:
        messages = notes(3)

        async def main() -> str:
            return spelled(fold(messages, summarizer=SUMMARIZERS[name]).messages)

        assert run(main()) == spelled(fold(messages, summarizer=SUMMARIZERS[name]).messages)


class TestOneSummarizerEverywhere:
    def test_many_loops_one_after_the_other(self) -> None:
        clerk = Clerk()
        compressor = Compressor(summarizer=clerk, recency_window=1)
        results = [run(compressor.acompress(notes(n))) for n in (1, 2, 3, 3)]
        assert [report_of(result).calls for result in results] == [1, 1, 1, 0]
        assert len(clerk.requests) == 3

    def test_many_threads(self) -> None:
        clerk = Clerk()
        compressor = Compressor(summarizer=clerk, recency_window=1)
        made: list[str] = []

        def work() -> None:
            made.append(spelled(compressor.compress(notes(4)).messages))

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(FOR_EVER)
        assert made == [spelled(fold(notes(4), summarizer=Clerk()).messages)] * 6
        assert set(clerk.times_asked.values()) == {1}

    def test_the_loop_stays_free_while_a_function_blocks(self) -> None:
        asked, may_answer = threading.Event(), threading.Event()

        def wait_for_the_loop(text: str) -> str:
            asked.set()
            assert may_answer.wait(FOR_EVER), "the event loop was blocked"
            return sum_up(text)

        async def main() -> None:
            task = asyncio.create_task(
                acompress(notes(1), summarizer=wait_for_the_loop, recency_window=1)
            )
            while not asked.is_set():
                await asyncio.sleep(0.001)
            may_answer.set()
            assert short(1) in content(await task)

        run(main())

    def test_module_functions(self) -> None:
        sync = compress(notes(2), summarizer=sum_up, recency_window=1)
        assert sync == run(acompress(notes(2), summarizer=sum_up_later, recency_window=1))


class TestWithoutAModel:
    def test_there_is_no_report(self) -> None:
        assert fold(notes(1)).model is None

    def test_with_one_that_has_nothing_to_do_the_report_is_empty(self) -> None:
        report = report_of(fold(talk("short"), summarizer=sum_up))
        assert (report.asked, report.accepted, report.calls) == (0, 0, 0)

    def test_nobody_is_asked_below_the_threshold(self) -> None:
        clerk = Clerk()
        result = fold(notes(2), summarizer=clerk, compression_threshold=10_000)
        assert not clerk.requests
        assert result.messages == notes(2)

    def test_nobody_is_asked_about_what_is_kept(self) -> None:
        clerk = Clerk()
        data = '{"pumps": [' + ", ".join(f'{{"hall": {n}}}' for n in range(30)) + "]}"
        spoken = talk(note(1), data, note(2), "too short")
        spoken.insert(0, {"role": "system", "content": note(3)})
        spoken[3]["tool_calls"] = [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ]
        fold(spoken, summarizer=clerk, preserve_patterns=["hall 1 "])
        assert not clerk.requests


class TestStrings:
    @pytest.mark.parametrize(
        "name", ["gpt-5", "nobody:model", "openai:", "openai: ", ":model", "", "openai:@http://x"]
    )
    def test_a_name_that_means_nothing(self, name: str) -> None:
        for make in (Compressor, Session):
            with pytest.raises(ConfigError, match=r"provider|model"):
                make(summarizer=name)

    @pytest.mark.parametrize("value", [3, ["openai:gpt"], {"summarize": 1}, b"openai:gpt"])
    def test_neither_name_nor_function(self, value: object) -> None:
        with pytest.raises(ConfigError, match="summarizer must be"):
            compress(notes(1), summarizer=value)

    def test_a_class_instead_of_an_object(self) -> None:
        report = report_of(fold(notes(1), summarizer=Clerk))  # a callable: only its answers fail
        assert report.accepted == 0
        assert len(report.failures) == 1

    def test_a_name_without_a_key_is_missed_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        with pytest.raises(ConfigError, match="openai"):
            Compressor(summarizer="openai:gpt-5-mini")


class TestSession:
    def test_without_a_budget_it_asks_nothing(self) -> None:
        clerk = Clerk()
        session = Session(summarizer=clerk, recency_window=1)
        session.extend(notes(3))
        assert session.view() == notes(3)
        assert not clerk.requests

    def test_under_a_budget_each_text_is_asked_about_once(self) -> None:
        clerk = Clerk()
        session = Session(summarizer=clerk, recency_window=1)
        for n in range(1, 40):
            session.extend(talk(note(n))[:1])
            session.view(token_budget=900)
        assert clerk.requests
        assert set(clerk.times_asked.values()) == {1}

    def test_it_reports_what_it_asked(self) -> None:
        clerk = Clerk()
        session = Session(summarizer=clerk, recency_window=1)
        session.extend(notes(12))
        session.view(token_budget=500)
        report = session.report.model
        assert report is not None
        assert report.asked == report.calls == len(clerk.requests) > 0

    def test_a_model_that_fails_ends_nothing(self) -> None:
        def fail(text: str) -> str:
            raise OSError("no network")

        views = []
        for summarizer in (fail, None):
            session = Session(summarizer=summarizer, recency_window=1)
            session.extend(notes(12))
            views.append(session.view(token_budget=500))
        assert views[0] == views[1] != notes(12)


def test_every_kind_is_a_summarizer_or_a_function() -> None:
    assert all(isinstance(one, Summarizer) or callable(one) for one in SUMMARIZERS.values())
