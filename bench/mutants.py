"""Break the package at random places, and see whether the tests notice.

Each mutant is a copy of the sources with one small fault: a comparison turned, a number off by one,
an `and` for an `or`, a value that is not returned, a call left out. Tests run against it until one
fails: those that compare recorded views, then those of its room, then all others of what a fold
passes through; a mutant that passes them all has survived. Numbers of module constants are left
alone, because tuning them is no fault.

examples:
  python bench/mutants.py
  python bench/mutants.py --count 8 --seed 3 --room codecs
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from table import draw

ROOT: Final = Path(__file__).resolve().parents[1]
ROOMS: Final = {
    "plan": ("tests/plan", "tests/properties/test_budgets.py"),
    "codecs": (
        "tests/codecs",
        "tests/plan/test_recode.py",
        "tests/plan/test_profiles.py",
    ),
    "messages": (
        *("tests/messages", "tests/test_bad_input.py", "tests/test_identity.py"),
        *("tests/properties", "tests/tools/test_shapes.py"),
    ),
}
"""Folders or modules of the package, and the tests that are to find what is wrong in them."""
_RECORDED: Final = ("tests/test_recorded.py",)
"""Quick, and most of what changes anything changes what is shown of some conversation."""
_OTHERS: Final = (
    *("tests/plan", "tests/codecs", "tests/messages", "tests/known_failures", "tests/notation"),
    *("tests/properties", "tests/kinds", "tests/report", "tests/conversation", "tests/tools"),
    *("tests/test_api.py", "tests/test_identity.py", "tests/test_bad_input.py"),
    *("tests/test_same_count.py", "tests/test_alternation.py", "tests/test_plugins.py"),
    *("tests/llm",),
)
"""What `make test` runs as well, the quickest to notice first; servers, stores and the command line
are left out."""
_SECONDS: Final = 600
"""After this long a mutant hangs, which is a way to be noticed; all tests of a room take a tenth
of it on two cores."""
_TURNED: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: the file, the number of the place in it, and what it is."""

    room: str
    path: Path
    place: int
    line: int
    fault: str


class _Breaker(ast.NodeTransformer):
    """Counts the places where a fault can be made, and makes the one with number *place*."""

    def __init__(self, place: int = -1) -> None:
        self.place = place
        self.faults: list[tuple[int, str]] = []
        self._depth = 0

    def _is_next(self, node: ast.AST, fault: str) -> bool:
        self.faults.append((getattr(node, "lineno", 0), fault))
        return len(self.faults) - 1 == self.place

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Break bodies only: neither defaults nor annotations."""
        self._depth += 1
        node.body = [self.visit(statement) for statement in node.body]
        self._depth -= 1
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Leave annotations alone."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Leave what is only there for type checkers and readers."""
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """Leave the words of errors alone."""
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Turn a comparison."""
        self.generic_visit(node)
        if self._depth and self._is_next(node, f"{ast.unparse(node)}: turned"):
            node.ops[0] = _turned(node.ops[0])
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Ask for all instead of one, or the other way round."""
        self.generic_visit(node)
        if self._depth and self._is_next(node, f"{ast.unparse(node)}: turned"):
            node.op = _turned(node.op)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Add instead of taking away, or the other way round."""
        self.generic_visit(node)
        is_sum = isinstance(node.op, ast.Add | ast.Sub)
        if self._depth and is_sum and self._is_next(node, f"{ast.unparse(node)}: turned"):
            node.op = _turned(node.op)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Leave a `not` out."""
        self.generic_visit(node)
        is_not = isinstance(node.op, ast.Not)
        if self._depth and is_not and self._is_next(node, f"{ast.unparse(node)}: without not"):
            return node.operand
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Be off by one, or say the opposite."""
        if not self._depth or not isinstance(node.value, int):
            return node
        wrong = not node.value if isinstance(node.value, bool) else node.value + 1
        return ast.Constant(wrong) if self._is_next(node, f"{node.value} → {wrong}") else node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """Return nothing."""
        self.generic_visit(node)
        is_something = node.value is not None and ast.unparse(node.value) != "None"
        if is_something and self._is_next(node, f"{ast.unparse(node)}: nothing"):
            return ast.copy_location(ast.Return(None), node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Leave a call out."""
        self.generic_visit(node)
        is_call = isinstance(node.value, ast.Call)
        if self._depth and is_call and self._is_next(node, f"{ast.unparse(node)}: left out"):
            return ast.copy_location(ast.Pass(), node)
        return node


def _turned(operator: ast.AST) -> Any:
    return _TURNED[type(operator)]()


def find_mutants(room: str, source: Path) -> Iterator[Mutant]:
    """Yield every mutant of a room."""
    folder = source / "refold" / room
    for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]:
        breaker = _Breaker()
        breaker.visit(ast.parse(path.read_text("utf-8")))
        for place, (line, fault) in enumerate(breaker.faults):
            yield Mutant(room, path.relative_to(source), place, line, fault.replace("\n", " "))


def find_noticing(mutant: Mutant) -> str:
    """Run tests against a mutant until one fails; return which ones, or nothing if none does."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "src")
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("*.so"))
        path = source / mutant.path
        broken = _Breaker(mutant.place).visit(ast.parse(path.read_text("utf-8")))
        path.write_text(ast.unparse(ast.fix_missing_locations(broken)), "utf-8")
        room = ROOMS[mutant.room]
        others = [tests for tests in _OTHERS if tests not in room]
        stages = {"recorded": _RECORDED, "its room": room, "others": others}
        by = next((name for name, tests in stages.items() if _fails(source, tests)), "")
    print(f"{mutant.path}:{mutant.line}: {mutant.fault}: {by or 'SURVIVED'}", file=sys.stderr)
    return by


def _fails(source: Path, tests: Sequence[str]) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    environment = {
        **os.environ,
        "CI": "true",
        "PYTHONPATH": os.pathsep.join((str(source), str(ROOT))),
        "PYTHONDONTWRITEBYTECODE": "",  # what is compiled once serves every mutant
    }
    try:
        done = subprocess.run(
            [*command, *tests],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main(argv: Sequence[str] | None = None) -> int:
    """Try some mutants, name the survivors, and return 1 if there are more than one in twenty."""
    arguments = _parse(argv)
    mutants = [
        mutant for room in arguments.room or ROOMS for mutant in find_mutants(room, ROOT / "src")
    ]
    chosen = random.Random(arguments.seed).sample(mutants, min(arguments.count, len(mutants)))
    chosen = chosen[arguments.skip :]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        noticing = list(pool.map(find_noticing, chosen))
    survivors = [one for one, name in zip(chosen, noticing, strict=True) if not name]
    rows = [[f"{one.path}:{one.line}", one.fault] for one in survivors]
    if rows:
        print(draw(["survived", "fault"], rows))
    by = Counter(filter(None, noticing))
    told = ", ".join(f"{count} by {name}" for name, count in by.items())
    print(f"{by.total()} of {len(chosen)} noticed ({told}), of {len(mutants)} there are")
    return int(len(survivors) > len(chosen) / 20)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=40, help="how many (40)")
    parser.add_argument("--seed", type=int, default=1, help="for others (1)")
    parser.add_argument("--skip", type=int, default=0, help="the first so many, tried before (0)")
    parser.add_argument("--room", action="append", choices=ROOMS, help="one of them; all if none")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at once (all cores)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
