"""Careful summaries and bad answers, by the text that they stand for.

A file is `=== source`, a text, and then any number of `=== good: NAME` and `=== bad CLASS: NAME`,
each with an answer. `{U+202E}` stands for a character that could not be seen here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_CASE = re.compile(r"^=== (source|good|bad)(?: ([a-z ]+))?(?:: (.+))?\n((?:(?!=== ).*\n)+)", re.M)
_CODE = re.compile(r"\{U\+([0-9A-F]{4,6})\}")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a text; a bad one is of some class, a good one of none."""

    source: str
    text: str
    kind: str
    name: str


def read_answers() -> list[Answer]:
    """Read all files."""
    found: list[Answer] = []
    for path in sorted(Path(__file__).parent.glob("*.md")):
        source = ""
        for what, kind, name, body in _CASE.findall(path.read_text(encoding="utf-8")):
            text = _CODE.sub(lambda code: chr(int(code[1], 16)), body[:-1])
            if what == "source":
                source = text
            else:
                found.append(Answer(source, text, kind, f"{path.stem}: {name}"))
    return found
