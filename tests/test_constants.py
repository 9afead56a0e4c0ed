import ast
from pathlib import Path

import pytest

import refold

ROOT = Path(refold.__file__).parent
NUMBERS = (ast.Constant, ast.BinOp, ast.UnaryOp)


def unexplained(source: str) -> list[str]:
    """Name the numbers of a module that no text below, above or beside them explains.

    Numbers on neighbouring lines may share one.
    """
    lines = source.split("\n")
    body = ast.parse(source).body
    missing: list[str] = []
    waiting: list[str] = []
    end = 0
    for node in body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        name = number_name(node)
        if is_text and node.lineno == end + 1:
            waiting = []
        if name is None or node.lineno > end + 1:
            missing += waiting
            waiting = []
        if name is not None:
            is_first = not waiting
            has_comment = "#" in lines[(node.end_lineno or node.lineno) - 1]
            has_heading = is_first and lines[node.lineno - 2].startswith("#")
            is_headed = not is_first and waiting[0] == ""
            if has_heading or is_headed:
                waiting = [""]  # the comment is for all that follow at once
            elif not has_comment:
                waiting.append(name)
        end = node.end_lineno or node.lineno
    return [name for name in (*missing, *waiting) if name]


def number_name(node: ast.stmt) -> str | None:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        name, value = node.target.id, node.value
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        name, value = node.targets[0].id, node.value
    else:
        return None
    if value is None or not name.isupper() or not isinstance(value, NUMBERS):
        return None
    leaves = [leaf.value for leaf in ast.walk(value) if isinstance(leaf, ast.Constant)]
    is_number = bool(leaves) and all(type(leaf) in (int, float) for leaf in leaves)
    return name if is_number else None


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("A = 1\n", ["A"]),
        ('A = 1\n"""Why."""\n', []),
        ("A = 1  # why\n", []),
        ("# Why.\nA = 1\nB = 2\n", []),
        ('A = 1\nB = 2\n"""Why."""\n', []),
        ('A = 1\n\nB = 2\n"""Why."""\n', ["A"]),
        ('A = 1\nB = "b"\n"""Why."""\n', ["A"]),
        ('A = 1\n\n"""Of something else."""\n', ["A"]),
    ],
)
def test_what_counts_as_explained(source: str, names: list[str]) -> None:
    assert unexplained(source) == names


def test_every_number_says_why() -> None:
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted(ROOT.rglob("*.py"))
        for name in unexplained(path.read_text("utf-8"))
    ]
    assert not missing
