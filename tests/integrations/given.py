"""What examples on the pages are given: a model of each framework, and a tool."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from tests.integrations.contract import Brain

_SCRIPTED: Final = ("agno", "langchain", "openai_agents", "pydantic_ai")
"""The frameworks whose examples may begin with a model."""


def given_to(framework: str) -> dict[str, Any]:
    """Return the names that an example for *framework* takes for granted."""
    if framework not in _SCRIPTED:
        return {}
    module = import_module(f"tests.integrations.test_{framework}")
    return {"model": module.model_of(Brain(turns=2)), "tools": [module.read]}
