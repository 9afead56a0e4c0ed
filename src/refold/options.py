"""All options of a compression: frozen, validated, without logic."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, Self, get_args

from refold.calling import is_async
from refold.checks import check_choice, check_names, check_share, check_switch, check_whole
from refold.errors import ConfigError

KeepDuplicate = Literal["latest", "first"]
Depth = Literal["gentle", "moderate", "aggressive"]
CompressionDepth = Literal["gentle", "moderate", "aggressive", "auto"]
Profile = Literal["standard", "lossless", "classic"]
BudgetStrategy = Literal["binary-search", "tiered"]
ThinkingWay = Literal["auto", "strip", "keep"]
Pin = str | Callable[[Mapping[str, Any]], bool]
"""Selects messages: an id, `role:NAME`, or a predicate on the message."""
Pattern = str | re.Pattern[str]
ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")
"""What the formats of providers are read as; messages may have roles of their own."""
_NEAR: Final = 0.75
"""The likeness of words, from 0 to 1, from which one is a slip for the other: `usr`, `asistant`."""


@dataclass(frozen=True, slots=True)
class PreservePattern:
    """A regular expression; messages that match it are kept as they are."""

    pattern: re.Pattern[str]
    label: str

    @classmethod
    def of(cls, value: object) -> Self:
        """Accept a pattern, a string, a `(pattern, label)` pair or a mapping with both.

        Raises `ConfigError` for anything else, and for an expression that does not compile.
        """
        label: object = None
        pattern: object = value
        if isinstance(value, cls):
            return value
        if isinstance(value, Mapping):
            pattern, label = value.get("pattern", value.get("re")), value.get("label")
        elif isinstance(value, tuple | list) and len(value) == 2:
            pattern, label = value
        if isinstance(pattern, str):
            try:
                pattern = re.compile(pattern)
            except re.error as error:
                raise ConfigError(
                    f"preserve_patterns holds an invalid expression {pattern!r}: {error}"
                ) from error
        if not isinstance(pattern, re.Pattern) or not isinstance(pattern.pattern, str):
            raise ConfigError(
                "preserve_patterns takes expressions, (expression, label) pairs or mappings with "
                f"pattern and label; got {value!r}"
            )
        return cls(pattern=pattern, label=str(pattern.pattern if label is None else label))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """All options of a compression; immutable, so safe to share between threads and calls.

        options = Options(token_budget=8_000, preserve=("system", "user"))
        result = compress(messages, options=options)

    Raises `ConfigError` for an option that is unknown, invalid or not used by the profile.
    """

    profile: Profile = "standard"
    """`standard` keeps what people typed, re-encodes tool results without loss, summarizes long
    prose, and spends a budget on what later turns will need. `lossless` only re-encodes. `classic`
    applies the same rules to all messages."""
    preserve: tuple[str, ...] = ("system",)
    """Roles whose messages are never changed; `system` includes its newer name `developer`."""
    recency_window: int = 4
    """How many of the last messages are never changed. `standard` and `lossless` use it only
    without a budget; with one, they use `min_recency_window`."""
    preserve_patterns: tuple[PreservePattern, ...] = ()
    """Regular expressions; messages that match one are kept as they are."""
    pins: tuple[Pin, ...] = ()
    """Messages that no budget may change: an id, `role:NAME`, or a function that takes a message
    and returns whether to keep it."""
    dedup: bool = True
    """Replace exact copies of a long text by a reference."""
    keep_duplicate: KeepDuplicate = "latest"
    """Which copy stays readable. `first` never changes what was sent before."""
    fuzzy_dedup: bool = False
    """Also replace near copies, and show the lines in which they differ."""
    fuzzy_threshold: float = 0.85
    """The share of common lines above which two texts count as near copies."""
    importance_scoring: bool = False
    """Keep messages that later ones refer to."""
    importance_threshold: float = 0.65
    """The importance, from 0 to 1, above which a message is kept."""
    contradiction_detection: bool = False
    """Shorten statements that a later message corrects."""
    contradiction_topic_threshold: float = 0.15
    """How much the topics of a statement and its correction must overlap."""
    embed_summary_id: bool = False
    """Show the id of a summary in its tag: `[summary#ID: …]`."""
    compression_depth: CompressionDepth = "gentle"
    """How short summaries are; with a budget, the depth to start with."""
    token_budget: int | None = None
    """The most tokens of the whole conversation, or a share of what it has, such as "30%"."""
    token_share: float | None = None
    """The budget as a share from 0 to 1; `token_budget="30%"` sets it."""
    budget_strategy: BudgetStrategy = "binary-search"
    """`binary-search` folds as few of the oldest messages as possible; `tiered` folds all of them
    once before folding any deeper."""
    min_recency_window: int = 0
    """How many of the last messages no budget may change."""
    force_converge: bool = True
    """Roll up and truncate messages if the budget requires it."""
    strict: bool = False
    """Raise `BudgetError` if the conversation cannot fit."""
    compression_threshold: int | None = None
    """Leave conversations with fewer tokens than this unchanged."""
    observation_threshold: int | None = None
    """Shorten messages with more tokens than this even if they are recent or structured."""
    source_version: int = 0
    """A version number that is copied into the metadata of every stand-in."""
    trace: bool = False
    """Fill `Result.decisions`: what happened to every text, and why."""
    strict_roles: bool = False
    """Raise `MessageError` for a role that no provider knows."""
    same_count: bool = False
    """Return exactly one message for each input message. This saves less, because the framing of
    every message and all tool calls remain."""
    thinking: ThinkingWay = "auto"
    """What happens to a model's thinking after a changed message, which the newest Claude models
    reject. `strip` removes it, `keep` leaves it, `auto` removes it unless `model` is known not to
    check."""
    format: str = "auto"
    """The format of the messages; `auto` recognizes it."""
    model: str | None = None
    """The model that will read the result. Its tokens are counted exactly if its tokenizer is
    public, and estimated otherwise."""
    counter: Callable[[str], int] | None = None
    """A function that counts the tokens of a text; takes precedence over `model`."""

    def __new__(cls, **choices: Any) -> Self:
        """Reject unknown names, with a hint; `__post_init__` checks the values."""
        check_names(choices, {field.name for field in fields(cls)})
        return object.__new__(cls)

    def __post_init__(self) -> None:
        self._read_budget()
        for name in ("recency_window", "min_recency_window", "source_version"):
            check_whole(name, getattr(self, name))
        for name in ("compression_threshold", "observation_threshold", "token_budget"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name))
        for name in ("fuzzy_threshold", "importance_threshold", "contradiction_topic_threshold"):
            check_share(name, getattr(self, name))
        for one in fields(self):
            if isinstance(one.default, bool):
                check_switch(one.name, getattr(self, one.name))
        for name, choice in _CHOICES.items():
            check_choice(name, getattr(self, name), get_args(choice))
        if not isinstance(self.format, str):
            raise ConfigError(f"format must be a name, got {self.format!r}")
        if self.model is not None and not (isinstance(self.model, str) and self.model):
            raise ConfigError(f"model must be a name, got {self.model!r}; leave it out for none")
        check_function("counter", self.counter)
        object.__setattr__(self, "preserve", _roles(self.preserve))
        object.__setattr__(self, "preserve_patterns", _patterns(self.preserve_patterns))
        object.__setattr__(self, "pins", _pins(self.pins))
        for name in _chosen(self):
            check_used(name, self.profile)
            needed = _NEEDS.get(name)
            if needed and not getattr(self, needed):
                raise ConfigError(
                    f"{name} has no effect without {needed}: leave it out, or choose {needed}=True"
                )

    def _read_budget(self) -> None:
        budget: object = self.token_budget
        share = self.token_share
        if isinstance(budget, str):
            share, budget = read_share(budget), None
        elif budget is not None:
            share = None  # a number of tokens takes the place of an earlier share
        if share is not None:
            check_share("token_share", share)
        object.__setattr__(self, "token_budget", budget)
        object.__setattr__(self, "token_share", share)

    @property
    def has_budget(self) -> bool:
        """Whether there is a budget, in tokens or as a share."""
        return self.token_budget is not None or self.token_share is not None

    def with_share_of(self, total: int) -> Self:
        """Return these options with the budget in tokens: the share of *total*."""
        if self.token_share is None:
            return self
        return replace(self, token_budget=int(round(total * self.token_share, 6)))

    @property
    def depth(self) -> Depth:
        """The depth to start with; `auto` starts with `gentle`."""
        return "gentle" if self.compression_depth == "auto" else self.compression_depth


USED_BY: Final[Mapping[str, tuple[Profile, ...]]] = {
    **dict.fromkeys(
        (
            *("dedup", "keep_duplicate", "fuzzy_dedup", "fuzzy_threshold"),
            *("importance_scoring", "importance_threshold"),
            *("contradiction_detection", "contradiction_topic_threshold"),
            *("embed_summary_id", "compression_depth", "budget_strategy", "observation_threshold"),
        ),
        ("classic",),
    ),
    **dict.fromkeys(
        ("force_converge", "summarizer", "on_event", "pass_seconds", "detectors", "rules"),
        ("classic", "standard"),
    ),
    "codecs": ("standard", "lossless"),
}
"""The profiles that use an option; options not listed here are used by all of them.

Some are not fields of `Options` but arguments of `Compressor`: models and tables.
"""


def check_used(name: str, profile: Profile) -> None:
    """Raise `ConfigError` for an option that *profile* would silently ignore."""
    users = USED_BY.get(name, (profile,))
    if profile not in users:
        named = " or ".join(f"profile={user!r}" for user in users)
        raise ConfigError(
            f"{name} is not used by profile={profile!r}: leave it out, or choose {named}"
        )


_NEEDS: Final[Mapping[str, str]] = {
    "fuzzy_threshold": "fuzzy_dedup",
    "importance_threshold": "importance_scoring",
    "contradiction_topic_threshold": "contradiction_detection",
}
"""The switch without which an option has no effect."""
_OF_BUDGETS: Final = ("strict", "budget_strategy", "force_converge", "min_recency_window")
"""What has no effect without a budget."""


_SHARE: Final = re.compile(r"(\d{1,3}(?:\.\d+)?) ?%")


def read_share(text: str) -> float:
    """Return the share in a budget such as `30%`; raise `ConfigError` for anything else."""
    percent = _SHARE.fullmatch(text.strip())
    if percent is None or float(percent[1]) > 100:
        raise ConfigError(
            "token_budget must be a whole number of tokens, such as 8000, or a share of those that "
            f"the conversation has, such as '30%'; got {text!r}"
        )
    return float(percent[1]) / 100


def check_effect(options: Options) -> None:
    """Raise `ConfigError` for an option that has no effect without a budget, if there is none.

    For single conversations: a `Session` may be given a budget for one view.
    """
    unused = [name for name in _chosen(options) if name in _OF_BUDGETS]
    if unused and not options.has_budget:
        raise ConfigError(
            f"{unused[0]} has no effect without a budget: leave it out, or give token_budget"
        )


def without_budget(options: Options) -> Options:
    """Return *options* without a budget, and without what has no effect then."""
    plain = Options()
    return replace(
        options,
        **{name: getattr(plain, name) for name in ("token_budget", "token_share", *_OF_BUDGETS)},
    )


def _chosen(options: Options) -> list[str]:
    """Return the names of the options that are not as they are by default."""
    return [one.name for one in fields(options) if getattr(options, one.name) != one.default]


def check_function(name: str, value: object) -> None:
    """Raise `ConfigError` unless *value* is an ordinary function, or none at all."""
    if value is None:
        return
    if not callable(value):
        raise ConfigError(f"{name} must be callable, got {value!r}")
    if is_async(value):
        raise ConfigError(
            f"{name} must be an ordinary function, got an asynchronous one: {value!r}"
        )


_CHOICES = {
    "profile": Profile,
    "thinking": ThinkingWay,
    "keep_duplicate": KeepDuplicate,
    "compression_depth": CompressionDepth,
    "budget_strategy": BudgetStrategy,
}


def _roles(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence | set | frozenset):
        raise ConfigError(f"preserve must be a list of roles, got {value!r}")
    roles = tuple(value)
    for role in roles:
        if not isinstance(role, str) or not role:
            raise ConfigError(f"preserve must hold role names, got {role!r}")
        _check_role("a role in preserve", role)
    if "system" in roles and "developer" not in roles:
        return (*roles, "developer")
    return roles


def _check_role(name: str, role: str) -> None:
    """Refuse what is nearly the name of a role: hardly one of the caller's own, as `critic` is."""
    from difflib import get_close_matches  # takes long to load

    if role not in ROLES and (not role or get_close_matches(role, ROLES, 1, _NEAR)):
        check_choice(name, role, ROLES)


def _patterns(value: object) -> tuple[PreservePattern, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ConfigError(f"preserve_patterns must be a list, got {value!r}")
    return tuple(PreservePattern.of(item) for item in value)


def _pins(value: object) -> tuple[Pin, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ConfigError(f"pins must be a list, got {value!r}")
    for pin in value:
        if not isinstance(pin, str) and (not callable(pin) or is_async(pin)):
            raise ConfigError(f"a pin is an id, role:NAME or a function; got {pin!r}")
        if pin in ROLES:
            raise ConfigError(f"pins take a role as {f'role:{pin}'!r}; {pin!r} would be an id")
        if isinstance(pin, str) and pin.startswith("role:"):
            _check_role("a role in pins", pin.removeprefix("role:"))
    return tuple(value)
