"""The example of an agent loop runs, fits its window and loses nothing."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "agent_loop.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("agent_loop", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["agent_loop"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def story(example: ModuleType) -> Any:
    with example.ScriptedModel() as model:
        return asyncio.run(example.run_agent(model))


@pytest.mark.campaign
def test_sixty_turns_fit_and_everything_comes_back(example: ModuleType, story: Any) -> None:
    assert len(story.with_refold) == example.TURNS == 60
    assert story.all_fit
    assert story.all_restored
    assert story.folded, "the window manager has something to do, too"
    assert max(story.with_refold) < example.WINDOW < max(story.without_refold)
    assert all(
        message["content"] == example.read_log(day)
        for day, message in enumerate((m for m in story.history if m["role"] == "tool"), 1)
    )


@pytest.mark.campaign
def test_a_plain_chart_is_made_of_ascii(example: ModuleType, story: Any) -> None:
    shown = example.chart(story, is_plain=True)
    assert shown.isascii()
    assert "\x1b" not in shown
    assert "every original restored: yes" in shown
    assert "turn  60" in shown
