"""The committed reference is what the code says today."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_reference_is_up_to_date() -> None:
    committed = (DOCS / "reference.md").read_text(encoding="utf-8")
    assert committed == load_script().make_reference(), "run: python docs/make_reference.py"
