"""Pages that are made from the code are what it says today."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_reference_is_up_to_date() -> None:
    committed = (DOCS / "reference.md").read_text(encoding="utf-8")
    made = load_script("make_reference").make_reference()
    assert committed == made, "run: python docs/make_reference.py"


def test_folded_runs_are_up_to_date() -> None:
    committed = (DOCS / "folded.md").read_text(encoding="utf-8")
    assert committed == load_script("make_folded").make_page(), "run: python docs/make_folded.py"
