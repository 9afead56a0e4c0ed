"""How much of a window messages may have, and from how much on they are folded, and how far.

A window is shared by the answer, the tools, a margin for estimates, and the messages. High and low
water are shares of what is left for these.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from refold.checks import check_number, check_whole
from refold.errors import ConfigError
from refold.scan.tokens.choose import is_estimate
from refold.scan.tokens.counter import ForgivingCounter, TokenCounter
from refold.scan.tokens.estimate import SAFETY_FACTOR, estimate_tokens

if TYPE_CHECKING:
    from refold.conversation.models import WindowRegistry

Tool = Mapping[str, object]
"""The definition of a tool as it is sent: the shape of OpenAI, Anthropic or Gemini."""

TOOL_OVERHEAD: Final = 12
"""Tokens that frame one tool, rounded up."""

TOOLS_OVERHEAD: Final = 16
"""Tokens that frame the list of tools with OpenAI and its kin, rounded up."""

ANTHROPIC_TOOLS_OVERHEAD: Final = 530
"""Tokens of the system prompt Anthropic adds to a request with tools: 159 to 530 by model."""
_LOW_WATER: Final = 0.7
"""Low water as a share of high water. Tuned on `bench/attacks/growth.py` and `bench/loop.py`: at
0.8 a history of messages of 1 kB is folded at every sixth turn, and digests of digests make the
store of a view that is fed back more than twice the conversation; lower wastes more of the window.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Available:
    """How a window is divided; the four parts add up to `context_tokens`."""

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
    """Divide a window; raise `ConfigError` if nothing is left for messages.

    *safety_factor* is by how much *count_tokens* may be too low, 1 for an exact counter; by default
    it is 1.1 for an estimate and 1 for everything else. *max_input_tokens* is for models that take
    shorter prompts than their window (`Window.max_input_tokens`).
    """
    check_whole("context_tokens", context_tokens, least=1)
    check_whole("reserve_output_tokens", reserve_output_tokens, least=0)
    if max_input_tokens is not None:
        check_whole("max_input_tokens", max_input_tokens, least=1)
    if safety_factor is None:
        safety_factor = SAFETY_FACTOR if is_estimate(count_tokens) else 1.0
    check_number("safety_factor", safety_factor, least=1)

    closed = context_tokens - max_input_tokens if max_input_tokens is not None else 0
    output = max(reserve_output_tokens, closed)
    costs = _tool_costs(tools, count_tokens)
    tools_cost = _with_frame(tools, costs)
    prompt = context_tokens - output
    margin = max(0, prompt - math.floor(prompt / safety_factor))
    left = prompt - margin - tools_cost
    if left > 0:
        return Available(
            context_tokens=context_tokens,
            output=output,
            tools=tools_cost,
            margin=margin,
            available=left,
        )
    largest = ""
    if costs:
        index = costs.index(max(costs))
        name = _definition(tools[index]).get("name", f"tools[{index}]")
        largest = f" (the biggest is {name!r} with {costs[index]})"
    parts = {
        "the output reserve": (output, "lower reserve_output_tokens"),
        "the tool definitions": (tools_cost, f"send fewer tools{largest}"),
        "the safety margin": (margin, "lower safety_factor or pass an exact counter"),
    }
    biggest = max(parts, key=lambda part: parts[part][0])
    tokens, advice = parts[biggest]
    spent = ", ".join(f"{part} {tokens}" for part, (tokens, _) in parts.items())
    raise ConfigError(
        f"{biggest} of {tokens} tokens is too big: nothing is left for messages in a window of "
        f"{context_tokens} ({spent}); {advice} or use a larger model"
    )


def count_tools(tools: Sequence[Tool], count_tokens: TokenCounter) -> int:
    """Return how many tokens the definitions of *tools* take, framing included."""
    return _with_frame(tools, _tool_costs(tools, count_tokens))


def _with_frame(tools: Sequence[Tool], costs: Sequence[int]) -> int:
    if any("input_schema" in tool for tool in tools):
        return sum(costs) + ANTHROPIC_TOOLS_OVERHEAD
    return sum(costs) + (TOOLS_OVERHEAD if tools else 0)


def _tool_costs(tools: Sequence[Tool], count_tokens: TokenCounter) -> list[int]:
    costs: list[int] = []
    count = ForgivingCounter(count_tokens, estimate_tokens)
    for index, tool in enumerate(tools):
        if not isinstance(tool, Mapping):
            kind = type(tool).__name__
            raise ConfigError(f"tools[{index}] must be the definition that is sent, got {kind}")
        try:
            text = json.dumps(_definition(tool), ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise ConfigError(f"tools[{index}] cannot be sent as JSON: {error}") from error
        costs.append(count(text) + TOOL_OVERHEAD)
    return costs


def _definition(tool: Tool) -> Tool:
    """Return what the model sees of *tool*: not the envelope around it, nor cache marks."""
    function = tool.get("function")
    inner = function if isinstance(function, Mapping) else tool
    return {key: value for key, value in inner.items() if key != "cache_control"}


def find_window(
    model: str | None, limit: int | None, default: int | None, registry: WindowRegistry
) -> tuple[int, int | None]:
    """Return the window to work with, and the longest prompt if that is less."""
    for name, value in (("context_limit", limit), ("default_context_limit", default)):
        if value is not None:
            check_whole(name, value, least=1)
    if model is not None and not isinstance(model, str):
        raise ConfigError(f"model must be the name of a model, got {model!r}")
    if limit is not None:
        return limit, None
    if model is None:
        raise ConfigError("give model=… or context_limit=…: a window is never guessed")
    if default is not None and model not in registry:
        # Once, when the manager is made: whoever gave the default knows what it is for.
        warnings.warn(
            f"the context window of model {model!r} is not known; "
            f"default_context_limit={default} is used",
            stacklevel=3,
        )
        return default, None
    window = registry.window_of(model)
    return window.context_tokens, window.max_input_tokens


def read_marks(
    high_water: object, low_water: object, prepare_at: object
) -> tuple[float, float, float]:
    """Check three shares of a window, and return them; those that are `None` follow from the first.

    Above the first a conversation is folded, down to the second; from the third on it may be folded
    in the background.
    """
    high = _share("high_water", high_water)
    low = _share("low_water", _LOW_WATER * high if low_water is None else low_water)
    soft = _share("prepare_at", (low + high) / 2 if prepare_at is None else prepare_at)
    if not low <= soft <= high:
        raise ConfigError(
            "low_water, prepare_at and high_water must not fall, "
            f"got low_water={low!r}, prepare_at={soft!r}, high_water={high!r}"
        )
    return high, low, soft


def _share(name: str, value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        raise ConfigError(f"{name} must be above 0 and at most 1, got {value!r}")
    return float(value)
