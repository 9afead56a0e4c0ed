"""The list of modules to compile names modules that are there."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "refold"


def _constant(name: str) -> Any:
    tree = ast.parse((ROOT / "setup.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            value = node.value.args[0] if isinstance(node.value, ast.Call) else node.value
            return ast.literal_eval(value)
    raise AssertionError(f"setup.py has no {name}")


def test_every_glob_finds_something() -> None:
    assert [glob for glob in _constant("COMPILED") if not list(PACKAGE.glob(glob))] == []


def test_what_is_left_out_would_be_compiled() -> None:
    found = {file for glob in _constant("COMPILED") for file in PACKAGE.glob(glob)}
    names = {file.relative_to(PACKAGE).as_posix() for file in found}
    assert _constant("LEFT_OUT") <= names


def test_the_form_is_told_by_a_module_that_is_compiled() -> None:
    assert "render.py" in _constant("COMPILED")
