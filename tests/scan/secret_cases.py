"""Texts with secrets: the fixtures mark each with double brackets. All of them are made up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FIXTURES = Path(__file__).parent / "fixtures"
_MARKS = re.compile("([⟦⟧])")


@dataclass(frozen=True, slots=True)
class SecretCase:
    """A text, and where its secrets are."""

    label: str
    text: str
    spans: tuple[tuple[int, int], ...]

    @property
    def secrets(self) -> list[str]:
        return [self.text[start:end] for start, end in self.spans]


def read_cases(name: str) -> list[SecretCase]:
    """Read a fixture; `!`, `?` and `.` behind a secret may as well end its sentence."""
    cases = []
    for block in (_FIXTURES / name).read_text(encoding="utf-8").split("=== ")[1:]:
        label, _, marked = block.partition("\n")
        text, start, spans = "", 0, []
        for piece in _MARKS.split(marked.removesuffix("\n")):
            if piece == "⟦":
                start = len(text)
            elif piece == "⟧":
                spans.append((start, start + len(text[start:].rstrip("!?."))))
            else:
                text += piece
        cases.append(SecretCase(label, text, tuple(spans)))
    return cases
