"""All choices of a compression manager: frozen, validated, no logic."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any, Final, Self

from refold.agent.policy import Policies, ToolPolicy
from refold.errors import ConfigError
from refold.events import Listener
from refold.stores.base import Store
from refold.summarizers.cached import Cache
from refold.summarizers.generate import DEFAULT_COMPRESSION_PROMPT
from refold.summarizers.limited import Limiter
from refold.summarizers.redacting import SecretFinder
from refold.tokens.counter import TokenCounter
from refold.tokens.estimate import estimate_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerOptions:
    """What a `CompressionManager` can be told; every name is a keyword of it too."""

    compress_tool_results: bool = True
    """Whether tool results are shortened, and counted."""
    compress_tool_results_limit: int = 3
    """So many tool results without a short form are a reason to compress."""
    compress_token_limit: int = 0
    """A message of more tokens is a reason to compress; 0 turns this off. Managers of this kind in
    other libraries begin at 4,096: give that number to get what they do."""
    compress_context_limit: int | None = None
    """So many tokens in all are a reason to compress."""
    prompt: str = DEFAULT_COMPRESSION_PROMPT
    """The instructions for the model."""
    debug: bool = False
    """Whether to log what becomes of every text, with `logging`, as `refold.agent`."""
    policies: Policies | Mapping[str, ToolPolicy] = field(default_factory=Policies)
    """What may be done with the results of which tool."""
    keep_recent: int = 0
    """The newest results that stay as they are, on top of those the model has not seen yet."""
    min_tokens: int = 40
    """Shorter texts are left alone."""
    min_saving: float = 0.1
    """The share of tokens that a short form has to save, with everything that is added to it."""
    expected_uses: float = 20.0
    """About how often a text will be sent again: a model is asked only if that pays."""
    price_factor: float = 1.0
    """What the summarizing model costs, compared with the one that reads the short forms."""
    cool_down_seconds: float = 300.0
    """How long a text is left alone after the model failed on it."""
    pass_seconds: float | None = None
    """When a pass stops waiting for the model and goes on without it."""
    call_seconds: float = 120.0
    """How long one call of the model may take."""
    max_concurrent: int | Limiter = 4
    """Calls under way at once; a `Limiter` is a limit over all managers that have it."""
    summarizer_window_tokens: int | None = None
    """Longer texts are given to the model in pieces."""
    price_per_million_input: float = 0.0
    price_per_million_output: float = 0.0
    """What the summarizing model costs, in US dollars, if it does not say so itself."""
    price_per_million: float | None = None
    """What the model that reads the conversation costs per million tokens of input, in US dollars:
    then reports say how much money the short forms save. No price is known unless it is given."""
    cache: Cache | None = None
    """Where answers are kept, such as a `SqliteCache`; in memory if there is none."""
    cache_version: str = ""
    """Names the model behind `generate` in the cache: another name, other answers."""
    find_secrets: SecretFinder | None = None
    """Finds what must not be sent to the model, instead of `refold.summarizers.redacting`."""
    counter: TokenCounter = estimate_tokens
    store: Store | None = None
    """Keeps originals; short forms then say under which handle they can be fetched."""
    on_event: Listener | None = None
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        for name in ("compress_tool_results", "debug"):
            self._check(name, isinstance(getattr(self, name), bool), "True or False")
        for name, least in _WHOLE.items():
            value = getattr(self, name)
            is_off = value is None and name in _MAY_BE_NONE
            self._check(name, is_off or _is_whole(value, least), f"a whole number from {least} on")
        for name, (low, high) in _NUMBERS.items():
            value = getattr(self, name)
            is_off = value is None and name in _MAY_BE_NONE
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            is_good = is_off or (is_number and low <= value < high)
            self._check(name, is_good, f"a number from {low} to below {high}")
        is_limit = isinstance(self.max_concurrent, Limiter) or _is_whole(self.max_concurrent, 1)
        self._check("max_concurrent", is_limit, "a whole number from 1 on, or a Limiter")
        is_text = isinstance(self.prompt, str) and bool(self.prompt.strip())
        self._check("prompt", is_text, "a text that is not empty")
        self._check("cache_version", isinstance(self.cache_version, str), "a text")
        for name, kind in (("store", Store), ("cache", Cache)):
            value = getattr(self, name)
            is_good = value is None or isinstance(value, kind)
            self._check(name, is_good, "something with put and get")
        for name in ("counter", "clock", "on_event", "find_secrets"):
            value = getattr(self, name)
            is_off = value is None and name in _MAY_BE_NONE
            self._check(name, is_off or callable(value), "callable")
        if not isinstance(self.policies, Policies):
            object.__setattr__(self, "policies", Policies(self.policies))

    @property
    def tool_policies(self) -> Policies:
        """The policies, also where a plain mapping was given for them."""
        assert isinstance(self.policies, Policies), "made so when the options were checked"
        return self.policies

    def _check(self, name: str, is_good: bool, wanted: str) -> None:
        if not is_good:
            raise ConfigError(f"{name} must be {wanted}, got {getattr(self, name)!r}")

    @classmethod
    def of(cls, choices: Mapping[str, Any]) -> Self:
        """Make options from keywords, naming the nearest option when one is unknown."""
        known = [option.name for option in fields(cls)]
        for name in choices:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise ConfigError(f"unknown option {name!r}{hint}")
        return cls(**choices)


_WHOLE: Final = {
    "compress_tool_results_limit": 1,
    "compress_token_limit": 0,
    "compress_context_limit": 1,
    "keep_recent": 0,
    "min_tokens": 0,
    "summarizer_window_tokens": 1,
}
"""Whole numbers, and the least that each may be."""

_NUMBERS: Final = {
    "min_saving": (0, 1),
    "expected_uses": (0, math.inf),
    "price_factor": (0, math.inf),
    "cool_down_seconds": (0, math.inf),
    "pass_seconds": (0, math.inf),
    "call_seconds": (1e-9, math.inf),
    "price_per_million_input": (0, math.inf),
    "price_per_million_output": (0, math.inf),
    "price_per_million": (0, math.inf),
}
"""Numbers, and what each may be from and has to be below."""

_MAY_BE_NONE: Final = frozenset(
    "compress_context_limit summarizer_window_tokens pass_seconds price_per_million on_event "
    "find_secrets".split()
)


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
