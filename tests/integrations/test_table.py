"""The table of frameworks in the docs says what the tests prove, and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "integrations" / "index.md"
ROW = re.compile(r"^\| \[(\w+)\]\(\1\.md\) \|(.+)\|$", re.MULTILINE)


def columns() -> list[str]:
    head = next(line for line in PAGE.read_text().splitlines() if line.startswith("| | sync"))
    return [cell.strip().replace(" ", "_") for cell in head.strip("|").split("|")[1:]]


def rows() -> dict[str, list[str]]:
    found = ROW.finditer(PAGE.read_text())
    return {row[1]: [cell.strip() for cell in row[2].split("|")] for row in found}


def proofs_of(name: str) -> set[str]:
    """Return the tests of a class that inherits from the contract, those it inherits included."""
    tree = ast.parse((HERE / f"test_{name}.py").read_text())
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    (own,) = [c for c in classes if any(getattr(b, "id", "") == "Integration" for b in c.bases)]
    contract = ast.parse((HERE / "contract.py").read_text())
    base = next(n for n in contract.body if getattr(n, "name", "") == "Integration")
    assert isinstance(base, ast.ClassDef)
    proofs = {
        node.name for c in (own, base) for node in c.body if isinstance(node, ast.FunctionDef)
    }
    left_out = [node.target for node in own.body if isinstance(node, ast.AnnAssign)]
    return proofs - {getattr(target, "id", "") for target in left_out}


def test_every_integration_has_a_row_and_every_row_an_integration() -> None:
    modules = {path.stem for path in (ROOT / "src" / "refold" / "integrations").glob("*.py")}
    shared = {"__init__", "choices", "conversations", "mirror", "telemetry", "tracked"}
    assert set(rows()) == modules - shared


@pytest.mark.parametrize("name", rows())
def test_every_cell_is_a_test(name: str) -> None:
    cells = rows()[name]
    assert len(cells) == len(columns())
    tests = proofs_of(name)
    for column, cell in zip(columns(), cells, strict=True):
        assert (cell == "✓") == (f"test_{column}" in tests), f"{name}: {column}"
