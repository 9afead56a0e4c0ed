"""Careful summaries and bad answers, by the text that they stand for.

A file is `=== source`, a text, and then any number of `=== good: NAME` and `=== bad CLASS: NAME`,
each with an answer. `{U+202E}` stands for a character that could not be seen here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from refold.classic.sentences import TokenPoints, char_budget, read, summarize
from refold.classic.texts import View
from refold.llm.dialogue import choose_answer
from refold.llm.gates import Source, check, only_lacks
from refold.llm.gates._clauses import split_sentences
from refold.scan.tokens.estimate import estimate_tokens

Use = Literal["whole", "in part", "rules keep more", "refused"]

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


def is_right(answer: Answer, use: Use) -> bool:
    """Tell whether a careful answer is used, or what is wrong with another is not."""
    return use in ("whole", "in part") if not answer.kind else use != "whole"


def use_of(answer: Answer, answers: Sequence[Answer]) -> Use:
    """Tell how an answer is used that a model gives twice; facts may be appended in any case.

    A wrong one of which all its own sentences stay is used whole: what other answers to the same
    text say as well is not what is wrong with it.
    """
    source, rules = _read_source(answer.source)
    refusals = check(source, answer.text)
    chosen = choose_answer(source, [(answer.text, refusals)], rules)
    if chosen is None:
        return "rules keep more" if only_lacks(refusals) else "refused"
    own = _sentences(answer)
    if answer.kind:
        said = Counter(
            sentence
            for other in answers
            if other.source == answer.source
            for sentence in _sentences(other)
        )
        own = {sentence for sentence in own if said[sentence] == 1} or own
    return "whole" if all(sentence in chosen.text for sentence in own) else "in part"


@cache
def _read_source(text: str) -> tuple[Source, str | None]:
    """Return what gates know of a text, once for all answers to it, and its summary by rules."""
    source = Source(text, estimate_tokens)
    return source, summarize([read(View(text), TokenPoints())], char_budget(len(text)))


def _sentences(answer: Answer) -> set[str]:
    return {sentence.strip() for sentence in split_sentences(answer.text)}
