"""Rules that find secrets by their place: a pattern, and the words that rule most texts out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from refold.scan.runs import Span
from refold.scan.secret_names import Grade
from refold.scan.secret_values import Link, can_be_secret

Reader = Callable[[re.Match[str]], Iterable[Span]]
"""Returns the places of the secrets in a match, if there are any."""

_VARIABLES: Final = ("$(", "${", "<", "{")
"""How variables and placeholders begin."""


def any_value(found: re.Match[str]) -> Iterator[Span]:
    """Accept any value."""
    yield found.span(found.lastgroup or 0)


def no_variable(found: re.Match[str]) -> Iterator[Span]:
    """Accept a value unless it is a variable or a placeholder."""
    if not found[found.lastgroup or 0].startswith(_VARIABLES):
        yield found.span(found.lastgroup or 0)


def password(link: Link = Link.SAID) -> Reader:
    """Accept a value that can be a password, linked to its word in this way."""

    def read(found: re.Match[str]) -> Iterator[Span]:
        if can_be_secret(found["value"], Grade.PASSWORD, link):
            yield found.span("value")

    return read


def each_row(row: str, read: Reader) -> Reader:
    """Read the rows of a block, which is the last group of a match."""
    pattern = re.compile(row)

    def read_block(block: re.Match[str]) -> Iterator[Span]:
        for found in pattern.finditer(block.string, *block.span(block.lastgroup or 0)):
            yield from read(found)

    return read_block


class Rule:
    """A pattern, and what a text must hold for it to find anything: most texts are ruled out early.

    *begins* lists what every match begins with, in lower case with `|` between: the pattern is only
    tried there. One of *signs* is in every text with such a secret; without them, one of *begins*
    is. With *line*, a match begins where the line of a sign does.
    """

    def __init__(
        self,
        begins: str,
        pattern: str,
        read: Reader = no_variable,
        *,
        signs: str | Sequence[str] = (),
        line: bool = False,
    ) -> None:
        self.signs: Final = _split(signs or begins)
        self._begins: Final = self.signs if line else _split(begins)
        self._line: Final = line
        self.pattern: Final = re.compile(pattern)
        self.read: Final = read

    def find(self, text: str, lower: str, seen: Collection[str]) -> Iterator[Span]:
        """Yield the secrets of a text that has the signs *seen*, at least one of which is ours."""
        heads = [head for head in self._begins if head in seen or head not in self.signs]
        matches = self._matches(text, lower, heads) if heads else self.pattern.finditer(text)
        for found in matches:
            yield from self.read(found)

    def _matches(self, text: str, lower: str, heads: Sequence[str]) -> Iterator[re.Match[str]]:
        """Yield the matches that begin with one of *heads*, or with a line that has one."""
        done = 0
        for place in sorted([place for head in heads for place in _places(lower, head)]):
            if place >= done:
                start = lower.rfind("\n", done, place) + 1 or done if self._line else place
                found = self.pattern.match(text, start)
                if found is not None:
                    yield found
                    done = found.end()
                elif self._line:
                    end = lower.find("\n", place)
                    done = len(lower) if end < 0 else end + 1


def _split(words: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(filter(None, words.split("|") if isinstance(words, str) else words))


def _places(lower: str, sign: str) -> Iterator[int]:
    place = lower.find(sign)
    while place >= 0:
        yield place
        place = lower.find(sign, place + 1)


def signs_of(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    """Return the rules by each of their signs."""
    by_sign: dict[str, list[Rule]] = {}
    for rule in rules:
        for sign in rule.signs:
            by_sign.setdefault(sign, []).append(rule)
    return by_sign
