"""The keywords that `compress`, `Compressor` and `Session` take, and how they become options."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from inspect import Parameter, signature
from typing import Any, TypedDict, TypeVar

from refold.classic.detectors import Detector
from refold.classic.rules import Rule
from refold.codecs import Codec
from refold.errors import ConfigError
from refold.events import Listener
from refold.options import (
    BudgetStrategy,
    CompressionDepth,
    KeepDuplicate,
    Options,
    Pattern,
    Pin,
    PreservePattern,
    Profile,
    ThinkingWay,
)

F = TypeVar("F", bound=Callable[..., Any])


class Choices(TypedDict, total=False):
    """The fields of `Options`, documented there, and what `Compressor` takes besides.

    Some accept more than the fields hold: any list for a tuple, an expression for a
    `PreservePattern`, "30%" for a budget.
    """

    token_budget: int | str | None
    profile: Profile
    model: str | None
    conversation: str | None
    preserve: Collection[str]
    recency_window: int
    preserve_patterns: Sequence[PreservePattern | Pattern | tuple[Pattern, str] | Mapping[str, Any]]
    pins: Sequence[Pin]
    summarizer: object
    on_event: Listener | None
    pass_seconds: float | None
    min_recency_window: int
    strict: bool
    trace: bool
    format: str
    counter: Callable[[str], int] | None
    same_count: bool
    thinking: ThinkingWay
    strict_roles: bool
    compression_threshold: int | None
    source_version: int
    force_converge: bool
    dedup: bool
    keep_duplicate: KeepDuplicate
    fuzzy_dedup: bool
    fuzzy_threshold: float
    importance_scoring: bool
    importance_threshold: float
    contradiction_detection: bool
    contradiction_topic_threshold: float
    embed_summary_id: bool
    compression_depth: CompressionDepth
    budget_strategy: BudgetStrategy
    observation_threshold: int | None
    detectors: Sequence[Detector] | None
    codecs: Sequence[Codec] | None
    rules: Sequence[Rule] | None


HELPERS = frozenset(Choices.__annotations__) - {field.name for field in fields(Options)}
"""What may be used besides options and a store."""


def spelled_out(function: F) -> F:
    """Spell every keyword of `Choices` out in what `help(function)` shows, with its default."""
    written = signature(function)
    defaults = {field.name: field.default for field in fields(Options)}
    named = [one for one in written.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    taken = {one.name for one in named}
    more = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=defaults.get(name),
            annotation=kind.__forward_arg__,
        )
        for name, kind in Choices.__annotations__.items()
        if name not in taken
    ]
    function.__signature__ = written.replace(parameters=[*named, *more])  # type: ignore[attr-defined]
    return function


def split_helpers(choices: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split *choices* into helpers and fields of `Options`."""
    helpers = {name: choices[name] for name in choices if name in HELPERS}
    return helpers, {name: choices[name] for name in choices if name not in helpers}


def combine(options: Options | None, choices: Mapping[str, Any]) -> Options:
    """Return *options* with these *choices* changed; without options, make them of the choices.

    Raises `ConfigError` for options that are none, and for choices that can never work.
    """
    if options is None:
        return Options(**choices)
    if not isinstance(options, Options):
        raise ConfigError(f"options must be Options, got {type(options).__name__}")
    if "token_budget" in choices:
        options = replace(options, token_share=None)
    return replace(options, **choices)
