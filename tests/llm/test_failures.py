"""A model's client may do anything: a run goes on without it, and the report says why."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from refold.llm.classifiers import Verdict
from refold.llm.summarizers import Summary, SummaryRequest
from refold.scan.tokens.estimate import estimate_tokens
from tests.classic import acompress
from tests.conversations import Conversation
from tests.llm.notes import fold, note, notes, plainly, report_of, short, sum_up
from tests.llm.summarizers.contract import run
from tests.patience import FOR_EVER


class FullOfItselfError(Exception):
    """As some clients do, it quotes the whole request."""

    def __str__(self) -> str:
        return "400: " + "bad request, you sent this:\n\n" * 500


class MuteError(Exception):
    """Cannot say what went wrong."""

    def __str__(self) -> str:
        raise RuntimeError("not even that")


class MeteredError(Exception):
    """Has a usage, but not one of ours."""

    usage = ("total_tokens", 12)


class Says:
    """A summarizer that returns something, or raises it."""

    def __init__(self, what: Any) -> None:
        self._what = what

    async def summarize(self, request: SummaryRequest) -> Summary:
        await asyncio.sleep(0)
        if isinstance(self._what, BaseException):
            raise self._what
        answer: Summary = self._what
        return answer


class Judges(Says):
    """The same as a classifier."""

    async def classify(self, text: str) -> Verdict:
        verdict: Any = await self.summarize(SummaryRequest(text=text))
        return verdict  # type: ignore[no-any-return]


def bug(value: object, why: str) -> Any:
    return pytest.param(value, id=why)


NOT_OURS = "whatever a summarizer returns is trusted to be a Summary"
TROUBLE = [
    pytest.param(ValueError("no"), id="error"),
    pytest.param(Exception(), id="error without a word"),
    pytest.param(FullOfItselfError(), id="long error"),
    pytest.param(RecursionError("too deep"), id="recursion"),
    pytest.param(MemoryError(), id="memory"),
    pytest.param(StopIteration(3), id="stop iteration"),
    pytest.param(StopAsyncIteration(), id="stop async iteration"),
    pytest.param(ExceptionGroup("two", [OSError("a"), ValueError("b")]), id="group"),
    pytest.param(asyncio.InvalidStateError("x"), id="invalid state"),
    bug(asyncio.CancelledError(), "a client that cancels itself cancels the run"),
    bug(MuteError(), "str(error) is trusted not to raise"),
]


def quick(messages: Conversation, **choices: Any) -> Any:
    """Fold, and call it a failure if that takes for ever."""

    async def main() -> Any:
        async with asyncio.timeout(FOR_EVER):
            return await acompress(messages, recency_window=1, **choices)

    return run(main())


@pytest.mark.parametrize("trouble", TROUBLE)
class TestRaising:
    def test_never_ends_a_run(self, trouble: BaseException) -> None:
        result = quick(notes(2), summarizer=Says(trouble))
        assert result.messages == plainly(notes(2))
        report = report_of(result)
        assert (report.asked, report.accepted, report.refused) == (2, 0, ())
        assert len(report.failures) == 2
        for failure in report.failures:
            assert type(trouble).__name__ in failure
            assert len(failure) < 300
            assert "\n" not in failure

    def test_nor_does_a_classifier(self, trouble: BaseException) -> None:
        result = quick(notes(2), classifier=Judges(trouble))
        assert result.messages == plainly(notes(2))
        assert len(report_of(result).failures) == 2


def test_an_error_that_counts_its_cost_in_its_own_way() -> None:
    result = quick(notes(1), summarizer=Says(MeteredError("x")))
    assert result.messages == plainly(notes(1))
    assert report_of(result).failures == ("MeteredError: x",)


class TestReturningNonsense:
    @pytest.mark.parametrize("value", [3, b"bytes", ["a", "list"], {"text": short(1)}, None])
    def test_a_function(self, value: object) -> None:
        result = quick(notes(1), summarizer=lambda text: value)
        assert result.messages == plainly(notes(1))
        [failure] = report_of(result).failures
        assert failure.startswith("TypeError: a summarizer must return a string")

    @pytest.mark.parametrize(
        "value",
        [
            bug("a plain string", NOT_OURS),
            bug(Summary(text=None), f"{NOT_OURS}, with a text"),  # type: ignore[arg-type]
            bug(None, "None makes Cached ask again and again, for ever"),
            bug(3, f"{NOT_OURS}, not a number"),
        ],
    )
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_an_object(self, value: object) -> None:
        result = quick(notes(1), summarizer=Says(value))
        assert result.messages == plainly(notes(1))
        assert len(report_of(result).failures) == 1

    @pytest.mark.parametrize("value", [3, "preserve", None, {"decision": "preserve"}])
    def test_a_function_that_judges(self, value: object) -> None:
        result = quick(notes(1), classifier=lambda text: value)
        assert result.messages == plainly(notes(1))
        assert len(report_of(result).failures) == 1

    @pytest.mark.parametrize("value", [3, "preserve", None, {"decision": "preserve"}])
    def test_an_object_that_judges(self, value: object) -> None:
        result = quick(notes(1), classifier=Judges(value))
        assert result.messages == plainly(notes(1))
        assert len(report_of(result).failures) == 1


class TestSome:
    def test_the_others_are_used(self) -> None:
        def model(text: str) -> str:
            if text == note(2):
                raise ValueError("not this one")
            return sum_up(text)

        result = fold(notes(3), summarizer=model)
        assert [short(n) in str(result.messages[n - 1]["content"]) for n in (1, 2, 3)] == [
            True,
            False,
            True,
        ]
        assert result.messages[1] == plainly(notes(3))[1]
        assert report_of(result).failures == ("ValueError: not this one",)

    def test_the_second_question_may_fail_too(self) -> None:
        asked: list[str] = []

        def model(text: str) -> str:
            asked.append(text)
            if len(asked) == 2:
                raise ValueError("gone")
            return ""

        result = fold(notes(1), summarizer=model)
        report = report_of(result)
        assert result.messages == plainly(notes(1))
        assert report.refused
        assert report.failures == ("ValueError: gone",)

    def test_what_fails_for_a_moment_is_tried_again(self) -> None:
        asked: list[str] = []

        def model(text: str) -> str:
            asked.append(text)
            if len(asked) == 1:
                raise ConnectionError("reset by peer")
            return sum_up(text)

        report = report_of(fold(notes(1), summarizer=model))
        assert len(asked) == 2
        assert (report.accepted, report.failures) == (1, ())

    def test_a_failure_is_not_remembered(self) -> None:
        from tests.classic import Compressor

        broken = [True]

        def model(text: str) -> str:
            if broken[0]:
                raise ValueError("out of order")
            return sum_up(text)

        compressor = Compressor(summarizer=model, recency_window=1)
        assert report_of(compressor.compress(notes(1))).accepted == 0
        broken.clear()
        broken.append(False)
        assert report_of(compressor.compress(notes(1))).accepted == 1


def test_a_model_that_only_fails_is_soon_left_alone() -> None:
    asked: list[str] = []

    def model(text: str) -> str:
        asked.append(text)
        raise ValueError("out of order")

    result = fold(notes(60), summarizer=model)
    assert result.messages == plainly(notes(60))
    assert len(asked) < 10
    failures = report_of(result).failures
    assert len(failures) == 60
    told = [failure for failure in failures if failure.startswith("CircuitOpenError")]
    assert len(told) == 60 - len(asked)
    assert all("ValueError: out of order" in failure for failure in told)


def test_tokens_are_estimated_where_nobody_says() -> None:
    report = report_of(fold(notes(2), summarizer=sum_up))
    assert report.calls == 2
    assert report.input_tokens == sum(estimate_tokens(note(n)) for n in (1, 2))
    assert report.output_tokens == sum(estimate_tokens(short(n)) for n in (1, 2))
