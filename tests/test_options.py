"""What is chosen when nobody chooses, and that nobody can change it afterwards."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, fields
from inspect import signature
from typing import Any

import pytest

from refold import (
    BudgetError,
    Compressor,
    ConfigError,
    ContextWindowManager,
    Options,
    Session,
    acompress,
    compress,
)
from refold.choices import HELPERS, Choices
from refold.options import ROLES, USED_BY
from refold.tools.policy import ManagerChoices, ManagerOptions


def test_what_is_chosen_when_nobody_chooses() -> None:
    options = Options()
    assert options.profile == "standard"
    assert options.preserve == ("system", "developer")
    assert options.recency_window == 4
    assert options.dedup
    assert options.keep_duplicate == "latest"
    assert not options.fuzzy_dedup
    assert options.fuzzy_threshold == 0.85
    assert not options.importance_scoring
    assert options.importance_threshold == 0.65
    assert not options.contradiction_detection
    assert options.contradiction_topic_threshold == 0.15
    assert not options.embed_summary_id
    assert options.compression_depth == "gentle"
    assert options.token_budget is None


def test_every_option_is_a_keyword_that_type_checkers_know() -> None:
    chosen = {field.name for field in fields(Options)} - {"token_share"}
    assert set(Choices.__annotations__) == chosen | HELPERS
    manager = [field.name for field in fields(ManagerOptions)]
    assert list(ManagerChoices.__annotations__) == manager
    for take in (compress, acompress, Compressor, Session):
        shown = signature(take).parameters
        assert Choices.__annotations__.keys() | {"options", "store"} <= shown.keys()
        assert "choices" not in shown
        assert (shown["profile"].default, shown["recency_window"].default) == ("standard", 4)


def test_options_are_frozen() -> None:
    options = Options(recency_window=2)
    with pytest.raises(FrozenInstanceError):
        options.recency_window = 3  # type: ignore[misc]


def test_options_can_be_copied_and_sent_elsewhere() -> None:
    options = Options(recency_window=2, preserve_patterns=["[A-Z]+-[0-9]+"])  # type: ignore[arg-type]
    for other in (copy.deepcopy(options), pickle.loads(pickle.dumps(options))):
        assert other == options


CHOSEN: dict[str, Any] = {
    "dedup": False,
    "keep_duplicate": "first",
    "fuzzy_dedup": True,
    "fuzzy_threshold": 0.5,
    "importance_scoring": True,
    "importance_threshold": 0.5,
    "contradiction_detection": True,
    "contradiction_topic_threshold": 0.5,
    "embed_summary_id": True,
    "compression_depth": "aggressive",
    "budget_strategy": "tiered",
    "force_converge": False,
    "observation_threshold": 100,
    "summarizer": lambda text: text[:20],
    "on_event": print,
    "pass_seconds": 1.0,
    "detectors": [],
    "codecs": [],
    "rules": [],
}
USED_BY_ALL: dict[str, Any] = {
    "preserve": ("system", "user"),
    "recency_window": 2,
    "preserve_patterns": ("TICKET",),
    "pins": ("m1", "role:developer"),
    "token_budget": 900,
    "min_recency_window": 1,
    "strict": True,
    "compression_threshold": 10,
    "source_version": 3,
    "trace": True,
    "strict_roles": True,
    "same_count": True,
    "thinking": "strip",
    "format": "plain",
    "model": "gpt-4o",
    "counter": len,
}


def test_every_choice_is_told_apart() -> None:
    assert CHOSEN.keys() == USED_BY.keys()
    models = {"summarizer", "on_event", "pass_seconds"}
    helpers = models | {"detectors", "codecs", "rules"}
    options = {field.name for field in fields(Options)}
    assert options == (CHOSEN.keys() - helpers) | USED_BY_ALL.keys() | {"profile", "token_share"}


NEEDED: dict[str, dict[str, Any]] = {
    "fuzzy_threshold": {"fuzzy_dedup": True},
    "importance_threshold": {"importance_scoring": True},
    "contradiction_topic_threshold": {"contradiction_detection": True},
    "budget_strategy": {"token_budget": 900},
    "force_converge": {"token_budget": 900},
    "min_recency_window": {"token_budget": 900},
    "strict": {"token_budget": 900},
    "on_event": {"summarizer": lambda text: text[:20]},
    "pass_seconds": {"summarizer": lambda text: text[:20]},
}
"""What an option needs beside it to have any effect."""


@pytest.mark.parametrize("profile", ["classic", "standard", "lossless"])
@pytest.mark.parametrize("make", [Compressor, Session])
def test_a_choice_that_a_profile_does_not_use_is_refused(make: Any, profile: Any) -> None:
    for name, value in CHOSEN.items():
        if profile in USED_BY[name]:
            make(profile=profile, **NEEDED.get(name, {}), **{name: value})
            continue
        other = USED_BY[name][0]
        problem = f"{name} is not used by profile='{profile}': .* choose profile='{other}'"
        with pytest.raises(ConfigError, match=problem):
            make(profile=profile, **{name: value})


@pytest.mark.parametrize("profile", ["standard", "lossless"])
@pytest.mark.parametrize("make", [Compressor, Session])
def test_what_every_profile_uses_and_defaults_are_taken(make: Any, profile: Any) -> None:
    for name, value in USED_BY_ALL.items():
        make(profile=profile, **NEEDED.get(name, {}), **{name: value})
    make(profile=profile, dedup=True, compression_depth="gentle", summarizer=None)
    assert make().options.profile == "standard"


@pytest.mark.parametrize("name", NEEDED)
def test_what_has_no_effect_by_itself_is_refused(name: str) -> None:
    chosen = {**CHOSEN, **USED_BY_ALL}[name]
    with pytest.raises(ConfigError, match=f"^{name} has no effect without"):
        Compressor(profile="classic", **{name: chosen})
    Compressor(profile="classic", **{name: chosen}, **NEEDED[name])
    default: Any = {field.name: field.default for field in fields(Options)}.get(name)
    Compressor(profile="classic", **{name: default})  # a default is never refused


def test_a_session_may_be_given_the_budget_of_its_options_later() -> None:
    session = Session(strict=True, min_recency_window=1)
    session.append({"role": "user", "content": "Count the crates, please. " * 40})
    with pytest.raises(BudgetError):
        session.view(token_budget=10)


@pytest.mark.parametrize(
    ("pin", "advice"),
    [
        ("role:usr", "a role in pins must be one of .* got 'usr'; did you mean 'user'"),
        ("role:asistant", "a role in pins must be one of .*; did you mean 'assistant'"),
        ("role:", "a role in pins must be one of"),
        ("user", "pins take a role as 'role:user'"),
    ],
)
def test_pins_of_roles_that_no_message_has_are_refused(pin: str, advice: str) -> None:
    with pytest.raises(ConfigError, match=advice):
        Options(pins=[pin])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=advice):
        Session().pin(pin)


def test_roles_that_no_message_has_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"a role in preserve .* did you mean 'assistant'"):
        Options(preserve=["asistant"])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"a role in pins .* did you mean 'user'"):
        ContextWindowManager(context_limit=9_000, pins=["role:usr"])
    for role in (*ROLES, "critic", "superuser", "planner"):  # and roles of one's own
        assert Options(preserve=(role,), pins=(f"role:{role}", "m1")).preserve[0] == role


@pytest.mark.parametrize("make", [Compressor, Session])
def test_a_listener_that_cannot_be_called_is_refused_at_once(make: Any) -> None:
    with pytest.raises(ConfigError, match="on_event must be callable, got 5"):
        make(on_event=5, summarizer=str.lower)


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        ({"strategy": "truncate", "llm": str}, "llm has no effect with strategy='truncate'"),
        ({"strategy": "truncate", "summarizer": str.lower}, "summarizer has no effect"),
        ({"strategy": "sliding_window", "llm": str}, "llm has no effect"),
        (
            {"strategy": "fold", "max_messages": 3},
            "max_messages has no effect with",
        ),
        ({"pass_seconds": 3.0}, "pass_seconds has no effect without a model"),
        ({"default_context_limit": 900}, "default_context_limit has no effect with context_limit"),
    ],
)
def test_a_window_refuses_what_its_strategy_does_not_use(
    chosen: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        ContextWindowManager(context_limit=9_000, **chosen)
    ContextWindowManager(context_limit=9_000, strategy="truncate", max_messages=10, llm=None)


def test_a_profile_refuses_what_was_chosen_for_another() -> None:
    with pytest.raises(ConfigError, match="fuzzy_dedup is not used by profile='standard'"):
        Compressor(Options(profile="classic", fuzzy_dedup=True), profile="standard")


@pytest.mark.parametrize(
    ("chosen", "advice"),
    [
        ({"token_budget": 100}, "give context_limit or reserve_output_tokens"),
        ({"compression_threshold": 100}, "up to high_water"),
        ({"strict": True}, "pass strict to the manager itself"),
        ({"model": "gpt-4o"}, "pass model to the manager itself"),
        ({"counter": len}, "pass counter to the manager itself"),
        ({"trace": True}, "FitResult.steps"),
    ],
)
def test_a_window_refuses_options_of_which_it_makes_no_use(
    chosen: dict[str, Any], advice: str
) -> None:
    with pytest.raises(ConfigError, match=rf"options\.{next(iter(chosen))} is not used") as caught:
        ContextWindowManager(context_limit=9_000, options=Options(**chosen))
    assert advice in str(caught.value)
    ContextWindowManager(context_limit=9_000, options=Options(recency_window=2))
