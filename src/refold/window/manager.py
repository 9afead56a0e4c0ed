"""Fit a conversation into a model's window: always valid, and either fitting or saying why not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from refold.asking import arun, run
from refold.budget.guard import find_untouchable
from refold.engine import Engine, Job, combine
from refold.errors import BudgetError, ConfigError
from refold.flow import Flow, ask_until_known, keep_all
from refold.model.message import Message
from refold.model.plan import Fold
from refold.options import Options
from refold.result import Obstacle
from refold.stores.base import Store
from refold.summarizers.generate import Generate, GenerateSummarizer
from refold.tokens.base import TokenCounter
from refold.tokens.choose import CalibratedCounter, counter_for, is_estimate
from refold.window.models import DEFAULT_REGISTRY, WindowRegistry
from refold.window.overflow import Overflow, parse_overflow
from refold.window.reserve import Available, available_tokens
from refold.window.result import FitResult
from refold.window.strategies import STRATEGIES, Fitting, Strategy, Task

Pin = str | Callable[[Mapping[str, Any]], bool]
"""What must stay: a message id, a role as `role:NAME`, or a predicate on the message."""

_MAX_OBSTACLES: Final = 10


class ContextWindowManager:
    """Makes conversations fit the window of a model.

    What no strategy touches: system prompts, the first task, the last user message, tool calls
    without a result yet, and *pins*. Nothing is done while a conversation fits; when it does not,
    it is brought down to *landing* of what is available, so that the next turns fit too.
    """

    def __init__(
        self,
        *,
        model: str | None = None,
        context_limit: int | None = None,
        strategy: Strategy = "fold",
        reserve_output_tokens: int = 2_000,
        max_messages: int = 10,
        llm: Generate | None = None,
        summarizer: object = None,
        tools: Sequence[Mapping[str, Any]] = (),
        pins: Sequence[Pin] = (),
        landing: float = 0.8,
        strict: bool = False,
        counter: TokenCounter | None = None,
        registry: WindowRegistry = DEFAULT_REGISTRY,
        store: Store | None = None,
        options: Options | None = None,
    ) -> None:
        _check(strategy, max_messages, landing, llm, summarizer)
        self.strategy: Strategy = strategy
        self._context_tokens, self._max_input = _window(model, context_limit, registry)
        self._reserve = reserve_output_tokens
        self._max_messages = max_messages
        self._tools = tuple(tools)
        self._pins = tuple(pins)
        self._landing = landing
        self._strict = strict
        given = counter or counter_for(model)
        # An estimate can learn from what providers report; an exact count has nothing to learn.
        self._counter = CalibratedCounter(given) if is_estimate(given) else given
        chosen = combine(options, {"counter": self._counter, "recency_window": 4})
        asked = GenerateSummarizer(llm) if llm is not None else summarizer
        self._engine = Engine(chosen, store=store, summarizer=asked)
        self.available()  # says at once if nothing is left for messages

    def get_context_limit(self) -> int:
        """Return the tokens of the whole window."""
        return self._context_tokens

    def available(self, tools: Sequence[Mapping[str, Any]] | None = None) -> Available:
        """Return how the window is shared out: answer, tools, margin, and what messages may have."""
        return available_tokens(
            self._context_tokens,
            reserve_output_tokens=self._reserve,
            tools=self._tools if tools is None else tuple(tools),
            count_tokens=self._counter,
            max_input_tokens=self._max_input,
        )

    def get_max_prompt_tokens(self) -> int:
        """Return the tokens that messages and tools may have together."""
        shares = self.available()
        return shares.available + shares.tools

    def get_remaining_token_budget(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Return how many tokens are left for more messages; never below 0."""
        job = self._engine.begin(messages)
        return max(0, self.available().available - _total(job))

    def fit(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
    ) -> FitResult:
        """Return a list to send: as it is if it fits, else shortened until it does."""
        job, task = self._begin(messages, tools)
        fitting = run(self._flow(task), self._engine.asker, job.tally)
        return self._finish(job, task, fitting)

    async def afit(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
    ) -> FitResult:
        """Do what `fit` does without blocking the event loop."""
        job, task = await asyncio.to_thread(self._begin, messages, tools)
        fitting = await arun(self._flow(task), self._engine.asker, job.tally)
        return await asyncio.to_thread(self._finish, job, task, fitting)

    async def enforce_limit(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
    ) -> FitResult:
        """Do what `afit` does; the result also has `dropped` and `summarized`."""
        return await self.afit(messages, tools)

    def recover(self, messages: Sequence[Mapping[str, Any]], error: object) -> FitResult | None:
        """Fit again after a provider refused *messages* as too long; `None` for other errors.

        What the provider reported replaces what we believed about the window and our counting.
        """
        overflow = parse_overflow(error)
        if overflow is None:
            return None
        self._learn(messages, overflow)
        result = self.fit(messages)
        return result if result.steps else self._fit_tighter(messages)

    def _fit_tighter(self, messages: Sequence[Mapping[str, Any]]) -> FitResult:
        """Land once where the provider's word left us no numbers to go by."""
        job, task = self._begin(messages, None)
        smaller = int(self._landing * min(_total(job), task.available))
        task = replace(task, available=smaller, target=smaller)
        return self._finish(job, task, run(self._flow(task), self._engine.asker, job.tally))

    def _learn(self, messages: Sequence[Mapping[str, Any]], overflow: Overflow) -> None:
        if overflow.limit is not None:
            self._context_tokens = min(self._context_tokens, overflow.limit)
        reported = overflow.prompt or overflow.requested
        if reported is not None and isinstance(self._counter, CalibratedCounter):
            estimated = round(_total(self._engine.begin(messages)) / self._counter.factor)
            self._counter.observe(estimated=estimated, reported=reported)

    def _begin(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None,
    ) -> tuple[Job, Task]:
        job = self._engine.begin(messages)
        available = self.available(tools).available
        return job, Task(
            messages=job.messages,
            options=self._engine.options,
            analyses=job.analyses,
            available=available,
            target=int(self._landing * available),
            pinned=self._pinned(job.messages),
            max_messages=self._max_messages,
        )

    def _flow(self, task: Task) -> Flow[Fitting]:
        if sum(map(task.analyses.tokens.message, task.messages)) <= task.available:
            return ask_until_known(
                lambda: Fitting(plan=keep_all(task.messages, "within_budget")), task.analyses
            )
        make = STRATEGIES[self.strategy]
        return ask_until_known(lambda: make(task), task.analyses)

    def _pinned(self, messages: Sequence[Message]) -> dict[int, str]:
        return {m.index: "pinned" for m in messages if any(_is(m, pin) for pin in self._pins)}

    def _finish(self, job: Job, task: Task, fitting: Fitting) -> FitResult:
        """Write the fitting out; nothing has been written before this."""
        after = sum(map(task.analyses.tokens.fold, fitting.plan))
        fits = after <= task.available
        obstacles = () if fits else _obstacles(task)
        if self._strict and not fits:
            raise BudgetError(_explain(after, task.available, obstacles))
        rendering = self._engine.render(fitting.plan)
        for message in fitting.dropped:
            rendering.keep(message)
        self._engine.save(rendering)
        return FitResult(
            messages=rendering.messages,
            fits=fits,
            tokens_before=_total(job),
            tokens_after=after,
            tokens_available=task.available,
            dropped_ids=tuple(message.id for message in fitting.dropped),
            summarized_ids=_ids(fold for fold in fitting.plan if len(fold.sources) > 1),
            compressed_ids=_ids(
                fold for fold in fitting.plan if len(fold.sources) == 1 and not fold.is_kept
            ),
            steps=fitting.steps,
            first_changed=_first_changed(fitting),
            warnings=() if fits else (_explain(after, task.available, obstacles),),
            obstacles=obstacles,
            verbatim=rendering.verbatim,
            model=job.tally.report() if self._engine.asker.is_there else None,
        )


def _check(
    strategy: object, max_messages: object, landing: object, llm: object, summarizer: object
) -> None:
    if strategy not in STRATEGIES:
        raise ConfigError(f"strategy must be one of {', '.join(STRATEGIES)}; got {strategy!r}")
    if not isinstance(max_messages, int) or max_messages < 0:
        raise ConfigError(f"max_messages must be a whole number, 0 or more; got {max_messages!r}")
    if not isinstance(landing, int | float) or not 0 < landing <= 1:
        raise ConfigError(f"landing must be above 0 and at most 1, got {landing!r}")
    if llm is not None and summarizer is not None:
        raise ConfigError("give llm (chat messages to text) or summarizer (text to text), not both")


def _window(
    model: str | None, limit: int | None, registry: WindowRegistry
) -> tuple[int, int | None]:
    """Return the window to work with, and the longest prompt if that is less."""
    if limit is not None:
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            raise ConfigError(f"context_limit must be a whole number above 0, got {limit!r}")
        return limit, None
    if model is None:
        raise ConfigError("give model=… or context_limit=…: a window is never guessed")
    window = registry.window_of(model)
    return window.context_tokens, window.max_input_tokens


def _total(job: Job) -> int:
    return sum(map(job.analyses.tokens.message, job.messages))


def _is(message: Message, pin: Pin) -> bool:
    if callable(pin):
        return bool(pin(message.wire))
    return pin in (message.id, f"role:{message.role}")


def _ids(folds: Any) -> tuple[str, ...]:
    return tuple(message.id for fold in folds for message in fold.sources)


def _first_changed(fitting: Fitting) -> int:
    """Return the index of the first message that is not the one that stood there before."""
    gone = {message.digest for message in fitting.dropped}
    for place, fold in enumerate(fitting.plan):
        if not _is_untouched(fold) or (gone and fold.sources[0].index != place):
            return place
    return len(fitting.plan)


def _is_untouched(fold: Fold) -> bool:
    return fold.is_kept and len(fold.sources) == 1


def _obstacles(task: Task) -> tuple[Obstacle, ...]:
    stays = {**find_untouchable(task.messages, task.options), **task.pinned}
    found = [
        Obstacle(
            message_id=task.messages[index].id,
            message_index=index,
            tokens=task.analyses.tokens.message(task.messages[index]),
            reason=reason,
        )
        for index, reason in stays.items()
    ]
    return tuple(sorted(found, key=lambda obstacle: -obstacle.tokens)[:_MAX_OBSTACLES])


def _explain(after: int, available: int, obstacles: Sequence[Obstacle]) -> str:
    worst = "; ".join(
        f"messages[{o.message_index}] {o.tokens} tokens ({o.reason})" for o in obstacles[:3]
    )
    return f"{after} tokens do not fit into {available}; in the way: {worst or 'nothing known'}"
