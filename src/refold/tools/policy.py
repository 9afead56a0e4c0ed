"""All choices of a compression manager, and what may be done with the results of which tool."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Final, Literal, Self, TypedDict, get_args

from refold.checks import (
    check_choice,
    check_name,
    check_names,
    check_number,
    check_positive,
    check_share,
    check_switch,
    check_whole,
)
from refold.errors import ConfigError
from refold.events import Listener
from refold.llm.summarizers.prompt import DEFAULT_COMPRESSION_PROMPT
from refold.llm.summarizers.stack import Cache, Limiter
from refold.scan.redaction import SecretFinder
from refold.scan.tokens.counter import TokenCounter
from refold.scan.tokens.estimate import estimate_tokens
from refold.stores.base import Store, check_store
from refold.tools.shapes import TextRef

ToolPolicy = Literal["verbatim", "lossless", "never_send", "extractive", "model"]
"""What may be done with a result, the most careful first.

verbatim    it stays as it is
lossless    it may be written shorter only if nothing is lost
never_send  it may be shortened on this machine, but no model is ever shown it
extractive  it may be shortened to some of its own words
model       a model may be asked to write it shorter
"""

_POLICIES: Final[tuple[ToolPolicy, ...]] = get_args(ToolPolicy)
_GLOB: Final = re.compile(r"[*?[]")


@dataclass(frozen=True, slots=True)
class Policies:
    """Policies by tool: exact names first, then globs in order, then the default."""

    rules: Mapping[str, ToolPolicy] = field(default_factory=dict[str, ToolPolicy])
    """Maps names or globs (`read_*`, case-sensitive) to policies."""
    _: KW_ONLY
    default: ToolPolicy = "model"
    errors: ToolPolicy = "verbatim"
    """For failed results, unless the tool's own policy is stricter."""

    def __post_init__(self) -> None:
        if not isinstance(self.rules, Mapping):
            raise ConfigError(
                f"rules must map tool names to policies, got {type(self.rules).__name__}"
            )
        object.__setattr__(self, "rules", dict(self.rules))  # the caller's mapping may change
        for name in self.rules:
            if not isinstance(name, str) or not name:
                raise ConfigError(f"a rule needs the name of a tool or a glob, got {name!r}")
        named = {f"rules[{name!r}]": policy for name, policy in self.rules.items()}
        for name, policy in {**named, "default": self.default, "errors": self.errors}.items():
            check_choice(name, policy, _POLICIES)

    def policy_for(self, result: TextRef) -> ToolPolicy:
        """Return what may be done with *result*."""
        tool, rules = result.tool, self.rules
        globs = (name for name in rules if _GLOB.search(name) and fnmatchcase(tool, name))
        policy = rules.get(tool) or rules.get(next(globs, ""), self.default)
        return min(policy, self.errors, key=_POLICIES.index) if result.is_error else policy


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerOptions:
    """The options of a `CompressionManager`, which takes each of them as a keyword, too."""

    compress_tool_results: bool = True
    """Whether tool results are shortened."""
    compress_tool_results_limit: int = 3
    """Compress when this many tool results have no short form."""
    compress_token_limit: int = 0
    """Compress messages of any role with more tokens than this; 0 turns it off. Similar managers in
    other libraries use 4,096."""
    compress_context_limit: int | None = None
    """Compress when the conversation has this many tokens."""
    prompt: str = DEFAULT_COMPRESSION_PROMPT
    """The instructions for the model."""
    debug: bool = False
    """Log what happens to every text, to `refold.tools` at level DEBUG, or to standard error if
    nobody listens there."""
    policies: Policies = field(default_factory=Policies)
    """What may be done with the results of each tool."""
    keep_recent: int = 0
    """How many of the newest results stay as they are, besides those the model has not read yet."""
    min_tokens: int = 40
    """Shorter texts are left alone."""
    min_saving: float = 0.1
    """The share of tokens that a short form must save."""
    expected_uses: float = 20.0
    """How often a text will be sent again: a model is asked only if that pays."""
    price_factor: float = 1.0
    """The summarizing model's price divided by that of the model that reads the short forms."""
    cool_down_seconds: float = 300.0
    """How long a text is left alone after the model has failed on it."""
    pass_seconds: float | None = None
    """How long a pass waits for the model before it continues without it."""
    call_seconds: float = 120.0
    """How long one call of the model may take."""
    max_concurrent: int | Limiter = 4
    """How many calls may run at once; several managers can share a `Limiter`."""
    price_per_million: float | None = None
    """The reading model's price in US dollars for a million input tokens, so that reports show the
    money saved."""
    cache: Cache | None = None
    """A store for answers; by default, memory."""
    cache_version: str = ""
    """Names the model behind `generate` in the cache; change it when the model changes."""
    find_secrets: SecretFinder | None = None
    """Finds what must not be sent to the model; replaces `refold.scan.secrets`."""
    counter: TokenCounter = estimate_tokens
    store: Store | None = None
    """Keeps originals; short forms then show a handle to fetch them with."""
    conversation: str | None = None
    """The name of the conversation, if there is only one: handles are then short, and only this
    name finds the originals."""
    on_event: Listener | None = None
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        if not isinstance(self.policies, Policies):  # a plain mapping will do
            object.__setattr__(self, "policies", Policies(self.policies))
        optional = {option.name for option in fields(self) if option.default is None}
        for check, names in _CHECKS.items():
            for name in names.split():
                value = getattr(self, name)
                if value is not None or name not in optional:
                    check(name, value)
        is_prompt = isinstance(self.prompt, str) and self.prompt.strip() != ""
        _need("prompt", is_prompt, "a text that is not empty")
        _need("cache_version", isinstance(self.cache_version, str), "a text")
        _need("cache", isinstance(self.cache, Cache | None), "an object with put() and get()")
        _need("min_saving", self.min_saving < 1, "below 1: nothing saves everything")
        if self.store is not None:
            check_store(self.store)

    @classmethod
    def of(cls, choices: Mapping[str, Any]) -> Self:
        """Make options from keywords; an error about an unknown one names the nearest."""
        check_names(choices, [option.name for option in fields(cls)])
        return cls(**choices)


class ManagerChoices(TypedDict, total=False):
    """The fields of `ManagerOptions` as keywords; documented there."""

    compress_tool_results: bool
    compress_tool_results_limit: int
    compress_token_limit: int
    compress_context_limit: int | None
    prompt: str
    debug: bool
    policies: Policies | Mapping[str, ToolPolicy]
    keep_recent: int
    min_tokens: int
    min_saving: float
    expected_uses: float
    price_factor: float
    cool_down_seconds: float
    pass_seconds: float | None
    call_seconds: float
    max_concurrent: int | Limiter
    price_per_million: float | None
    cache: Cache | None
    cache_version: str
    find_secrets: SecretFinder | None
    counter: TokenCounter
    store: Store | None
    conversation: str | None
    on_event: Listener | None
    clock: Callable[[], float]


def _need(name: str, holds: bool, what: str) -> None:
    if not holds:
        raise ConfigError(f"{name} must be {what}")


def _check_limit(name: str, value: object) -> None:
    if not isinstance(value, Limiter):
        check_whole(name, value, least=1)


def _check_function(name: str, value: object) -> None:
    _need(name, callable(value), f"callable, got {value!r}")


_CHECKS: Final[Mapping[Callable[[str, object], None], str]] = {
    check_switch: "compress_tool_results debug",
    partial(check_whole, least=1): "compress_tool_results_limit compress_context_limit",
    check_whole: "compress_token_limit keep_recent min_tokens",
    check_share: "min_saving",
    check_number: "expected_uses price_factor cool_down_seconds pass_seconds price_per_million",
    check_positive: "call_seconds",
    check_name: "conversation",
    _check_limit: "max_concurrent",
    _check_function: "find_secrets counter on_event clock",
}
"""How choices are checked; the policies check themselves."""
