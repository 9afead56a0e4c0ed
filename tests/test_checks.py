"""What a caller chose is refused at once if it can never work, whatever type it has."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from refold import (
    ConfigError,
    ContextWindowManager,
    MemoryStore,
    ScopedStore,
    SqliteStore,
    ToolCompressor,
)
from refold.checks import (
    check_choice,
    check_names,
    check_number,
    check_positive,
    check_share,
    check_switch,
    check_whole,
)
from refold.conversation import window_of
from refold.llm.summarizers import Limited

NO_NUMBERS: tuple[Any, ...] = ("3", b"3", [3], {}, object(), True, math.nan, -1)


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (check_whole, (0, 3, 10**30), (1.0, None, math.inf)),
        (check_number, (0, 0.5, 3), (None, math.inf)),
        (check_positive, (0.5, 3), (None, 0, math.inf)),
        (check_share, (0, 0.5, 1), (None, 1.1, math.inf)),
    ],
)
def test_numbers(check: Callable[[str, object], None], good: Any, bad: Any) -> None:
    for value in good:
        check("depth", value)
    for value in (*NO_NUMBERS, *bad):
        with pytest.raises(ConfigError, match=r"depth must be .* got "):
            check("depth", value)


def test_a_least_number_may_be_given() -> None:
    check_whole("depth", 2, least=2)
    check_number("depth", 1.5, least=1.5)
    with pytest.raises(ConfigError, match="depth must be a whole number, 2 or more; got 1"):
        check_whole("depth", 1, least=2)
    with pytest.raises(ConfigError, match=r"depth must be a number, 1\.5 or more; got 1"):
        check_number("depth", 1, least=1.5)


def test_switches_are_true_or_false() -> None:
    check_switch("loud", True)
    for value in (1, 0, None, "yes"):
        with pytest.raises(ConfigError, match="loud must be True or False, got "):
            check_switch("loud", value)


def test_a_choice_is_one_of_the_known_words() -> None:
    known = ("gentle", "moderate")
    check_choice("depth", "gentle", known)
    with pytest.raises(ConfigError, match="one of gentle, moderate; got 'gentel'; did you mean"):
        check_choice("depth", "gentel", known)
    for value in (None, ["gentle"], 3, "gentle, moderate"):
        with pytest.raises(ConfigError, match="depth must be one of gentle, moderate; got "):
            check_choice("depth", value, known)


def test_an_unknown_name_is_told_the_nearest_or_all() -> None:
    check_names(["depth"], {"depth", "width"})
    with pytest.raises(ConfigError, match=r"unknown option 'dept'; did you mean 'depth'\?$"):
        check_names(["width", "dept"], {"depth", "width"})
    with pytest.raises(ConfigError, match=r"unknown option 'colour'; known: depth, width$"):
        check_names(["colour"], {"depth", "width"})


def window(**choices: Any) -> ContextWindowManager:
    return ContextWindowManager(**{"context_limit": 5_000, **choices})


@pytest.mark.parametrize("value", NO_NUMBERS)
@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda **c: ScopedStore(MemoryStore(), "a", **c), "ttl_seconds"),
        (lambda **c: SqliteStore("never.db", **c), "ttl_seconds"),
        (ToolCompressor, "max_bytes"),
        (window, "context_limit"),
        (window, "max_messages"),
        (window, "keep_results"),
        (window, "clear_at_least"),
        (window, "reserve_output_tokens"),
        (lambda **c: Limited(str, **c), "max_concurrent"),
        (lambda **c: Limited(str, **c), "seconds"),
    ],
)
def test_no_number_is_taken_for_one(make: Callable[..., object], name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be "):
        make(**{name: value})
    assert not Path("never.db").exists()


@pytest.mark.parametrize("value", [3, 1.5, True, ["gpt-4o"], object()])
def test_no_name_is_taken_for_one(value: Any) -> None:
    with pytest.raises(ConfigError, match="model must be the name of a model"):
        window_of(value)
    with pytest.raises(ConfigError, match="model must be the name of a model"):
        window(model=value)
    for name in ("pins", "tools"):
        if not isinstance(value, list):
            with pytest.raises(ConfigError, match=f"{name} must be a list"):
                window(**{name: value})
    with pytest.raises(ConfigError, match="strategy must be one of fold"):
        window(strategy=value)
