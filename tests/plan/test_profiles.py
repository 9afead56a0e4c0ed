"""What `profile="standard"` and `profile="lossless"` promise to whoever calls `compress`."""

from __future__ import annotations

import asyncio
import copy
import re
from collections.abc import Iterable
from typing import Any

import pytest
from anthropic.types import MessageParam
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from refold import (
    BudgetError,
    ConfigError,
    Result,
    acompress,
    compress,
)
from tests.conversations import (
    Conversation,
    Wire,
    anthropic,
    openai_chat,
    spelled,
    texts_of,
)
from tests.plan.ladder.promise import (
    assert_figures,
    assert_kept,
    assert_restored,
    kept_indices,
    smallest,
    tokens_of,
    words,
)
from tests.plan.runs import (
    COUNTERS,
    agent_runs,
    anthropic_call,
    assert_pairs,
    call,
    runs,
    shares,
    source_code,
    squeeze,
    untouchable,
)

counters = st.sampled_from(COUNTERS)
YIELDING = ("first_task", "last_user_message")


# the budget


@given(runs(), shares, counters)
def test_it_fits_or_what_must_stay_does_not(
    messages: Conversation, share: float, counting: dict[str, Any]
) -> None:
    result = squeeze(messages, share, **counting)
    assert result.budget is not None
    if not result.fits:
        kept = list(kept_indices(messages))
        floor = smallest(messages, kept, lambda some: tokens_of(some, **counting))
        assert floor > result.budget.token_budget


@given(runs(), st.integers(2, 40), shares)
def test_a_task_or_a_question_that_is_too_big_does_not_prevent_it(
    messages: Conversation, times: int, share: float
) -> None:
    huge = {"role": "user", "content": "Please mind the harbour rules. " * 100 * times}
    said = [huge, *messages, dict(huge)]
    result = squeeze(said, share, counter=words)
    assert result.budget is not None
    if not result.fits:
        firm = [index for index, why in untouchable(said).items() if why not in YIELDING]
        floor = smallest(said, firm, lambda some: tokens_of(some, counter=words))
        assert floor > result.budget.token_budget


@given(runs(), shares, counters)
def test_the_figures_are_those_of_the_messages(
    messages: Conversation, share: float, counting: dict[str, Any]
) -> None:
    result = squeeze(messages, share, **counting)
    assert result.tokens_after <= result.tokens_before
    assert result.fits == (tokens_of(result.messages, **counting) <= result.budget.token_budget)  # type: ignore[union-attr]
    assert_figures(messages, result, **counting)


@given(runs(), shares)
def test_a_strict_budget_is_kept_or_refused(messages: Conversation, share: float) -> None:
    relaxed = squeeze(messages, share, counter=words)
    if relaxed.fits:
        strict = squeeze(messages, share, counter=words, strict=True)
        assert spelled(strict.messages) == spelled(relaxed.messages)
    else:
        with pytest.raises(BudgetError):
            squeeze(messages, share, counter=words, strict=True)


def test_a_refusal_names_what_is_in_the_way() -> None:
    rules = {"role": "system", "content": "Mind the harbour rules. " * 50}
    messages = [rules, {"role": "user", "content": "Go on."}]
    messages += call(1, "read", {}, source_code(1))
    with pytest.raises(BudgetError, match=r"messages\[0\]"):
        compress(messages, profile="standard", token_budget=50, strict=True)


@given(runs(), counters, st.integers(0, 50))
def test_room_enough_changes_nothing(
    messages: Conversation, counting: dict[str, Any], spare: int
) -> None:
    total = int(1.1 * tokens_of(messages, **counting)) + 1 + spare
    result = compress(messages, profile="standard", token_budget=total, **counting)
    assert spelled(result.messages) == spelled(messages)
    assert result.verbatim == {}


# what stays


@given(runs(), shares, st.sampled_from((0, 1, 3)))
def test_what_must_stay_stays_word_for_word(
    messages: Conversation, share: float, window: int
) -> None:
    result = squeeze(messages, share, min_recency_window=window)
    recent = set(range(len(messages) - window, len(messages)))
    kept = kept_indices(messages, window=window)
    firm = [index for index, why in kept.items() if why not in YIELDING or index in recent]
    assert_kept(messages, result, firm)


@given(runs(), shares)
def test_a_preserved_pattern_stays_word_for_word(messages: Conversation, share: float) -> None:
    pattern = re.compile(r"Maria Lopez|queue_3|\[\{")
    result = squeeze(messages, share, preserve_patterns=[pattern])
    kept = kept_indices(messages, pattern=pattern)
    assert_kept(messages, result, [i for i, why in kept.items() if why not in YIELDING])


@given(runs(), shares)
def test_a_preserved_role_stays_word_for_word(messages: Conversation, share: float) -> None:
    result = squeeze(messages, share, preserve=("system", "tool"))
    kept = [i for i, m in enumerate(messages) if m["role"] in ("system", "developer", "tool")]
    assert_kept(messages, result, kept)


@given(runs(), shares)
def test_without_leave_to_converge_nothing_is_lost(messages: Conversation, share: float) -> None:
    result = squeeze(messages, share, force_converge=False, trace=True)
    assert {entry.action for entry in result.decisions} <= {"preserved", "recoded"}
    assert len(result.messages) == len(messages)


@pytest.mark.parametrize("budget", [60, 100, 200])
def test_the_users_last_words_beside_results_are_kept(budget: int) -> None:
    messages: Conversation = [{"role": "user", "content": "Fix it."}]
    for n in range(6):
        messages += anthropic_call(n, "read", {"path": f"m{n}.py"}, source_code(n))
    said = "And please rename the queue to zanzibar as well, thank you."
    messages[-1]["content"].append({"type": "text", "text": said})
    messages.append({"role": "assistant", "content": source_code(9)})
    result = compress(messages, profile="standard", counter=words, token_budget=budget)
    assert result.fits
    assert said in [text for message in result.messages for text in texts_of(message)]


# structure


@given(runs(), shares)
def test_calls_and_results_stay_together_and_in_order(messages: Conversation, share: float) -> None:
    assert_pairs(messages, squeeze(messages, share).messages)


_OPENAI: TypeAdapter[Any] = TypeAdapter(ChatCompletionMessageParam)
_ANTHROPIC: TypeAdapter[Any] = TypeAdapter(MessageParam)


def assert_valid(adapter: TypeAdapter[Any], messages: Conversation) -> None:
    for message in messages:
        read = adapter.validate_python(message)
        for value in read.values():
            if isinstance(value, Iterable) and not isinstance(value, str | bytes | dict):
                list(value)


@given(openai_chat(), shares, st.sampled_from(("standard", "lossless")))
def test_messages_stay_valid_for_openai(messages: Conversation, share: float, profile: str) -> None:
    result = squeeze(messages, share, profile=profile)
    assert_valid(_OPENAI, result.messages)
    assert all(message["role"] in ("system", "developer", "user", "assistant", "tool")
               for message in result.messages)  # fmt: skip


@given(anthropic(), shares, st.sampled_from(("standard", "lossless")))
def test_messages_stay_valid_for_anthropic(
    messages: Conversation, share: float, profile: str
) -> None:
    result = squeeze(messages, share, profile=profile)
    assert_valid(_ANTHROPIC, result.messages)
    assert {message["role"] for message in result.messages} <= {"user", "assistant"}


@pytest.mark.parametrize("budget", [90, 150])
def test_records_that_no_model_sees_only_travel_along(budget: int) -> None:
    def record(number: int, role: str, content: object) -> Wire:
        turn = {"role": role, "content": content}
        return {"type": role, "uuid": f"u{number}", "message": turn}

    records: Conversation = [
        {"type": "summary", "summary": "Fixing the queue", "leafUuid": "u9"},
        record(0, "user", "Fix the queue."),
    ]
    for n in range(5):
        steps = anthropic_call(n, "read", {"path": f"m{n}.py"}, source_code(n))
        records += [
            record(10 * n + k, step["role"], step["content"]) for k, step in enumerate(steps)
        ]
        records.append({"type": "file-history-snapshot", "messageId": f"h{n}"})
    result = compress(records, profile="standard", counter=words, token_budget=budget)
    assert result.fits
    assert result.tokens_after < result.tokens_before
    assert result.messages[0] == records[0]
    assert result.messages[-1] == records[-1]
    assert_restored(records, result)


def test_a_question_that_is_a_picture_is_never_cut() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://tide.test/gauge.png"}}
    question: Wire = {"role": "user", "content": [picture]}
    asked: Wire = {"role": "user", "content": "Fix the queue."}
    steps = [step for n in range(5) for step in call(n, "read", {}, source_code(n))]
    result = compress([asked, *steps, question], profile="standard", token_budget=900)
    assert not result.fits
    assert result.messages[-1] == question
    assert result.budget is not None
    assert result.budget.obstacles[0].reason == "user_turn"


# the caller


@given(runs(), shares, st.sampled_from(("standard", "lossless")))
def test_the_callers_messages_are_neither_changed_nor_shared(
    messages: Conversation, share: float, profile: str
) -> None:
    before = copy.deepcopy(messages)
    result = squeeze(messages, share, profile=profile)
    assert spelled(messages) == spelled(before)
    for message in result.messages:
        message["content"] = "changed"
        message["role"] = "changed"
    assert spelled(messages) == spelled(before)


@given(runs(), shares, st.sampled_from(("standard", "lossless")))
def test_same_input_same_bytes(messages: Conversation, share: float, profile: str) -> None:
    once, again = (
        squeeze(some, share, profile=profile, trace=True)
        for some in (messages, copy.deepcopy(messages))
    )
    assert spelled(once.messages) == spelled(again.messages)
    assert spelled(once.verbatim) == spelled(again.verbatim)
    assert once.compression == again.compression
    assert once.budget == again.budget


@given(agent_runs(), shares)
def test_async_gives_the_same(messages: Conversation, share: float) -> None:
    budget = int(share * tokens_of(messages))
    result = compress(messages, profile="standard", token_budget=budget)
    twin: Result = asyncio.run(acompress(messages, profile="standard", token_budget=budget))
    assert spelled(twin.messages) == spelled(result.messages)
    assert twin.verbatim == result.verbatim


@given(runs(), shares, st.sampled_from(("standard", "lossless")))
def test_every_text_has_one_decision(messages: Conversation, share: float, profile: str) -> None:
    result = squeeze(messages, share, profile=profile, trace=True)
    told = {entry.message_index for entry in result.decisions}
    assert told == set(range(len(messages)))
    assert all(entry.reason for entry in result.decisions)


def test_a_profile_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ConfigError, match="profile must be one of standard, lossless, classic"):
        compress([], profile="fast")  # type: ignore[arg-type]


@pytest.mark.parametrize("profile", ["standard", "lossless"])
@pytest.mark.parametrize("budget", [None, 0, 100])
def test_nothing_and_next_to_nothing(profile: Any, budget: int | None) -> None:
    for messages in ([], [{"role": "user", "content": ""}], [{"role": "user", "content": None}]):
        result = compress(messages, profile=profile, token_budget=budget)
        assert result.messages == messages


@pytest.mark.campaign
@pytest.mark.parametrize(
    "unit", [".", "/", "a.", "[", "{", '"', "\n", "数", "ERROR\n", "a,b\n", "👩‍👩‍👧‍👦", "\ud800"]
)
def test_hostile_texts_take_linear_time(unit: str) -> None:
    """With a step that is quadratic this would take minutes."""
    text = unit * (120_000 // len(unit))
    messages = [{"role": "user", "content": "Go on."}, *call(1, "run", {}, text)]
    messages += [{"role": "assistant", "content": text}, {"role": "user", "content": "And?"}]
    result = squeeze(messages, 0.2)
    assert_restored(messages, result)
