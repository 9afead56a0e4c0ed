"""What is gone is refused by name, with what to use instead."""

import importlib
from typing import Any

import pytest

import refold
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
    for module in ("refold", "refold.conversation", "refold.llm.summarizers"):
        with pytest.raises(ImportError, match=rf"{module}\.{name} is gone: \S"):
            exec(f"from {module} import {name}")


def test_a_window_refuses_what_it_no_longer_takes() -> None:
    gone: dict[str, Any] = {"summary_format": "handover"}
    with pytest.raises(ConfigError, match="summary_format is no longer an option: give llm"):
        refold.ContextWindowManager(context_limit=900, **gone)


def test_a_name_that_never_was_is_an_ordinary_error() -> None:
    assert not hasattr(refold, "unheard_of")
    with pytest.raises(ImportError, match="cannot import name 'unheard_of'"):
        exec("from refold.llm.summarizers import unheard_of")


def test_a_module_that_moved_names_the_new_one() -> None:
    with pytest.raises(ImportError, match=r"refold\.plan\.rules is refold\.classic\.rules now"):
        importlib.import_module("refold.plan.rules")
