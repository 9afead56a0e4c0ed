"""The example of an agent loop runs, fits its window and loses nothing."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.patience import FOR_EVER

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


def test_sixty_turns_fit_and_everything_comes_back(example: ModuleType) -> None:
    with example.ScriptedModel() as model:
        story = asyncio.run(example.run_agent(model))
    assert len(story.with_refold) == example.TURNS == 60
    assert story.all_fit
    assert story.all_restored
    assert story.folded, "the window manager has something to do, too"
    assert max(story.with_refold) < example.WINDOW < max(story.without_refold)
    assert all(
        message["content"] == example.read_log(day)
        for day, message in enumerate((m for m in story.history if m["role"] == "tool"), 1)
    )


def test_the_command_draws_a_plain_chart_when_piped() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        capture_output=True,
        text=True,
        timeout=FOR_EVER,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0, done.stderr
    assert "every original restored: yes" in done.stdout
    assert "\x1b" not in done.stdout
    assert "turn  60" in done.stdout
