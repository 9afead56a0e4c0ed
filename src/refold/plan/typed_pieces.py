"""Which pieces of the user's texts a person typed, where a program speaks in the user's place too.

Chat programs put their own lines between those of their user: what was sent and what it cost, which
file was edited. Such lines come again and again with other numbers, and many are not in words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from refold.plan.choose import Candidates
from refold.plan.corpus import Text
from refold.plan.typed import is_in_words

_DIGITLESS: Final = re.compile(r"(?<!\S)[^\s\d]++(?!\S)")
"""A word without a digit; each is looked at from its beginning only."""


def find_typed(candidates: Candidates, texts: Sequence[Text]) -> list[int]:
    """Return the candidates that a person typed, in reading order."""
    parts: dict[int, str] = {}
    typed: list[int] = []
    is_typed = [text.is_typed for text in texts]
    for number, place in enumerate(candidates.text):
        if not is_typed[place]:
            continue
        text = texts[place]
        start, end = candidates.start[number], candidates.end[number]
        if end - start < len(text.text):
            parts[number] = text.text[start:end]
        typed.append(number)
    forms = {number: _form(part) for number, part in parts.items()}
    times = Counter(forms.values())
    return [
        number
        for number in typed
        if number not in parts or (times[forms[number]] == 1 and is_in_words(parts[number]))
    ]


def _form(part: str) -> str:
    """Return *part* without words that hold a digit: they are other ones each time."""
    return " ".join(_DIGITLESS.findall(part))
