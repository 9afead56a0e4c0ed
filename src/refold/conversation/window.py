"""Fit a conversation into a model's window: always valid, and either fitting or saying why not.

A manager is given the whole list every time. It finds the conversation by how the list begins, adds
what is new, and sends what a session would: so what was sent stays until a fold pays or must be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any, Final, Never, TypeVar, get_args

from refold.checks import check_choice, check_names, check_whole
from refold.choices import combine
from refold.conversation.economics import Budget
from refold.conversation.limits import (
    Available,
    Tool,
    available_tokens,
    find_window,
    read_marks,
)
from refold.conversation.models import DEFAULT_REGISTRY, WindowRegistry
from refold.conversation.overflow import Overflow, parse_overflow
from refold.conversation.report import FitResult
from refold.conversation.strategies import StrategyName, strategy_called
from refold.conversation.turns import Turn, Turns, count_messages
from refold.engine import Engine
from refold.errors import BudgetError, ConfigError
from refold.llm.ask import Flow, arun, run
from refold.llm.summarizers.calls import Generate, generating
from refold.messages.formats import check_items
from refold.options import Options, Pin
from refold.result import M
from refold.scan.tokens.choose import CalibratedCounter, counter_for, is_estimate
from refold.scan.tokens.counter import RememberingCounter, TokenCounter
from refold.stores.base import Store

Wires = Sequence[Mapping[str, Any]]
T = TypeVar("T")
Make = Callable[[Turn, int], Flow[T]]
"""Does the work of one call for a turn and the tokens that are available."""
_Tools = Sequence[Tool] | None

_MAX_MESSAGES: Final = 10
"""As many as sliding windows of other libraries keep unless told otherwise."""
_TIGHTER: Final = 0.8
"""A provider that only says "too long" gets a fifth less at each try: smaller steps take more
refused requests, larger ones give away what would have fitted."""
_NOT_USED: Final[Mapping[str, str]] = {
    "token_budget": "the budget is the window; give context_limit or reserve_output_tokens",
    "token_share": "the budget is the window; give context_limit or reserve_output_tokens",
    "compression_threshold": "nothing is done up to high_water, which is a share of the window",
    "strict": "pass strict to the manager itself",
    "model": "pass model to the manager itself",
    "counter": "pass counter to the manager itself",
    "trace": "FitResult.steps and its ids say what was done",
}
"""The options of which a window makes no use, and what does their work."""
_USERS: Final[Mapping[str, tuple[StrategyName, ...]]] = {
    "llm": ("fold", "summarize"),
    "summarizer": ("fold", "summarize"),
    "max_messages": ("sliding_window",),
    "token_budget": ("fold",),
}
"""Which strategies make use of it; with others, it is refused."""


class ContextWindowManager:
    """Makes conversations fit the window of a model.

        manager = ContextWindowManager(model="gpt-5", store=SqliteStore("originals.db"))
        client.chat.completions.create(model="gpt-5", messages=manager.fit(messages).messages)

    No strategy touches system prompts, the first task, the last user message, unanswered tool calls
    and *pins*. Tool results are re-encoded without loss before they are first sent. After that,
    nothing changes until the conversation exceeds *high_water* of what is available, which brings
    it down to *low_water* of it, or until a fold pays, as *token_budget* says (see `Session`; with
    `None` only the window counts).

    - *context_limit*: the window; by default that of *model*. *default_context_limit* is for models
      that refold does not know, and warns.
    - *keep_results*: how many of the newest tool results stay whole as long as they fit.
    - *pass_seconds*: how long to wait for a summarizing model.
    - *max_passes*: `(1, 5)` allows one change in five turns, unless more are needed to fit.
    - *options*: those of the engine, by default those of `standard`.
    """

    def __init__(
        self,
        *,
        model: str | None = None,
        token_budget: str | None = "auto",
        context_limit: int | None = None,
        default_context_limit: int | None = None,
        strategy: StrategyName = "fold",
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
        check_choice("strategy", strategy, get_args(StrategyName))
        check_whole("max_messages", max_messages)
        _check_effect(
            strategy,
            llm=llm is not None,
            summarizer=summarizer is not None,
            max_messages=max_messages != _MAX_MESSAGES,
            token_budget=token_budget != "auto",
        )
        if isinstance(token_budget, int):
            raise ConfigError(
                "token_budget must say when folding pays, such as 'auto'; a number of tokens is "
                f"context_limit={token_budget}"
            )
        if context_limit is not None and default_context_limit is not None:
            raise ConfigError(
                "default_context_limit has no effect with context_limit: leave one of them out"
            )
        if llm is not None and summarizer is not None:
            raise ConfigError(
                "give llm (chat messages to text) or summarizer (text to text), not both"
            )
        if keep_results is not None:
            check_whole("keep_results", keep_results)
        check_whole("clear_at_least", clear_at_least)
        match max_passes:
            case None | (int(), int()) if max_passes is None or min(max_passes) >= 1:
                self._max_passes = max_passes
            case _:
                raise ConfigError(
                    f"max_passes must be two whole numbers above 0, (1, 5); got {max_passes!r}"
                )
        _check_list("pins", pins)
        _check_list("tools", tools)
        for name, instead in _NOT_USED.items() if isinstance(options, Options) else ():
            if getattr(options, name) != getattr(Options(), name):
                raise ConfigError(f"options.{name} is not used by ContextWindowManager: {instead}")
        self.strategy: StrategyName = strategy
        self._strategy = strategy_called(
            strategy, max_messages=max_messages, keep_results=keep_results
        )
        self._context_tokens, self._max_input = find_window(
            model, context_limit, default_context_limit, registry
        )
        self._reserve, self._tools = reserve_output_tokens, tuple(tools)
        self._counter = _remembering(counter or counter_for(model))
        fixed: dict[str, Any] = {"counter": self._counter, "model": model, "strict": strict}
        if isinstance(options, Options):
            pins = (*pins, *options.pins)
            if options.profile == "classic":
                fixed["keep_duplicate"] = "first"  # what was shown need not change then
        self._engine = Engine(
            combine(options, {**fixed, "pins": tuple(pins)}),
            store=store,
            conversation=conversation,
            is_session=True,
            summarizer=summarizer if llm is None else generating(llm),
            pass_seconds=pass_seconds,
        )
        high, low, self._prepare_at = read_marks(high_water, low_water, prepare_at)
        self._budget = Budget(
            way=Budget.of(token_budget).way if strategy == "fold" else None,
            high=high,
            low=low,
            least_gain=clear_at_least,
            is_exact=True,
        )
        self._turns = Turns(self._engine, self._strategy)
        self.available()  # says at once if nothing is left for messages

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}"
            f"(strategy={self.strategy!r}, context_limit={self._context_tokens})"
        )

    def get_context_limit(self) -> int:
        """Return the size of the whole window."""
        return self._context_tokens

    def available(self, tools: Sequence[Tool] | None = None) -> Available:
        """Return how the window is divided: answer, tools, margin, messages."""
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
        """Return how many tokens messages and tools may have together."""
        shares = self.available()
        return shares.available + shares.tools

    def get_remaining_token_budget(self, messages: Wires) -> int:
        """Return how many tokens are left for more messages; never below 0."""
        return max(0, self.available().available - self._count(messages))

    def fit(self, messages: Sequence[M], tools: Sequence[Tool] | None = None) -> FitResult[M]:
        """Return what to send: unchanged as long as it fits and no fold pays."""
        return self._run(self._fit, messages, tools)

    async def afit(
        self, messages: Sequence[M], tools: Sequence[Tool] | None = None
    ) -> FitResult[M]:
        """Do what `fit` does without blocking the event loop."""
        return await self._arun(self._fit, messages, tools)

    async def enforce_limit(
        self, messages: Sequence[M], tools: Sequence[Tool] | None = None
    ) -> FitResult[M]:
        """Do what `afit` does."""
        return await self.afit(messages, tools)

    def prepare(self, messages: Wires, tools: Sequence[Tool] | None = None) -> bool:
        """Fold early if the conversation is nearly too long; return whether that was done."""
        return self._run(self._prepare, messages, tools)

    async def aprepare(self, messages: Wires, tools: Sequence[Tool] | None = None) -> bool:
        """Do what `prepare` does without blocking the event loop."""
        return await self._arun(self._prepare, messages, tools)

    def recover(self, messages: Sequence[M], error: object) -> FitResult[M] | None:
        """Fit again after a provider rejected *messages* as too long; `None` for other errors."""
        overflow = parse_overflow(error)
        if overflow is None:
            return None
        self._learn(check_items(messages), overflow)
        return self._run(partial(self._recover, overflow), messages)

    async def arecover(self, messages: Sequence[M], error: object) -> FitResult[M] | None:
        """Do what `recover` does without blocking the event loop."""
        overflow = parse_overflow(error)
        if overflow is None:
            return None
        self._learn(check_items(messages), overflow)
        return await self._arun(partial(self._recover, overflow), messages)

    def observe(
        self, messages: Wires, prompt_tokens: int, tools: Sequence[Tool] | None = None
    ) -> None:
        """Learn from the usage that a provider reports for *messages*."""
        if isinstance(self._counter, CalibratedCounter):
            total = self._count(messages) + self.available(tools).tools
            plain = round(total / self._counter.factor)
            self._counter.observe(estimated=plain, reported=prompt_tokens)

    def _count(self, messages: Wires) -> int:
        tokens = self._engine.new_text_cache().tokens
        return count_messages(check_items(messages), tokens, self._engine.options.format)

    def _learn(self, messages: Wires, overflow: Overflow) -> None:
        if overflow.limit is not None:
            limit = min(self._context_tokens, overflow.limit)
            try:
                self._shared_out(limit, self._tools)
            except ConfigError as error:
                raise BudgetError(f"the provider's window is too small: {error}") from error
            self._context_tokens = limit
        self.observe(messages, overflow.prompt or overflow.requested or 0)

    def _run(self, make: Make[T], messages: Sequence[Any], tools: _Tools = None) -> T:
        available = self.available(tools).available
        with self._turns.turn(check_items(messages)) as turn:
            return run(make(turn, available), self._engine.asker, turn.conversation.cursor.tally)

    async def _arun(self, make: Make[T], messages: Sequence[Any], tools: _Tools = None) -> T:
        available = self.available(tools).available
        with ExitStack() as stack:
            held = self._turns.turn(check_items(messages))
            turn = await asyncio.to_thread(stack.enter_context, held)
            tally = turn.conversation.cursor.tally
            return await arun(make(turn, available), self._engine.asker, tally)

    def _budget_of(self, turn: Turn, available: int) -> Budget:
        """Return when to fold, and how far: not now, if that was done often enough lately."""
        budget = replace(self._budget, tokens=available)
        if self._max_passes is None:
            return budget
        most, turns = self._max_passes
        lately = (turn.conversation.turn - at < turns for at in turn.conversation.folded_at)
        return replace(budget, way=None, high=1.0) if sum(lately) >= most else budget

    def _fit(self, turn: Turn, available: int) -> Flow[FitResult[Any]]:
        budget, held = self._budget_of(turn, available), turn.conversation
        held.adopt_early(budget)
        turn.folds = held.cursor.now.folds
        yield from held.send(budget)
        return self._result_of(turn, available)

    def _result_of(self, turn: Turn, available: int) -> FitResult[Any]:
        held = turn.conversation
        if self._max_passes and held.sent.folds != turn.folds:
            held.folded_at = (*held.folded_at, held.turn)
        return turn.result(available)

    def _prepare(self, turn: Turn, available: int) -> Flow[bool]:
        turn.is_sent = False
        size = self._prepare_at * available
        return (yield from turn.conversation.prepare(self._budget_of(turn, available), size))

    def _recover(self, overflow: Overflow, turn: Turn, available: int) -> Flow[FitResult[Any]]:
        held, budget = turn.conversation, self._budget_of(turn, available)
        view = yield from held.send(budget)
        if view.tokens >= turn.tokens:
            tokens = int(_TIGHTER * min(turn.tokens, available))
            yield from held.send_folded(replace(budget, tokens=tokens, low=1.0))
        result = self._result_of(turn, available)
        if result.fits and result.tokens_after < result.tokens_before:
            return result
        why = result.warnings[-1] if result.warnings else overflow.message
        raise BudgetError(f"the provider refused the prompt and no shorter one will do: {why}")


def _check_effect(strategy: StrategyName, **chosen: bool) -> None:
    """Refuse what was *chosen* and has no effect with *strategy*."""
    for name, is_chosen in chosen.items():
        if is_chosen and strategy not in _USERS[name]:
            raise ConfigError(
                f"{name} has no effect with strategy={strategy!r}: leave it out, or choose "
                + " or ".join(f"strategy={user!r}" for user in _USERS[name])
            )


def _check_list(name: str, items: object) -> None:
    """Refuse what is not a list."""
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise ConfigError(f"{name} must be a list, got {items!r}")


def _remembering(counter: TokenCounter) -> TokenCounter:
    """Let *counter* remember; an estimate also learns from what providers report."""
    if isinstance(counter, CalibratedCounter):
        return counter  # its counts change as it learns, so they must not be kept
    kept = RememberingCounter(counter)
    return CalibratedCounter(kept) if is_estimate(counter) else kept
