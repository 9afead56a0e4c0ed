"""Fit a conversation into a model's window: always valid, and either fitting or saying why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Never, TypeVar, get_args

from refold.checks import check_choice, check_names, check_whole
from refold.conversation.fitter import Fitter
from refold.conversation.history import Known, read_history
from refold.conversation.limits import (
    Available,
    Tool,
    WindowThresholds,
    available_tokens,
    find_window,
)
from refold.conversation.models import DEFAULT_REGISTRY, WindowRegistry
from refold.conversation.overflow import Overflow, parse_overflow
from refold.conversation.report import FitResult
from refold.conversation.state import Wires
from refold.conversation.strategies import Strategy
from refold.engine import Engine, combine
from refold.errors import BudgetError, ConfigError
from refold.llm.ask import Flow, Tally, arun, run
from refold.llm.summarizers.models import DEFAULT_COMPRESSION_PROMPT, Generate, GenerateSummarizer
from refold.messages.formats import check_items
from refold.messages.formats.objects import Objects
from refold.options import Options, Pin
from refold.result import M
from refold.scan.tokens.choose import CalibratedCounter, counter_for, is_estimate
from refold.scan.tokens.counter import RememberingCounter, TokenCounter
from refold.stores.base import Store

T = TypeVar("T")

_MAX_MESSAGES: Final = 10
"""As many as sliding windows of other libraries keep unless told otherwise."""
_NOT_USED: Final[Mapping[str, str]] = {
    "token_budget": "the budget is the window; give context_limit or reserve_output_tokens",
    "compression_threshold": "nothing is done up to high_water, which is a share of the window",
    "strict": "give strict to the manager itself",
    "model": "give model to the manager itself",
    "counter": "give counter to the manager itself",
    "trace": "what was done stands in FitResult.steps and in the ids beside it",
}
"""The options of which a window makes no use, and what does their work."""


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
    as long as that fits. After *pass_seconds* no model is waited for. *max_passes* such as `(1, 5)`
    allows one change in five turns, unless it would not fit. *options* are the engine's: by default
    those of the profile `standard`; one that a window makes no use of is refused.
    """

    def __init__(
        self,
        *,
        model: str | None = None,
        context_limit: int | None = None,
        default_context_limit: int | None = None,
        strategy: Strategy = "fold",
        reserve_output_tokens: int = 2_000,
        max_messages: int = _MAX_MESSAGES,
        keep_results: int | None = None,
        llm: Generate | None = None,
        summarizer: object = None,
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
        **gone: Never,
    ) -> None:
        check_names(gone, type(self).__init__.__kwdefaults__ or ())
        check_choice("strategy", strategy, get_args(Strategy))
        check_whole("max_messages", max_messages)
        _check_effect(
            strategy,
            llm=llm is not None,
            summarizer=summarizer is not None,
            max_messages=max_messages != _MAX_MESSAGES,
        )
        if context_limit is not None and default_context_limit is not None:
            raise ConfigError(
                "default_context_limit has no effect with context_limit: leave one of them out"
            )
        if keep_results is not None:
            check_whole("keep_results", keep_results)
        _check_list("pins", pins)
        pins = Options(pins=tuple(pins)).pins
        _check_list("tools", tools)
        self.strategy: Strategy = strategy
        self._context_tokens, self._max_input = find_window(
            model, context_limit, default_context_limit, registry
        )
        self._reserve = reserve_output_tokens
        self._tools = tuple(tools)
        self._counter = _remembering(counter or counter_for(model))
        _check_options(options)
        writer = _choose_summarizer(llm, summarizer)
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
            pins=pins,
            max_messages=max_messages,
            keep_results=keep_results,
            strict=strict,
        )
        self._known = Known()
        self.available()  # says at once if nothing is left for messages

    def __repr__(self) -> str:
        said = f"strategy={self.strategy!r}, context_limit={self._context_tokens}"
        return f"{type(self).__name__}({said})"

    def get_context_limit(self) -> int:
        """Return the tokens of the whole window."""
        return self._context_tokens

    def available(self, tools: Sequence[Tool] | None = None) -> Available:
        """Return how the window is shared out: answer, tools, margin, messages."""
        if tools is not None:
            _check_list("tools", tools)
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
        history = read_history(Objects().read(messages), None, self._engine)
        return max(0, self.available().available - history.total)

    def fit(self, messages: Sequence[M], tools: Sequence[Tool] | None = None) -> FitResult[M]:
        """Return a list to send: unchanged if it fits, else shortened until it does.

        *tools* are the definitions sent along, if others than those the manager was made with.
        `BudgetError` with `strict=True` if it cannot be made to fit; else `FitResult.fits` says so.
        """
        return self._run(partial(self._fit, messages, tools))

    async def afit(
        self, messages: Sequence[M], tools: Sequence[Tool] | None = None
    ) -> FitResult[M]:
        """Do what `fit` does without blocking the event loop."""
        return await self._arun(partial(self._fit, messages, tools))

    async def enforce_limit(
        self, messages: Sequence[M], tools: Sequence[Tool] | None = None
    ) -> FitResult[M]:
        """Do what `afit` does; the result also has `dropped` and `summarized`."""
        return await self.afit(messages, tools)

    def prepare(self, messages: Wires, tools: Sequence[Tool] | None = None) -> bool:
        """Make the next pass early if a conversation is nearly too long; tell whether it was made.

        Call it in a thread, or `aprepare` in a task, while the model is answering. The next `fit`
        takes it over whole if the conversation still begins the same, and ignores it otherwise.
        """
        return self._run(partial(self._prepare, messages, tools))

    async def aprepare(self, messages: Wires, tools: Sequence[Tool] | None = None) -> bool:
        """Do what `prepare` does without blocking the event loop."""
        return await self._arun(partial(self._prepare, messages, tools))

    def recover(self, messages: Sequence[M], error: object) -> FitResult[M] | None:
        """Fit again after a provider refused *messages* as too long; `None` for other errors.

        What the provider reported replaces what we believed about the window and our counting.
        `BudgetError` if nothing more can be saved, or not enough, or if a window of the size that
        it reported has no room for messages; then nothing is learned.
        """
        return self._run(partial(self._recover, messages, error))

    async def arecover(self, messages: Sequence[M], error: object) -> FitResult[M] | None:
        """Do what `recover` does without blocking the event loop."""
        return await self._arun(partial(self._recover, messages, error))

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

    def _run(self, make: Callable[[Tally], Flow[T]]) -> T:
        tally = Tally()
        return run(make(tally), self._engine.asker, tally)

    async def _arun(self, make: Callable[[Tally], Flow[T]]) -> T:
        tally = Tally()
        return await arun(make(tally), self._engine.asker, tally)

    def _fit(
        self, messages: Sequence[M], tools: Sequence[Tool] | None, tally: Tally
    ) -> Flow[FitResult[M]]:
        wires, objects = self._known.read(check_items(messages))
        attempt = self._fitter.begin(wires, self.available(tools).available)
        result = self._fitter.settle(attempt) or (yield from self._fitter.flow(attempt, tally))
        return objects.give_back(result)

    def _prepare(self, messages: Wires, tools: Sequence[Tool] | None, tally: Tally) -> Flow[bool]:
        wires, available = Objects().read(check_items(messages)), self.available(tools).available
        attempt = self._fitter.begin(wires, available, soft=True)
        if self._fitter.settle(attempt) is not None:
            return False
        return (yield from self._fitter.flow(attempt, tally)) is not attempt.current

    def _recover(
        self, messages: Sequence[M], error: object, tally: Tally
    ) -> Flow[FitResult[M] | None]:
        overflow = parse_overflow(error)
        if overflow is None:
            return None
        objects = Objects()
        wires = objects.read(check_items(messages))
        self._learn(wires, overflow)
        attempt = self._fitter.begin(wires, self.available().available)
        result = None if attempt.is_due else attempt.current
        result = result or (yield from self._fitter.flow(attempt, tally))
        if result.tokens_after >= result.tokens_before:
            result = yield from self._fitter.flow(self._fitter.tighter(attempt), tally)
        return objects.give_back(_smaller(result, overflow))


def _smaller(result: FitResult[Any], overflow: Overflow) -> FitResult[Any]:
    """Return *result* if there is a point in sending it."""
    if result.fits and result.tokens_after < result.tokens_before:
        return result
    why = result.warnings[-1] if result.warnings else overflow.message
    raise BudgetError(f"the provider refused the prompt and no shorter one will do: {why}")


def _choose_summarizer(llm: Generate | None, summarizer: object) -> object:
    """Return the one that is given, told how to write; `None` if none is."""
    if llm is None:
        return summarizer
    if summarizer is not None:
        raise ConfigError("give llm (chat messages to text) or summarizer (text to text), not both")
    return GenerateSummarizer(llm, DEFAULT_COMPRESSION_PROMPT)


def _check_effect(strategy: Strategy, **chosen: bool) -> None:
    """Refuse what was *chosen* and has no effect with *strategy*."""
    for name, is_chosen in chosen.items():
        users: tuple[Strategy, ...]
        users = ("sliding_window",) if name == "max_messages" else ("fold", "summarize")
        if is_chosen and strategy not in users:
            raise ConfigError(
                f"{name} has no effect with strategy={strategy!r}: leave it out, or choose "
                + " or ".join(f"strategy={user!r}" for user in users)
            )


def _check_options(options: object) -> None:
    """Refuse options that would silently be ignored."""
    if not isinstance(options, Options):
        return  # none, or what `combine` refuses
    plain = Options()
    for name, instead in _NOT_USED.items():
        if getattr(options, name) != getattr(plain, name):
            raise ConfigError(f"options.{name} is not used by ContextWindowManager: {instead}")


def _check_list(name: str, items: object) -> None:
    """Refuse what is no list."""
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise ConfigError(f"{name} must be a list, got {items!r}")


def _remembering(counter: TokenCounter) -> TokenCounter:
    """Let *counter* remember; an estimate also learns from what providers report."""
    if isinstance(counter, CalibratedCounter):
        return counter  # its counts change as it learns, so they must not be kept
    kept = RememberingCounter(counter)
    return CalibratedCounter(kept) if is_estimate(counter) else kept
