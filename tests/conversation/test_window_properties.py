"""W4: what holds for whatever comes out of a window manager, over random histories."""

from __future__ import annotations

import asyncio
from typing import Any

from anthropic.types import MessageParam
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from refold import uncompress
from refold.conversation import ContextWindowManager
from tests.conversation.histories import STRATEGIES, histories, ordered, violations, words
from tests.conversations import Conversation, anthropic, openai_chat, spelled, without_thinking
from tests.plan.ladder.promise import tokens_of
from tests.properties.test_invariants import assert_valid

quick = settings(
    max_examples=2 * settings().max_examples,  # of all strategies together
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
LIMITS = (40, 120, 300, 900)
_OPENAI: TypeAdapter[Any] = TypeAdapter(list[ChatCompletionMessageParam])
_ANTHROPIC: TypeAdapter[Any] = TypeAdapter(list[MessageParam])


def manager_of(strategy: Any, limit: int, **choices: Any) -> ContextWindowManager:
    choices.setdefault("counter", words)
    if strategy == "sliding_window":
        choices["max_messages"] = 3
    return ContextWindowManager(
        context_limit=limit, reserve_output_tokens=0, strategy=strategy, **choices
    )


def cost(messages: Conversation) -> int:
    return tokens_of(messages, counter=words) if messages else 0


@quick
@given(strategy=st.sampled_from(STRATEGIES), messages=histories(), limit=st.sampled_from(LIMITS))
def test_w04_post_conditions(strategy: str, messages: Conversation, limit: int) -> None:
    before = spelled(messages)
    manager = manager_of(strategy, limit)
    result = manager.fit(messages)
    assert list(violations(messages, result, cost)) == []
    assert ordered(messages, result.messages)
    assert spelled(messages) == before, "the caller's list was changed"
    again = manager.fit(result.messages)
    assert spelled(again.messages) == spelled(result.messages)
    assert again.fits == result.fits
    if result.fits:
        fresh = manager_of(strategy, limit).fit(result.messages)
        assert fresh.steps == (), "it may respell results, which come to it for the first time"
        back = uncompress(fresh.messages, fresh.verbatim).messages
        assert spelled(back) == spelled(result.messages)


@quick
@given(
    strategy=st.sampled_from(STRATEGIES),
    messages=histories(),
    limit=st.sampled_from(LIMITS),
    high=st.sampled_from((0.5, 0.8)),
)
def test_w04_soft_triggers_keep_the_promise(
    strategy: str, messages: Conversation, limit: int, high: float
) -> None:
    manager = manager_of(strategy, limit, high_water=high, clear_at_least=10)
    result = manager.fit(messages)
    assert list(violations(messages, result, cost)) == []
    assert spelled(manager.fit(result.messages).messages) == spelled(result.messages)
    assert spelled(manager.fit(messages).messages) == spelled(result.messages)


@quick
@given(
    strategy=st.sampled_from(STRATEGIES),
    messages=histories(),
    cut=st.integers(1, 8),
    limit=st.sampled_from(LIMITS),
)
def test_w04_a_growing_history_keeps_the_promise(
    strategy: str, messages: Conversation, cut: int, limit: int
) -> None:
    manager = manager_of(strategy, limit)
    manager.prepare(messages[:cut])
    manager.fit(messages[:cut])
    result = manager.fit(messages)
    assert list(violations(messages, result, cost)) == []


@quick
@given(strategy=st.sampled_from(STRATEGIES), messages=histories(), limit=st.sampled_from(LIMITS))
def test_w04_async_gives_the_same(strategy: str, messages: Conversation, limit: int) -> None:
    result = manager_of(strategy, limit).fit(messages)
    twin = asyncio.run(manager_of(strategy, limit).afit(messages))
    assert spelled(twin.messages) == spelled(result.messages)


@quick
@given(strategy=st.sampled_from(STRATEGIES), messages=openai_chat(), limit=st.sampled_from(LIMITS))
def test_w04_openai_accepts_what_comes_out(
    strategy: str, messages: Conversation, limit: int
) -> None:
    assert_valid(_OPENAI, messages)
    assert_valid(_OPENAI, manager_of(strategy, limit).fit(messages).messages)


@quick
@given(strategy=st.sampled_from(STRATEGIES), messages=anthropic(), limit=st.sampled_from(LIMITS))
def test_w04_anthropic_accepts_what_comes_out(
    strategy: str, messages: Conversation, limit: int
) -> None:
    assert_valid(_ANTHROPIC, messages)
    after = manager_of(strategy, limit).fit(messages).messages
    assert_valid(_ANTHROPIC, after)
    assert after[0]["role"] == "user"


@quick
@given(
    strategy=st.sampled_from(STRATEGIES),
    messages=histories(),
    limit=st.sampled_from(LIMITS),
    pick=st.integers(0, 30),
)
def test_w04_what_is_pinned_is_present(
    strategy: str, messages: Conversation, limit: int, pick: int
) -> None:
    pinned = messages[pick % len(messages)]
    wanted = spelled(pinned)
    manager = manager_of(strategy, limit, pins=[lambda message: spelled(message) == wanted])
    result = manager.fit(messages)
    shown = [spelled(without_thinking(message)) for message in result.messages]
    assert spelled(without_thinking(pinned)) in shown
    assert list(violations(messages, result, cost)) == []


@quick
@given(messages=histories(), limit=st.sampled_from((200, 600, 1_500)))
def test_w04_with_estimated_tokens(messages: Conversation, limit: int) -> None:
    manager = ContextWindowManager(context_limit=limit, reserve_output_tokens=0)
    result = manager.fit(messages)
    assume(messages)
    assert list(violations(messages, result, tokens_of)) == []
