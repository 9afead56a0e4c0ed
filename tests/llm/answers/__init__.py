"""Careful summaries and bad answers, by the text that they stand for.

A file is `=== source`, a text, and then any number of `=== good: NAME` and `=== bad CLASS: NAME`,
each with an answer. `{U+202E}` stands for a character that could not be seen here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from refold.llm.checks import Source, check, complete
from refold.scan.tokens.estimate import estimate_tokens

Use = Literal["as written", "with values", "with a sentence", "refused"]
"""What becomes of an answer: used with nothing or with what in its last line, or not used."""

HOSTILE: Final = ("refusal", "chat", "turn", "instruction", "markup", "homoglyph", "invisible")
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
        source, number = "", 0
        for what, kind, name, body in _CASE.findall(path.read_text(encoding="utf-8")):
            text = _CODE.sub(lambda code: chr(int(code[1], 16)), body[:-1])
            if what == "source":
                source, number = text, number + 1
            else:
                found.append(Answer(source, text, kind, f"{path.stem} {number}: {name}"))
    return found


def use_of(answer: Answer) -> Use:
    """Tell how an answer is used that a model gives once."""
    source = _read_source(answer.source)
    refusals = check(source, answer.text)
    used = complete(source, answer.text, refusals)
    if used is None:
        return "refused"
    if used == answer.text:
        return "as written"
    is_sentence = any(refusal.check == "negations_kept" for refusal in refusals)
    return "with a sentence" if is_sentence else "with values"


@cache
def _read_source(text: str) -> Source:
    """Return what the checks know of a text, once for all answers to it."""
    return Source(text, estimate_tokens)
