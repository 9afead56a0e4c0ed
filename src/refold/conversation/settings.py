"""The choices for a window manager: checked when it is made, and what follows from them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

from refold.checks import check_choice, check_whole
from refold.conversation.handover import HANDOVER_PROMPT
from refold.conversation.models import WindowRegistry
from refold.conversation.strategies import Strategy
from refold.errors import ConfigError
from refold.llm.summarizers.generate import DEFAULT_COMPRESSION_PROMPT, Generate, GenerateSummarizer
from refold.options import Options
from refold.plan.untouchable import check_pins
from refold.scan.tokens.choose import CalibratedCounter, is_estimate
from refold.scan.tokens.counter import RememberingCounter, TokenCounter

SummaryFormat = Literal["plain", "handover"]

_NOT_USED: Final[Mapping[str, str]] = {
    "token_budget": "the budget is the window; give context_limit or reserve_output_tokens",
    "compression_threshold": "nothing is done up to high_water, which is a share of the window",
    "strict": "give strict to the manager itself",
    "model": "give model to the manager itself",
    "counter": "give counter to the manager itself",
    "classifier_mode": "a window asks no classifier",
    "trace": "what was done stands in FitResult.steps and in the ids beside it",
}
"""The options of which a window makes no use, and what does their work."""


def choose_summarizer(
    llm: Generate | None, summarizer: object, summary_format: SummaryFormat
) -> object:
    """Return the one that is given, told how to write; `None` if none is."""
    check_choice("summary_format", summary_format, get_args(SummaryFormat))
    if llm is None:
        return summarizer
    if summarizer is not None:
        raise ConfigError("give llm (chat messages to text) or summarizer (text to text), not both")
    is_handover = summary_format == "handover"
    return GenerateSummarizer(llm, HANDOVER_PROMPT if is_handover else DEFAULT_COMPRESSION_PROMPT)


def check_choices(
    strategy: object, max_messages: object, keep_results: object, pins: Sequence[object]
) -> None:
    """Refuse what can never work."""
    check_choice("strategy", strategy, get_args(Strategy))
    check_whole("max_messages", max_messages)
    if keep_results is not None:
        check_whole("keep_results", keep_results)
    check_list("pins", pins)
    check_pins(pins)


def check_options(options: object) -> None:
    """Refuse options that would silently be ignored."""
    if not isinstance(options, Options):
        return  # none, or what `combine` refuses
    plain = Options()
    for name, instead in _NOT_USED.items():
        if getattr(options, name) != getattr(plain, name):
            raise ConfigError(f"options.{name} is not used by ContextWindowManager: {instead}")


def check_list(name: str, items: object) -> None:
    """Refuse what is no list."""
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise ConfigError(f"{name} must be a list, got {items!r}")


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


def remembering(counter: TokenCounter) -> TokenCounter:
    """Let *counter* remember; an estimate also learns from what providers report."""
    if isinstance(counter, CalibratedCounter):
        return counter  # its counts change as it learns, so they must not be kept
    kept = RememberingCounter(counter)
    return CalibratedCounter(kept) if is_estimate(counter) else kept
