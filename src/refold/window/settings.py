"""The choices for a window manager: checked when it is made, and what follows from them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from refold.agent.caches import RememberingCounter
from refold.checks import check_choice, check_whole
from refold.errors import ConfigError
from refold.llm.summarizers.generate import DEFAULT_COMPRESSION_PROMPT, Generate, GenerateSummarizer
from refold.options import Options
from refold.plan.untouchable import check_pins
from refold.scan.tokens.choose import CalibratedCounter, is_estimate
from refold.scan.tokens.counter import TokenCounter
from refold.window.handover import HANDOVER_PROMPT
from refold.window.models import WindowRegistry
from refold.window.strategies import Strategy

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
_LOW_WATER: Final = 0.7
"""Low water as a share of high water. Tuned on `bench/attacks/growth.py` and `bench/loop.py`: at
0.8 a history of messages of 1 kB is folded at every sixth turn, and digests of digests make the
store of a view that is fed back more than twice the conversation; lower wastes more of the window.
"""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowThresholds:
    """High and low water as shares of the tokens that messages may have.

    Rewriting a prompt costs its cached prefix, so it is done seldom and in batches.
    """

    high_water: float = 1.0
    """Act when a conversation has grown beyond this share."""
    low_water: float = _LOW_WATER
    """Bring it down to this share, so that the next turns fit too."""
    prepare_at: float = (1.0 + _LOW_WATER) / 2
    """Prepare in the background from this share on."""
    clear_at_least: int = 0
    """Tokens that acting must save: less is not worth a changed prefix, unless it must fit."""
    max_passes: tuple[int, int] | None = None
    """So many passes in so many turns at most, `(1, 5)` one in five, unless it must fit."""

    @classmethod
    def of(
        cls,
        high_water: object,
        low_water: object,
        prepare_at: object,
        clear_at_least: int,
        max_passes: object = None,
    ) -> WindowThresholds:
        """Check the shares; those that are `None` follow from the others."""
        high = _share("high_water", high_water)
        low = _share("low_water", _LOW_WATER * high if low_water is None else low_water)
        soft = _share("prepare_at", (low + high) / 2 if prepare_at is None else prepare_at)
        if not low <= soft <= high:
            raise ConfigError(
                "low_water, prepare_at and high_water must not fall, "
                f"got low_water={low!r}, prepare_at={soft!r}, high_water={high!r}"
            )
        check_whole("clear_at_least", clear_at_least)
        return cls(
            high_water=high,
            low_water=low,
            prepare_at=soft,
            clear_at_least=clear_at_least,
            max_passes=_rate(max_passes),
        )

    def target(self, total: int, available: int) -> int:
        """Return the tokens to aim at when *total* do not fit or are too close to it."""
        return max(1, min(int(self.low_water * available), total - self.clear_at_least))

    def is_spent(self, made_at: Iterable[int], turn: int) -> bool:
        """Tell whether no more passes may be made at *turn*, after those at the turns *made_at*."""
        if self.max_passes is None:
            return False
        most, turns = self.max_passes
        return sum(turn - made < turns for made in made_at) >= most


def _rate(value: object) -> tuple[int, int] | None:
    if value is None:
        return None
    match value:
        case (int(most), int(turns)) if most >= 1 and turns >= 1:
            return most, turns
    raise ConfigError(f"max_passes must be two whole numbers above 0, (1, 5); got {value!r}")


def _share(name: str, value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        raise ConfigError(f"{name} must be above 0 and at most 1, got {value!r}")
    return float(value)
