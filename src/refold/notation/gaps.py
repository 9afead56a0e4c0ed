"""Gaps: where a part of a text is left out, and how much: `… 37 lines …`, or `…` for a bit."""

from __future__ import annotations

import re
from typing import Final

AMOUNT: Final = r"[0-9]{1,2}+(?: (?:hundred|thousand))*+"
"""A pattern for what `spell_amount` writes."""
_WORDS: Final = {"hundred": 100, "thousand": 1_000}


def spell_amount(count: int) -> str:
    """Spell about how many: `37`, `11 hundred`, `30 thousand`."""
    if count < 100:
        return str(count)
    if count < 9_950:
        return f"{(count + 50) // 100} hundred"
    return f"{spell_amount((count + 500) // 1000)} thousand"


def read_amount(said: str) -> int:
    """Return the number that `spell_amount` spelled, as far as it tells."""
    number, *words = said.split()
    amount = int(number)
    for word in words:
        amount *= _WORDS[word]
    return amount


def count_things(count: int, noun: str) -> str:
    """Spell an amount with its noun, which is that of a single one: `1 line`, `37 lines`."""
    return f"{spell_amount(count)} {noun}" if count == 1 else f"{spell_amount(count)} {noun}s"


GAP: Final = "…"
"""A bit is left out here, or more than a bit on either side of how much."""
_CHARS_A_WORD: Final = 20
"""Where words are longer than this, there are hardly any blanks, and characters are counted."""
_LINE: Final = re.compile(rf"(?:{GAP} {AMOUNT} (?:line|word|character)s? )?+[{GAP} ]*+")


def gap(size: str) -> str:
    """Mark that so much is left out."""
    return f"{GAP} {size} {GAP}"


def size_of(text: str, start: int, end: int, *, least_lines: int, least_chars: int) -> str:
    """Say how many lines `text[start:end]` has, or how many words; nothing if that is few."""
    lines = text.count("\n", start, end)
    if lines >= least_lines:
        return count_things(lines, "line")
    chars = end - start
    if chars < least_chars:
        return ""
    words = len(text[start:end].split())
    if _CHARS_A_WORD * words >= chars:
        return count_things(words, "word")
    return count_things(chars, "character")


def more(count: int, noun: str) -> str:
    """Say that so many more are left out of a list or an object: `… 12 more items`."""
    return f"{GAP} {spell_amount(count)} more {noun}{'' if count == 1 else 's'}"


def said_times(count: int) -> str:
    """Say how often something was said that is shown once: ` ×41`."""
    return f" ×{spell_amount(count)}"


def is_gap(line: str) -> bool:
    """Tell whether a line says only that something is left out."""
    return GAP in line and _LINE.fullmatch(line) is not None


def without_gaps(text: str) -> str:
    """Return *text* without the gaps that have a line of their own."""
    if GAP not in text:
        return text
    return "\n".join(line for line in text.split("\n") if not _LINE.fullmatch(line) or not line)
