"""Find the secrets of a text: keys, tokens, passwords, private keys, cards, seed phrases.

One vocabulary for all of refold: the detector that keeps keys word for word reads the table of
`secret_keys`; redaction hides everything that is found here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from refold.scan.named_secrets import find_named
from refold.scan.runs import KEY_RUN, Span
from refold.scan.secret_blocks import (
    find_columns,
    find_in_lists,
    find_private_keys,
    find_seed_phrases,
)
from refold.scan.secret_commands import COMMANDS
from refold.scan.secret_keys import find_keys, find_known
from refold.scan.secret_looks import (
    find_digests,
    find_numbers,
    find_password_like,
    find_random_tokens,
)
from refold.scan.secret_names import Grade, find_names
from refold.scan.secret_places import PLACES
from refold.scan.secret_rules import signs_of
from refold.scan.view import TextView, plain_bytes

_RULES: Final = signs_of((*PLACES, *COMMANDS))


def find_secrets(text: str) -> list[Span]:
    """Return where the secrets of *text* are, in reading order.

    Secrets are known by shape (keys of services, random tokens, private keys, cards, bank accounts,
    seed phrases), by place (URLs, headers, cookies, command lines, calls, account files), and by
    the words around them in sixty languages (names in code and configuration, headings,
    sentences). In doubt it is a secret, since what is hidden is put back later. Always linear.
    """
    spans = [span for found in _finders(text) for span in found]
    spans += _keys_across_lines(text)
    plain = unescape(text)
    if plain is not None:
        spans += [plain.span(*span) for found in _finders(plain.text) for span in found]
    return merged(text, spans)


def announces_secrets(text: str) -> bool:
    """Tell whether a word of *text* announces a secret."""
    lower = TextView(text).lower
    return any(name.grade >= Grade.SECRET for name in find_names(text, lower))


def _finders(text: str) -> Iterator[Iterable[Span]]:
    view = TextView(text)
    lower = view.lower
    signs = frozenset(sign for sign in _RULES if sign in lower)
    names = list(find_names(text, lower))
    yield find_keys(text, list(KEY_RUN.spans(view.plain)))
    yield find_named(text, names)
    yield find_columns(text, names)
    for rule in dict.fromkeys(rule for sign in _RULES if sign in signs for rule in _RULES[sign]):
        yield rule.find(text, lower, signs)
    yield find_private_keys(text)
    yield find_seed_phrases(text, view.plain)
    yield find_numbers(text, lower, view.plain, view.outline)
    yield find_in_lists(text, names)
    yield find_random_tokens(text, view.plain)
    yield find_password_like(text, view.plain)
    yield find_digests(text, view.plain, names)


def _keys_across_lines(text: str) -> Iterator[Span]:
    """Yield the keys of known services that go on in the next line."""
    joined = join_lines(text)
    if joined is not None:
        runs = list(KEY_RUN.spans(plain_bytes(joined.text)))
        for start, end in find_known(joined.text, runs):
            yield joined.span(start, end)


def merged(text: str, spans: Iterable[Span]) -> list[Span]:
    """Return *spans* in order, those that overlap as one, without empty ones."""
    joined: list[Span] = []
    for start, end in sorted((max(0, a), min(b, len(text))) for a, b in spans):
        if start >= end:
            continue
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


_INNER: Final = "[A-Za-z0-9_-]"
_BREAK: Final = re.compile(
    "|".join(
        rf"{first}(?<={_INNER}{first}){rest}(?={_INNER})"
        for first, rest in (
            (r"\\", r"\r?\n[ \t>|]*+"),
            (r"\r", r"\n[ \t>|]*+"),
            (r"\n", r"[ \t>|]*+"),
            ('"', r"[ \t]*+[\\+]?\r?\n[ \t]*+\""),
            ("'", r"[ \t]*+[\\+]?\r?\n[ \t]*+'"),
        )
    )
)
"""A line break inside a word, or between the halves of a string.

Each way begins with a sign, which can be looked for, and not with a look behind.
"""
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A text with characters removed or replaced, and where each was."""

    text: str
    starts: list[int]
    """Where each unchanged piece begins in it, or each character that replaces others."""
    moved: list[int]
    """How much further on each piece was in the original."""

    def span(self, start: int, end: int) -> Span:
        """Return where a piece of the text was in the original."""
        return self._place(start), self._place(end - 1) + 1

    def _place(self, place: int) -> int:
        return place + self.moved[bisect_right(self.starts, place) - 1]


def join_lines(text: str) -> Unwrapped | None:
    """Return *text* without the line breaks inside words; None if there are none."""
    return _replaced(text, _BREAK, lambda _: "")


def unescape(text: str) -> Unwrapped | None:
    """Return *text* with the characters that JSON spells as numbers; None if there are none."""
    if "\\u" not in text:
        return None
    return _replaced(text, _ESCAPE, lambda found: chr(int(found[1], 16)))


def _replaced(
    text: str, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str]
) -> Unwrapped | None:
    """Replace what *pattern* finds by at most one character each."""
    pieces: list[str] = []
    starts, moved = [0], [0]
    done = lost = 0
    for found in pattern.finditer(text):
        start, end = found.span()
        char = replace(found)
        pieces += text[done:start], char
        if char:  # it was where the other ones began
            starts.append(start - lost)
            moved.append(lost)
        lost += end - start - len(char)
        starts.append(end - lost)
        moved.append(lost)
        done = end
    if done == 0:
        return None
    pieces.append(text[done:])
    return Unwrapped("".join(pieces), starts, moved)
