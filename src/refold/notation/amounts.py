"""About how many, in words: three digits in a row would look like a value that somebody said."""

from __future__ import annotations

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
