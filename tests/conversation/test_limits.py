"""What is left of a window for messages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.conversation.limits import (
    ANTHROPIC_TOOLS_OVERHEAD,
    TOOL_OVERHEAD,
    TOOLS_OVERHEAD,
    available_tokens,
    count_tools,
)
from refold.errors import ConfigError
from refold.scan.tokens.estimate import estimate_tokens
from refold.scan.tokens.exact import ExactCounter

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Where to look"}},
    "required": ["city"],
}
CHAT: dict[str, Any] = {
    "type": "function",
    "function": {"name": "weather", "description": "Tell the weather", "parameters": SCHEMA},
}
RESPONSES: dict[str, Any] = {"type": "function", **CHAT["function"]}
ANTHROPIC: dict[str, Any] = {
    "name": "weather",
    "description": "Tell the weather",
    "input_schema": SCHEMA,
}


def words(text: str) -> int:
    return len(text.split())


def test_the_parts_add_up() -> None:
    shares = available_tokens(
        128_000, tools=[CHAT], count_tokens=estimate_tokens, safety_factor=1.1
    )
    assert shares.output == 2_000
    assert shares.margin == 126_000 - int(126_000 / 1.1)
    assert shares.output + shares.tools + shares.margin + shares.available == 128_000


def test_without_tools_nothing_is_kept_for_them() -> None:
    shares = available_tokens(10_000, count_tokens=words, safety_factor=1)
    assert (shares.tools, shares.margin, shares.available) == (0, 0, 8_000)


def test_only_an_estimate_needs_a_margin() -> None:
    assert available_tokens(10_000, count_tokens=estimate_tokens).margin > 0
    assert available_tokens(10_000, count_tokens=ExactCounter("o200k_base")).margin == 0


@pytest.mark.parametrize(
    ("tool", "overhead"),
    [
        (CHAT, TOOLS_OVERHEAD),
        (RESPONSES, TOOLS_OVERHEAD),
        (ANTHROPIC, ANTHROPIC_TOOLS_OVERHEAD),
        ({**ANTHROPIC, "cache_control": {"type": "ephemeral"}}, ANTHROPIC_TOOLS_OVERHEAD),
    ],
)
def test_a_tool_costs_what_its_schema_costs(tool: dict[str, Any], overhead: int) -> None:
    count = count_tools([tool], estimate_tokens)
    least = sum(map(estimate_tokens, ("weather", "Tell the weather", "Where to look")))
    assert count > least + TOOL_OVERHEAD + overhead
    assert count < 100 + TOOL_OVERHEAD + overhead


def test_a_longer_schema_costs_more() -> None:
    long = {**ANTHROPIC, "description": "Tell the weather. " * 500}
    assert count_tools([long], estimate_tokens) > count_tools([ANTHROPIC], estimate_tokens) + 1_000


def test_a_shorter_prompt_limit_is_kept() -> None:
    shares = available_tokens(
        400_000, max_input_tokens=272_000, count_tokens=words, safety_factor=1
    )
    assert (shares.output, shares.available) == (128_000, 272_000)


@pytest.mark.parametrize(
    ("context", "options", "part"),
    [
        (2_000, {"reserve_output_tokens": 5_000}, "the output reserve of 5000"),
        (2_000, {}, "the output reserve of 2000"),
        (
            1_000,
            {"reserve_output_tokens": 10, "tools": [CHAT] * 200},
            r"the tool definitions.*fewer tools \(the biggest is 'weather'",
        ),
        (
            100,
            {"reserve_output_tokens": 1, "safety_factor": 1_000},
            "the safety margin.*safety_factor",
        ),
    ],
)
def test_the_part_that_is_too_big_is_named(
    context: int, options: dict[str, Any], part: str
) -> None:
    with pytest.raises(ConfigError, match=part):
        available_tokens(context, count_tokens=words, **options)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"context_tokens": 0}, "context_tokens"),
        ({"context_tokens": True}, "context_tokens"),
        ({"reserve_output_tokens": -1}, "reserve_output_tokens"),
        ({"max_input_tokens": 0}, "max_input_tokens"),
        ({"safety_factor": 0.5}, "safety_factor"),
        ({"safety_factor": float("nan")}, "safety_factor"),
        ({"safety_factor": float("inf")}, "safety_factor"),
        ({"tools": [words]}, r"tools\[0\] must be the definition"),
        ({"tools": [CHAT, {"name": {1, 2}}]}, r"tools\[1\] cannot be sent as JSON"),
    ],
)
def test_what_can_never_work_is_refused(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        available_tokens(**{"context_tokens": 100_000, "count_tokens": words, **options})


@given(
    context=st.integers(1, 2_000_000),
    output=st.integers(0, 200_000),
    tools=st.integers(0, 5),
    factor=st.floats(1, 3),
)
def test_the_parts_always_add_up_or_it_is_an_error(
    context: int, output: int, tools: int, factor: float
) -> None:
    try:
        shares = available_tokens(
            context,
            reserve_output_tokens=output,
            tools=[CHAT] * tools,
            count_tokens=words,
            safety_factor=factor,
        )
    except ConfigError:
        return
    assert shares.available > 0
    assert shares.output + shares.tools + shares.margin + shares.available == context
    assert (shares.available + shares.tools) * factor <= context - output + 1
