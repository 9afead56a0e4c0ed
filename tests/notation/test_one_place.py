"""No module but those of `refold.notation` has a word of the notation: all others import it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import refold

PACKAGE = Path(refold.__file__).parent
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE / "notation"]
WORDS = re.compile(
    r"\[summary|\[truncated|\bcce:|messages merged|\| entities|\[kept:|whole text: |whole result"
    r"|\[?shortened (?:from|to)\b|summarized from|\[?reformatted|% shown|\bsame as the\b"
    r"|\bthe copy (?:above|below)|left out: |Also named: "
)
GAP = "…"
AT_THE_EDGE = {"cli", "conversation/models.py", "conversation/overflow.py"}
"""What they write is for people: help, tables and errors."""


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def strings(path: Path) -> Iterator[str]:
    """Yield the string literals of a module that are no docstrings, and what f-strings have."""
    docs = {id(node.value) for node in nodes_of(path) if isinstance(node, ast.Expr)}
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def test_nobody_else_spells_a_stand_in() -> None:
    found = [(path, text) for path in MODULES for text in strings(path) if WORDS.search(text)]
    assert not found


def test_nobody_else_shows_a_handle() -> None:
    for path in MODULES:
        for node in nodes_of(path):
            if not isinstance(node, ast.JoinedStr) or path.parent.name in ("cli", "report"):
                continue  # the numbers of messages, and the comments of shell scripts
            said = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            assert not re.search(r"(?:^|[ \[])#\{\}", "".join(map(str, said))), path


def test_nobody_else_writes_a_gap() -> None:
    """A bare ellipsis: as a whole literal, or beside what an f-string fills in."""
    for path in MODULES:
        name = path.relative_to(PACKAGE)
        if AT_THE_EDGE & {str(name), name.parts[0]}:
            continue
        found = [text for text in strings(path) if text.strip() == GAP]
        assert not found, name
