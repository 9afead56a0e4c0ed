"""What a gate is: one question that a replacement must answer before it may be used."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, TypeVar

from refold.llm.gates._values import Value, list_labels, read_values, stated_by
from refold.scan.facts import Facts, extract_facts

T = TypeVar("T")

WORD: Final = re.compile(r"\w+")
STEM_CHARS: Final = 5
"""Words that begin with the same letters are forms of one word; endings are behind that."""
INVISIBLE: Final = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that are not shown, or that change the order in which others are shown."""
_LOOK_ALIKES: Final = str.maketrans(
    "авсԁеһіјӏорԛѕѵхуԝүкмнтгьαβενορτυχικɑɡı",
    "abcdehijlopqsvxywykmhtrbabevoptuxikagi",
)
"""Small letters of other alphabets, and the Latin ones that they are taken for."""
MIXED: Final = re.compile(
    r"(?<![^\W\d_])(?=[^\W\d_]*?[a-z\u00df-\u024f])(?=[^\W\d_]*?[\u0370-\u058f])[^\W\d_]++"
)
"""Words in small letters of two alphabets that look alike. (Scripts without blanks stand right
beside Latin words; they are not among these.)"""
_ALPHABETS: Final = re.compile(r"[\u0370-\u058f]")


class Source:
    """The text that a replacement stands for, and what the gates find in it, computed once."""

    def __init__(self, text: str, count_tokens: Callable[[str], int]) -> None:
        self.text = text
        self.count_tokens = count_tokens
        self._found: dict[Callable[[Source], Any], Any] = {}

    def once(self, find: Callable[[Source], T]) -> T:
        """Return what *find* finds in this source; what a single gate needs is computed by it."""
        if find not in self._found:
            self._found[find] = find(self)
        found: T = self._found[find]
        return found

    @cached_property
    def facts(self) -> Facts:
        """The facts that must not get lost."""
        return extract_facts(self.text)

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """The values among the facts, in a form that does not depend on the spelling."""
        return read_values(self.text)

    @cached_property
    def stated(self) -> set[str]:
        """Every value that a replacement may name."""
        return stated_by(self.text, self.values) | list_labels(self.text)

    @cached_property
    def folded(self) -> str:
        """The text with case and white space made equal, to look up words in."""
        return fold(self.text)

    @cached_property
    def reading(self) -> str:
        """The text as it reads, see `read`, with white space made equal."""
        return fold(read(self.text))

    @cached_property
    def spelled(self) -> set[str]:
        """The words of the text letter by letter, identifiers whole."""
        return set(WORD.findall(self.text))

    @cached_property
    def words(self) -> set[str]:
        """The words of the folded text, identifiers whole."""
        return set(WORD.findall(self.folded))

    @cached_property
    def tokens(self) -> int:
        """The number of tokens of the text."""
        return self.count_tokens(self.text)


def fold(text: str) -> str:
    """Make case and white space equal."""
    return " ".join(text.casefold().split())


def read(text: str) -> str:
    """Return *text* as a reader takes it in: look-alike letters and case made equal, lines kept.

    Invisible characters are left out.
    """
    plain = INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold()
    plain = re.sub(r"[^\S\n]+", " ", plain).replace("’", "'")
    if _ALPHABETS.search(plain):
        return MIXED.sub(lambda word: word[0].translate(_LOOK_ALIKES), plain)
    return plain


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a replacement may not be used."""

    why: str
    missing: tuple[str, ...] = ()
    """Facts of the source that the replacement lacks: asking again with them may help."""
    is_false: bool = False
    """Whether it says the opposite of a fact: then appending the fact does not make it true."""
    gate: str = ""
    """Which gate refused it."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A question about a source and a replacement, and the name under which a report shows it."""

    name: str
    _refuse: Callable[[Source, str], Refusal | None]

    def check(self, source: Source, answer: str) -> Refusal | None:
        """Refuse *answer*, or return None if there is nothing against it."""
        refusal = self._refuse(source, answer)
        return None if refusal is None else replace(refusal, gate=self.name)


def some(facts: tuple[str, ...] | list[str], *, most: int = 3) -> str:
    """Show the first few of many."""
    shown = ", ".join(fact if len(fact) <= 60 else fact[:57] + "..." for fact in facts[:most])
    return shown + (f" and {len(facts) - most} more" if len(facts) > most else "")
