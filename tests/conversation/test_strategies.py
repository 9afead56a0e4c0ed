"""What every strategy leaves for the model to answer: the end of the conversation, as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refold import uncompress
from refold.conversation import ContextWindowManager, FitResult
from tests.conversation.histories import STRATEGIES, words
from tests.conversation.test_arrival import Provider, thinking_agent
from tests.conversations import SENTENCES, Conversation

WORDS = "Now look into the second crane instead, and nothing else."


def fit(strategy: Any, messages: Conversation, limit: int, **choices: Any) -> FitResult:
    if strategy != "sliding_window":
        choices.pop("max_messages", None)
    manager = ContextWindowManager(
        context_limit=limit, reserve_output_tokens=0, strategy=strategy, counter=words, **choices
    )
    return manager.fit(messages)


def long_text(number: int) -> str:
    return " ".join(f"{SENTENCES[(number + n) % 9]} Note {number}-{n}." for n in range(12))


def uses(number: int, calls: int, query: str = "crane") -> dict[str, Any]:
    blocks = [
        {"type": "tool_use", "id": f"t{number}-{n}", "name": "look", "input": {"query": query}}
        for n in range(calls)
    ]
    return {"role": "assistant", "content": blocks}


def results(number: int, calls: int, *more: dict[str, Any]) -> dict[str, Any]:
    picture = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    inner = [{"type": "text", "text": long_text(number)}, {"type": "image", "source": picture}]
    blocks = [
        {"type": "tool_result", "tool_use_id": f"t{number}-{n}", "content": inner}
        for n in range(calls)
    ]
    return {"role": "user", "content": [*blocks, *more]}


def agent_run(turns: int = 4, *, calls: int = 2, query: str = "crane") -> Conversation:
    """A run in Anthropic's shape that waits for the model to answer to the last results."""
    messages: Conversation = [{"role": "user", "content": "Find out why the crane stands still."}]
    for number in range(turns):
        messages += [uses(number, calls, query), results(number, calls)]
    return messages


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_latest_pictures_and_arguments_go_before_the_latest_results_do(strategy: str) -> None:
    messages = agent_run(query="where the crane stood at night " * 20)
    result = fit(strategy, messages, 400, max_messages=2)
    assert result.fits
    last_call, last_results = result.messages[-2:]
    assert [block["id"] for block in last_call["content"]] == ["t3-0", "t3-1"]
    assert [block["tool_use_id"] for block in last_results["content"]] == ["t3-0", "t3-1"]
    assert "iVBORw0KGgo=" not in json.dumps(last_results)
    back = uncompress(result.messages, result.verbatim).messages
    assert back[-2:] == messages[-2:]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_the_model_is_to_answer_is_no_summary_as_long_as_there_is_room(strategy: str) -> None:
    result = fit(strategy, agent_run(6, calls=1), 2_500)
    assert result.fits
    assert result.messages[-1]["content"][0]["type"] == "tool_result"
    assert result.warnings == ()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_summary_at_the_very_end_is_told(strategy: str) -> None:
    result = fit(strategy, agent_run(2, calls=3), 50, max_messages=2)
    assert result.fits
    assert result.messages[-1]["role"] == "user"
    assert "it ends with a summary" in result.warnings[-1]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_words_beside_results_are_the_last_words_of_the_user(strategy: str) -> None:
    messages = agent_run(3, calls=1)
    messages[4] = results(1, 1, {"type": "text", "text": WORDS})
    result = fit(strategy, messages, 300, max_messages=1)
    assert result.fits
    assert WORDS in json.dumps(result.messages)
    assert {"type": "text", "text": WORDS} in [
        block for message in result.messages for block in message["content"]
    ]


def test_words_beside_results_are_named_where_they_are_in_the_way() -> None:
    messages = [*agent_run(1), uses(1, 1), results(1, 1, {"type": "text", "text": WORDS * 20})]
    result = fit("truncate", messages, 100)
    assert not result.fits
    assert (result.obstacles[0].message_index, result.obstacles[0].reason) == (
        4,
        "last_user_message",
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_costs_nothing_is_not_in_the_way(strategy: str) -> None:
    said = {"role": "user", "content": long_text(1)}
    messages: Conversation = [said, {"type": "item_reference", "id": "m"}, said]
    result = fit(strategy, messages, 20)
    assert not result.fits
    assert {obstacle.message_index for obstacle in result.obstacles} == {0, 2}


def responses_run(turns: int) -> Conversation:
    """Items as they are sent to OpenAI's Responses API: messages need no type there."""
    messages: Conversation = [
        {"role": "developer", "content": "You are the harbour master."},
        {"role": "user", "content": f"Find out why the crane stands still. {long_text(0)}"},
    ]
    for number in range(turns):
        call = {"type": "function_call", "call_id": f"c{number}", "name": "look", "arguments": "{}"}
        answer = {"type": "function_call_output", "call_id": f"c{number}"}
        messages += [call, {**answer, "output": long_text(number)}]
    return [*messages, {"role": "user", "content": [{"type": "input_text", "text": WORDS}]}]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_messages_among_responses_items_are_counted_and_kept(strategy: str) -> None:
    messages = responses_run(5)
    result = fit(strategy, messages, 500, max_messages=3)
    assert result.fits
    assert result.messages[:2] == messages[:2]
    assert result.messages[-1] == messages[-1]
    assert result.tokens_before > sum(words(long_text(number)) for number in (0, *range(5)))
    assert not fit(strategy, messages, 100, max_messages=3).fits, "the task alone is longer"


@pytest.mark.parametrize(
    "strategy",
    ["fold", *(pytest.param(s, marks=pytest.mark.campaign) for s in STRATEGIES if s != "fold")],
)
def test_no_thinking_comes_back_behind_what_has_changed(strategy: Any) -> None:
    """What came before thinking is what was sent when it was thought, at every later pass, too."""
    messages = thinking_agent([(1, 5, 20, 60, 120)[n * n % 17 % 5] for n in range(60)])
    manager = ContextWindowManager(context_limit=3_000, reserve_output_tokens=0, strategy=strategy)
    provider = Provider()
    for n in range(1, len(messages), 2):
        provider.answer(manager.fit(messages[:n]).messages, messages[n])
