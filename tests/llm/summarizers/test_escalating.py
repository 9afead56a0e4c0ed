"""`Escalating`: the first useful answer, and the last one's word if there is none."""

from __future__ import annotations

import pytest

from refold.errors import AnswerError, ConfigError
from refold.llm.summarizers.base import Summarizer, Summary
from refold.llm.summarizers.escalating import Escalating
from tests.llm.summarizers.contract import (
    PAID,
    TEXT,
    ForeignError,
    Scripted,
    SummarizerContract,
    ask,
    run,
)


class TestEscalating(SummarizerContract):
    def wrap(self, inner: Summarizer) -> Summarizer:
        return Escalating(inner)


class TestEscalatingPastAFailure(SummarizerContract):
    def wrap(self, inner: Summarizer) -> Summarizer:
        return Escalating(Scripted(ValueError("cheap, but down")), inner)


def test_a_useful_answer_ends_it() -> None:
    second = Scripted()
    assert run(Escalating(Scripted("good"), second).summarize(ask())).text == "good"
    assert second.requests == []


@pytest.mark.parametrize("useless", ["", "  \n", TEXT, TEXT + "!"])
def test_a_useless_answer_does_not(useless: str) -> None:
    answer = run(Escalating(Scripted(useless), Scripted("good")).summarize(ask()))
    assert answer == Summary(text="good", usage=PAID + PAID)  # the useless one was paid for too


def test_an_error_does_not() -> None:
    three = Escalating(Scripted(ForeignError()), Scripted(OSError()), Scripted("good"))
    assert run(three.summarize(ask())) == Summary(text="good", usage=PAID)


def test_an_error_that_was_an_answer_is_paid_for() -> None:
    two = Escalating(Scripted(AnswerError("cut off", PAID)), Scripted("good"))
    assert run(two.summarize(ask())) == Summary(text="good", usage=PAID + PAID)


def test_the_last_error_is_raised_and_tells_of_the_others() -> None:
    last = ForeignError("last")
    with pytest.raises(ForeignError) as caught:
        run(Escalating(Scripted(OSError("first")), Scripted(""), Scripted(last)).summarize(ask()))
    assert caught.value is last
    assert caught.value.__notes__ == [
        "summarizer 1, asked before: OSError: first",
        "summarizer 2, asked before: no answer",
    ]


def test_the_last_answer_is_returned_as_it_is() -> None:
    assert run(Escalating(Scripted("x"), Scripted("")).summarize(ask("y"))).text == ""


def test_refuses_none() -> None:
    with pytest.raises(ConfigError, match="at least one"):
        Escalating()
