"""Usage and cost of calls: tokens, money, totals, and a spending limit."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import replace

from refold.checks import check_number, check_whole
from refold.errors import AnswerError, SpendingError
from refold.llm.summarizers.base import (
    Summarizer,
    Summary,
    SummaryRequest,
    TextFunction,
    Usage,
    as_summarizer,
    usage_of,
)
from refold.scan.tokens.estimate import estimate_tokens


class Accounting:
    """Adds tokens and money to each answer's usage where *inner* does not say, and sums them up.

    Prices are in US dollars for a million tokens. With *max_cost_usd* or *max_calls* a call is
    refused with `SpendingError` once that much is spent; calls under way count with what they will
    cost at most, so that many at once overshoot by no more than one call. A call that fails counts
    as a call but costs no money, unless it was answered (`AnswerError`).

    An answer that reports no call at all (`Usage()`) was not paid for: it came from a cache.
    """

    def __init__(
        self,
        inner: Summarizer | TextFunction,
        *,
        price_per_million_input: float = 0.0,
        price_per_million_output: float = 0.0,
        count_tokens: Callable[[str], int] = estimate_tokens,
        max_cost_usd: float | None = None,
        max_calls: int | None = None,
    ) -> None:
        check_number("price_per_million_input", price_per_million_input)
        check_number("price_per_million_output", price_per_million_output)
        if max_cost_usd is not None:
            check_number("max_cost_usd", max_cost_usd)
        if max_calls is not None:
            check_whole("max_calls", max_calls)
        self._inner = as_summarizer(inner)
        self._input_price = price_per_million_input / 1e6
        self._output_price = price_per_million_output / 1e6
        self._count_tokens = count_tokens
        self._max_cost = math.inf if max_cost_usd is None else max_cost_usd
        self._max_calls = math.inf if max_calls is None else max_calls
        self._lock = threading.RLock()
        self._total = Usage()
        self._calls_under_way = 0
        self._cost_under_way = 0.0

    @property
    def total(self) -> Usage:
        """What all calls so far have cost."""
        return self._total

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Ask *inner* if there is anything left to spend, and say what it has cost."""
        expected_cost = self._expect_cost(request)
        self._reserve(expected_cost)
        used = Usage(calls=1)  # also if it fails or is cancelled: it was sent
        try:
            answer = await self._inner.summarize(request)
            used = self._complete(answer, request)
        except AnswerError as error:
            used = error.usage = self._priced(usage_of(error))
            raise
        finally:
            self._book(expected_cost, used)
        return answer if used == answer.usage else replace(answer, usage=used)

    def _expect_cost(self, request: SummaryRequest) -> float:
        """Return what a call costs at most, if the model keeps to the length asked for."""
        if math.isinf(self._max_cost):
            return 0.0
        output = max(0, request.max_tokens)
        return self._price(Usage(input_tokens=self._count_input(request), output_tokens=output))

    def _complete(self, answer: Summary, request: SummaryRequest) -> Usage:
        usage = answer.usage
        if usage == Usage():
            return usage
        if not usage.input_tokens:
            usage = replace(usage, input_tokens=self._count_input(request))
        if not usage.output_tokens:
            usage = replace(usage, output_tokens=self._count_tokens(answer.text))
        return self._priced(usage)

    def _priced(self, usage: Usage) -> Usage:
        return usage if usage.cost_usd else replace(usage, cost_usd=self._price(usage))

    def _count_input(self, request: SummaryRequest) -> int:
        return sum(map(self._count_tokens, (request.text, *request.must_keep)))

    def _price(self, usage: Usage) -> float:
        return usage.input_tokens * self._input_price + usage.output_tokens * self._output_price

    def _reserve(self, expected_cost: float) -> None:
        with self._lock:
            calls = self._total.calls + self._calls_under_way
            cost = self._total.cost_usd + self._cost_under_way
            if calls >= self._max_calls:
                problem = f"{calls} of {self._max_calls} calls are made or under way"
                advice = "max_calls"
            elif cost >= self._max_cost:
                problem = f"${cost:.4f} of ${self._max_cost:.4f} are spent or bound"
                advice = "max_cost_usd"
            else:
                self._calls_under_way += 1
                self._cost_under_way += expected_cost
                return
            raise SpendingError(
                f"no more summaries: {problem}; raise {advice} to go on", self._total
            )

    def _book(self, expected_cost: float, used: Usage) -> None:
        with self._lock:
            self._total += used
            self._calls_under_way -= 1
            self._cost_under_way -= expected_cost
            if not self._calls_under_way:
                self._cost_under_way = 0.0  # without what rounding has left
