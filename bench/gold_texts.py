"""Short texts with the sentences that a summary should keep: our own, in six languages.

`bench/gold/LANGUAGE.txt` holds texts of a kind each (support, coding, planning, meetings). `= KIND`
begins a text, then comes a sentence a line: `!` an act (a request, an answer, a decision, a
prohibition, a condition, an amount, a deadline, a result, a conclusion), `+` another sentence that
a summary should keep, `-` one that it can do without.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

GOLD: Final = Path(__file__).parent / "gold"
_HELD_OUT: Final = 3
"""Every third text of a language is held out: nothing was tuned on it."""
_UNSPACED: Final = frozenset({"chinese", "japanese"})


@dataclass(frozen=True, slots=True)
class GoldText:
    """A text as sentences, and which of them matter."""

    language: str
    kind: str
    sentences: tuple[str, ...]
    acts: frozenset[str]
    gold: frozenset[str]
    is_held_out: bool

    def join(self, sentences: tuple[str, ...] | list[str]) -> str:
        """Write *sentences* as one paragraph of this language."""
        return ("" if self.language in _UNSPACED else " ").join(sentences)

    @property
    def text(self) -> str:
        """The sentences in their own order."""
        return self.join(self.sentences)


def read_gold() -> list[GoldText]:
    """Read all texts, by language."""
    found: list[GoldText] = []
    for path in sorted(GOLD.glob("*.txt")):
        blocks = path.read_text(encoding="utf-8").split("\n\n")
        found += (_read(path.stem, place, block) for place, block in enumerate(blocks))
    return found


def _read(language: str, place: int, block: str) -> GoldText:
    head, *lines = block.strip().splitlines()
    marked = [(line[0], line[2:]) for line in lines]
    return GoldText(
        language=language,
        kind=head.removeprefix("= "),
        sentences=tuple(said for _, said in marked),
        acts=frozenset(said for mark, said in marked if mark == "!"),
        gold=frozenset(said for mark, said in marked if mark in "!+"),
        is_held_out=place % _HELD_OUT == _HELD_OUT - 1,
    )
