"""What is gone is refused by name, with what to use instead."""

import importlib
from typing import Any

import pytest

import refold
import refold.conversation
from refold.errors import ConfigError
from refold.gone import GONE_NAMES, GONE_OPTIONS
from refold.options import Options


@pytest.mark.parametrize("name", sorted(GONE_OPTIONS))
def test_an_option_that_is_gone_names_the_new_way(name: str) -> None:
    choices: dict[str, Any] = {name: 1}
    with pytest.raises(ConfigError, match=f"{name} is no longer an option: \\S"):
        Options(**choices)


@pytest.mark.parametrize("name", sorted(GONE_NAMES))
def test_a_name_that_is_gone_names_the_new_way(name: str) -> None:
    assert name not in refold.__all__
    with pytest.raises(AttributeError, match=f"refold.{name} is gone: \\S"):
        getattr(refold, name)


def test_a_window_refuses_what_it_no_longer_takes() -> None:
    gone: dict[str, Any] = {"summary_format": "handover"}
    with pytest.raises(ConfigError, match="summary_format is no longer an option: give llm"):
        refold.ContextWindowManager(context_limit=900, **gone)


def test_names_of_a_room_that_are_gone_name_the_new_way() -> None:
    for name in ("FactSheet", "RollingSummary", "SlidingWindow", "send_fitting"):
        with pytest.raises(AttributeError, match=f"refold.conversation.{name} is gone: \\S"):
            getattr(refold.conversation, name)


def test_a_module_that_moved_names_the_new_one() -> None:
    with pytest.raises(ImportError, match=r"refold\.plan\.rules is refold\.classic\.rules now"):
        importlib.import_module("refold.plan.rules")
