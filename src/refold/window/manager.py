"""Fit a conversation into a model's window: always valid, and either fitting or saying why not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

from refold.engine import Engine, combine
from refold.errors import BudgetError, ConfigError
from refold.llm.ask import arun, run
from refold.llm.summarizers.generate import Generate
from refold.messages.formats.objects import Objects
from refold.options import Options, Pin
from refold.scan.tokens.choose import CalibratedCounter, counter_for
from refold.scan.tokens.counter import TokenCounter
from refold.stores.base import Store
from refold.window.fitter import Attempt, Fitter
from refold.window.history import read_history, total_of
from refold.window.models import DEFAULT_REGISTRY, WindowRegistry
from refold.window.overflow import Overflow, parse_overflow
from refold.window.passes import Known
from refold.window.reading import Wires
from refold.window.reserve import Available, Tool, available_tokens
from refold.window.result import FitResult
from refold.window.settings import (
    SummaryFormat,
    WindowThresholds,
    check_choices,
    check_list,
    check_options,
    choose_summarizer,
    find_window,
    remembering,
)
from refold.window.strategies import Strategy


def _revive(
    class_: type[ContextWindowManager], choices: dict[str, Any], context_tokens: int
) -> ContextWindowManager:
    """Make a manager again, for a window that may have turned out to be smaller."""
    manager = class_(**choices)
    manager._context_tokens = context_tokens
    return manager


class ContextWindowManager:
    """Makes conversations fit the window of a model.

        manager = ContextWindowManager(model="gpt-5", store=SqliteStore("originals.db"))
        client.chat.completions.create(model="gpt-5", messages=manager.fit(messages).messages)

    What no strategy touches: system prompts, the first task, the last user message, tool calls
    without a result yet, and *pins*. Nothing is done up to *high_water* of what is available; then
    the conversation is brought down to *low_water* of it. What was made of the beginning of a
    conversation is used again as long as it does, so that providers find it in their cache.

    *context_limit* is the window where no table need be asked, *default_context_limit* the one for
    a *model* that no table knows, with a warning. The newest *keep_results* tool results stay whole
    as long as that fits. With `summary_format="handover"` summaries have the sections of
    `refold.window.handover`. After *pass_seconds* no model is waited for. *max_passes* such as
    `(1, 5)` allows one change in five turns, unless it would not fit. *options* are the engine's:
    by default those of the profile `standard`; one that a window makes no use of is refused.
    """

    _choices: dict[str, Any]
    """What it was made with."""

    def __init__(
        self,
        *,
        model: str | None = None,
        context_limit: int | None = None,
        default_context_limit: int | None = None,
        strategy: Strategy = "fold",
        reserve_output_tokens: int = 2_000,
        max_messages: int = 10,
        keep_results: int | None = None,
        llm: Generate | None = None,
        summarizer: object = None,
        summary_format: SummaryFormat = "plain",
        pass_seconds: float | None = None,
        tools: Sequence[Tool] = (),
        pins: Sequence[Pin] = (),
        high_water: float = 1.0,
        low_water: float | None = None,
        prepare_at: float | None = None,
        clear_at_least: int = 0,
        max_passes: tuple[int, int] | None = None,
        strict: bool = False,
        counter: TokenCounter | None = None,
        registry: WindowRegistry = DEFAULT_REGISTRY,
        store: Store | None = None,
        conversation: str | None = None,
        options: Options | None = None,
    ) -> None:
        check_choices(strategy, max_messages, keep_results, pins)
        check_list("tools", tools)
        self.strategy: Strategy = strategy
        self._context_tokens, self._max_input = find_window(
            model, context_limit, default_context_limit, registry
        )
        self._reserve = reserve_output_tokens
        self._tools = tuple(tools)
        self._counter = remembering(counter or counter_for(model))
        check_options(options)
        writer = choose_summarizer(llm, summarizer, summary_format)
        self._engine = Engine(
            combine(options, {"counter": self._counter}),
            store=store,
            conversation=conversation,
            summarizer=writer,
            pass_seconds=pass_seconds,
        )
        self._fitter = Fitter(
            engine=self._engine,
            strategy=strategy,
            thresholds=WindowThresholds.of(
                high_water, low_water, prepare_at, clear_at_least, max_passes
            ),
            pins=tuple(pins),
            max_messages=max_messages,
            keep_results=keep_results,
            # A summarizer has its own words.
            is_handover=summary_format == "handover" and summarizer is None,
            strict=strict,
        )
        self._known = Known()
        self.available()  # says at once if nothing is left for messages

    def __new__(cls, *_: Any, **choices: Any) -> Self:
        """Note what it is made with."""
        made = super().__new__(cls)
        made._choices = choices
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy what it was made with, and what it has learned of the window.

        What was made of conversations is not taken along: the next one is folded anew.
        """
        learned = {"counter": self._counter} if isinstance(self._counter, CalibratedCounter) else {}
        return _revive, (type(self), {**self._choices, **learned}, self._context_tokens)

    def __repr__(self) -> str:
        said = f"strategy={self.strategy!r}, context_limit={self._context_tokens}"
        return f"{type(self).__name__}({said})"

    def get_context_limit(self) -> int:
        """Return the tokens of the whole window."""
        return self._context_tokens

    def available(self, tools: Sequence[Tool] | None = None) -> Available:
        """Return how the window is shared out: answer, tools, margin, messages."""
        if tools is not None:
            check_list("tools", tools)
        return self._shared_out(self._context_tokens, self._tools if tools is None else tools)

    def _shared_out(self, context_tokens: int, tools: Sequence[Tool]) -> Available:
        return available_tokens(
            context_tokens,
            reserve_output_tokens=self._reserve,
            tools=tools,
            count_tokens=self._counter,
            max_input_tokens=self._max_input,
        )

    def get_max_prompt_tokens(self) -> int:
        """Return the tokens that messages and tools may have together."""
        shares = self.available()
        return shares.available + shares.tools

    def get_remaining_token_budget(self, messages: Wires) -> int:
        """Return how many tokens are left for more messages; never below 0."""
        job = read_history(Objects().read(messages), None, self._engine).job
        return max(0, self.available().available - total_of(job))

    def fit(self, messages: Wires, tools: Sequence[Tool] | None = None) -> FitResult:
        """Return a list to send: as it is if it fits, else shortened until it does."""
        wires, objects = self._known.read(messages)
        attempt = self._begin(wires, tools)
        return _given_back(self._settled(attempt) or self._run(attempt), objects)

    async def afit(self, messages: Wires, tools: Sequence[Tool] | None = None) -> FitResult:
        """Do what `fit` does without blocking the event loop."""
        wires, objects = self._known.read(messages)
        attempt = await asyncio.to_thread(self._begin, wires, tools)
        return _given_back(self._settled(attempt) or await self._arun(attempt), objects)

    async def enforce_limit(
        self, messages: Wires, tools: Sequence[Tool] | None = None
    ) -> FitResult:
        """Do what `afit` does; the result also has `dropped` and `summarized`."""
        return await self.afit(messages, tools)

    def prepare(self, messages: Wires, tools: Sequence[Tool] | None = None) -> bool:
        """Work ahead once a conversation is nearly too long; tell whether something was prepared.

        Call it in a thread, or `aprepare` in a task, while the model is answering. The next `fit`
        takes it over whole if the conversation still begins the same, and ignores it otherwise.
        """
        attempt = self._begin(Objects().read(messages), tools, soft=True)
        return attempt.is_due and self._run(attempt) is not attempt.current

    async def aprepare(self, messages: Wires, tools: Sequence[Tool] | None = None) -> bool:
        """Do what `prepare` does without blocking the event loop."""
        wires = Objects().read(messages)
        attempt = await asyncio.to_thread(self._begin, wires, tools, soft=True)
        return attempt.is_due and await self._arun(attempt) is not attempt.current

    def recover(self, messages: Wires, error: object) -> FitResult | None:
        """Fit again after a provider refused *messages* as too long; `None` for other errors.

        What the provider reported replaces what we believed about the window and our counting.
        `BudgetError` if nothing more can be saved, or not enough, or if a window of the size that
        it reported has no room for messages; then nothing is learned.
        """
        overflow = parse_overflow(error)
        if overflow is None:
            return None
        objects = Objects()
        wires = objects.read(messages)
        self._learn(wires, overflow)
        attempt = self._begin(wires, None)
        result = attempt.settled or self._run(attempt)
        if result.tokens_after >= result.tokens_before:
            result = self._run(self._fitter.tighter(attempt))
        return _given_back(_smaller(result, overflow), objects)

    async def arecover(self, messages: Wires, error: object) -> FitResult | None:
        """Do what `recover` does without blocking the event loop."""
        overflow = parse_overflow(error)
        if overflow is None:
            return None
        objects = Objects()
        wires = objects.read(messages)
        await asyncio.to_thread(self._learn, wires, overflow)
        attempt = await asyncio.to_thread(self._begin, wires, None)
        result = attempt.settled or await self._arun(attempt)
        if result.tokens_after >= result.tokens_before:
            result = await self._arun(self._fitter.tighter(attempt))
        return _given_back(_smaller(result, overflow), objects)

    def observe(
        self, messages: Wires, prompt_tokens: int, tools: Sequence[Tool] | None = None
    ) -> None:
        """Learn from the usage that a provider reports for *messages* as they were sent.

        Later estimates come closer to what it counts; where tokens are counted exactly, or by a
        counter of the caller's, there is nothing to learn.
        """
        if isinstance(self._counter, CalibratedCounter):
            wires = Objects().read(messages)
            total = read_history(wires, None, self._engine).total + self.available(tools).tools
            plain = round(total / self._counter.factor)
            self._counter.observe(estimated=plain, reported=prompt_tokens)

    def _learn(self, messages: Wires, overflow: Overflow) -> None:
        if overflow.limit is not None:
            limit = min(self._context_tokens, overflow.limit)
            try:
                self._shared_out(limit, self._tools)
            except ConfigError as error:
                raise BudgetError(f"the provider's window is too small: {error}") from error
            self._context_tokens = limit
        self.observe(messages, overflow.prompt or overflow.requested or 0)
        self._fitter.passes.forget()  # their figures are those of another window

    def _begin(
        self, messages: Wires, tools: Sequence[Tool] | None, *, soft: bool = False
    ) -> Attempt:
        return self._fitter.begin(messages, self.available(tools).available, soft=soft)

    def _settled(self, attempt: Attempt) -> FitResult | None:
        """Return what to send if no pass is due; the attempt is over then."""
        result = attempt.settled
        if result is not None:
            attempt.history.give_back()
        return result

    def _run(self, attempt: Attempt) -> FitResult:
        flow = self._fitter.flow(attempt)
        return self._fitter.finish(attempt, run(flow, self._engine.asker, attempt.job.tally))

    async def _arun(self, attempt: Attempt) -> FitResult:
        flow = self._fitter.flow(attempt)
        fitting = await arun(flow, self._engine.asker, attempt.job.tally)
        return await asyncio.to_thread(self._fitter.finish, attempt, fitting)


def _given_back(result: FitResult, objects: Objects) -> FitResult:
    """Return *result* with messages of the types that were given."""
    return replace(result, messages=objects.write(result.messages)) if objects else result


def _smaller(result: FitResult, overflow: Overflow) -> FitResult:
    """Return *result* if there is a point in sending it."""
    if result.fits and result.tokens_after < result.tokens_before:
        return result
    why = result.warnings[-1] if result.warnings else overflow.message
    raise BudgetError(f"the provider refused the prompt and no shorter one will do: {why}")
