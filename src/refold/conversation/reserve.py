"""The room of a window for messages: less the answer, the tools and a margin for estimates."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from refold.checks import check_number, check_whole
from refold.errors import ConfigError
from refold.scan.tokens.choose import is_estimate
from refold.scan.tokens.counter import ForgivingCounter, TokenCounter
from refold.scan.tokens.estimate import SAFETY_FACTOR, estimate_tokens

Tool = Mapping[str, object]
"""The definition of a tool as it is sent: the shape of OpenAI, Anthropic or Gemini."""

TOOL_OVERHEAD: Final = 12
"""Tokens that frame one tool, rounded up."""

TOOLS_OVERHEAD: Final = 16
"""Tokens that frame the list of tools with OpenAI and its kin, rounded up."""

ANTHROPIC_TOOLS_OVERHEAD: Final = 530
"""Tokens of the system prompt Anthropic adds to a request with tools: 159 to 530 by model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Available:
    """How a window is shared out; the four parts add up to `context_tokens`."""

    context_tokens: int
    """The whole window."""
    output: int
    """Kept for the answer, or closed to prompts by the model."""
    tools: int
    """What the definitions of the tools cost."""
    margin: int
    """Kept because tokens are estimated."""
    available: int
    """What messages may use."""


def available_tokens(
    context_tokens: int,
    *,
    reserve_output_tokens: int = 2_000,
    tools: Sequence[Tool] = (),
    count_tokens: TokenCounter,
    safety_factor: float | None = None,
    max_input_tokens: int | None = None,
) -> Available:
    """Share out a window; raise `ConfigError` if nothing is left, and say what is too big.

    *safety_factor* is by how much *count_tokens* may be too low, 1 for an exact counter; by
    default it is 1.1 for an estimate and 1 for everything else. *max_input_tokens* is for models
    that take shorter prompts than their window (`Window.max_input_tokens`).
    """
    check_whole("context_tokens", context_tokens, least=1)
    check_whole("reserve_output_tokens", reserve_output_tokens, least=0)
    if max_input_tokens is not None:
        check_whole("max_input_tokens", max_input_tokens, least=1)
    factor = _factor(safety_factor, count_tokens)

    closed = context_tokens - max_input_tokens if max_input_tokens is not None else 0
    output = max(reserve_output_tokens, closed)
    costs = tuple(_tool_costs(tools, count_tokens))
    tools_cost = sum(costs) + _list_overhead(tools)
    prompt = context_tokens - output
    margin = max(0, prompt - math.floor(prompt / factor))
    shares = Available(
        context_tokens=context_tokens,
        output=output,
        tools=tools_cost,
        margin=margin,
        available=prompt - margin - tools_cost,
    )
    if shares.available < 1:
        raise ConfigError(_complaint(shares, tools, costs))
    return shares


def count_tools(tools: Sequence[Tool], count_tokens: TokenCounter) -> int:
    """Return what the definitions of *tools* cost, framing included."""
    return sum(_tool_costs(tools, count_tokens)) + _list_overhead(tools)


def _factor(asked: float | None, counter: TokenCounter) -> float:
    if asked is None:
        return SAFETY_FACTOR if is_estimate(counter) else 1.0
    check_number("safety_factor", asked, least=1)
    return float(asked)


def _tool_costs(tools: Sequence[Tool], count_tokens: TokenCounter) -> Iterator[int]:
    count = ForgivingCounter(count_tokens, estimate_tokens)
    for index, tool in enumerate(tools):
        if not isinstance(tool, Mapping):
            raise ConfigError(
                f"tools[{index}] must be the definition that is sent, a dict, "
                f"got {type(tool).__name__}"
            )
        try:
            text = json.dumps(_definition(tool), ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise ConfigError(f"tools[{index}] cannot be sent as JSON: {error}") from error
        yield count(text) + TOOL_OVERHEAD


def _definition(tool: Tool) -> Tool:
    """Return what the model sees of *tool*: not the envelope around it, nor cache marks."""
    function = tool.get("function")
    inner = function if isinstance(function, Mapping) else tool
    return {key: value for key, value in inner.items() if key != "cache_control"}


def _list_overhead(tools: Sequence[Tool]) -> int:
    if not tools:
        return 0
    anthropic = any("input_schema" in tool for tool in tools)
    return ANTHROPIC_TOOLS_OVERHEAD if anthropic else TOOLS_OVERHEAD


def _complaint(shares: Available, tools: Sequence[Tool], costs: Sequence[int]) -> str:
    """Say which part leaves no room for messages."""
    parts = {
        "the output reserve": shares.output,
        "the tool definitions": shares.tools,
        "the safety margin": shares.margin,
    }
    biggest = max(parts, key=lambda part: parts[part])
    advice = {
        "the output reserve": "lower reserve_output_tokens",
        "the tool definitions": f"send fewer tools{_biggest_tool(tools, costs)}",
        "the safety margin": "lower safety_factor or pass an exact counter",
    }
    spent = ", ".join(f"{part} {tokens}" for part, tokens in parts.items())
    return (
        f"{biggest} of {parts[biggest]} tokens is too big: nothing is left for messages in a "
        f"window of {shares.context_tokens} ({spent}); {advice[biggest]} or take a larger model"
    )


def _biggest_tool(tools: Sequence[Tool], costs: Sequence[int]) -> str:
    if not costs:
        return ""
    index = max(range(len(costs)), key=costs.__getitem__)
    name = _definition(tools[index]).get("name", f"tools[{index}]")
    return f" (the biggest is {name!r} with {costs[index]})"
