"""`WithTimeout`: a late answer is no answer."""

from __future__ import annotations

import pytest

from refold.errors import ConfigError
from refold.llm.summarizers.base import Summarizer
from refold.llm.summarizers.deadline import WithTimeout
from tests.llm.summarizers.contract import Gate, Scripted, SummarizerContract, ask, run


class TestWithTimeout(SummarizerContract):
    def wrap(self, inner: Summarizer) -> Summarizer:
        return WithTimeout(inner, 60)


def test_a_late_call_is_cancelled_and_the_error_names_the_deadline() -> None:
    gate = Gate()
    with pytest.raises(TimeoutError, match=r"did not answer within 0\.01 seconds"):
        run(WithTimeout(gate, 0.01).summarize(ask()))
    assert (gate.asked, gate.cancelled, gate.waiting) == (1, 1, 0)


def test_the_inner_timeout_is_not_taken_for_ours() -> None:
    error = TimeoutError("theirs")
    with pytest.raises(TimeoutError) as caught:
        run(WithTimeout(Scripted(error), 60).summarize(ask()))
    assert caught.value is error


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_refuses_a_deadline_that_is_none(seconds: float) -> None:
    with pytest.raises(ConfigError, match="seconds must be a number above 0"):
        WithTimeout(Scripted(), seconds)
