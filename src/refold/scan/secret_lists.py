"""Secrets in several parts behind one word: lists of recovery codes, keys in groups, answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from refold.scan.randomness import has_digit
from refold.scan.runs import Span
from refold.scan.secret_names import Grade, Name
from refold.scan.secret_values import Link, can_be_secret

_CODES: Final = re.compile(r"(?:code|código|codice|codici|код|コード|码|코드)\w{0,3}$", re.I)
_BEFORE_CODES: Final = re.compile(r"[^\n:：]{0,60}+[:：]?[ \t]*+")
_CODE: Final = re.compile(
    r"[\s,;|•*\"'`-]{0,12}+(?:[0-9]{1,2}[.)][ \t]*+)?"
    r"(?P<code>(?:[0-9]{3,5} [0-9]{3,5}|[A-Za-z0-9]{3,16}+(?:-[A-Za-z0-9]{3,16}+){0,4}+))"
    r"(?![^\s,;|\"'`.])"
)
_GROUPED_CODE: Final = re.compile(r"(?<![\w-])[A-Za-z0-9]{4,6}-[A-Za-z0-9]{4,6}(?![\w-])")
_MAX_LINE: Final = 400
_MAX_CODES: Final = 32
_GROUPS: Final = re.compile(
    r"(?<![\w-])(?:[A-Z0-9]{4,6}[ -]){2,12}[A-Z0-9]{4,6}(?![\w-])"
    r"|(?<![\w-])(?:[a-z0-9]{4}[ -]){3,12}[a-z0-9]{4}(?![\w-])"
)
_ALL_DIGITS: Final = re.compile(r"(?<![\w-])(?:[0-9]{4,6}[ -]){3,12}[0-9]{4,6}(?![\w-])")
_MIXED: Final = re.compile("[A-Za-z][0-9]|[0-9][A-Za-z]")
_MAX_GAP: Final = 60
_ANSWER: Final = re.compile(
    r"[^\n?？]{0,60}+[?？][^\n]{0,8}+\n{1,2}+[ \t>*-]{0,4}+(?:[\w. ]{1,24}: ?)?"
    r"[\"'`]?(?P<value>[!-~]{6,80}+)[\"'`]?[ \t]*+(?:\n|$)"
)
"""Somebody asks for it; the next line says nothing else."""


def find_in_lists(text: str, names: Iterable[Name]) -> Iterator[Span]:
    """Yield the parts of secrets that one of *names* announces."""
    done = 0
    for name in names:
        if name.start < done:
            continue
        spans = [*_groups(text, name)]
        if name.grade >= Grade.CODE:
            spans += [*_codes(text, name), *_codes_before(text, name), *_answers(text, name)]
        yield from spans
        done = max([done, *(end for _, end in spans)])


def _codes(text: str, name: Name) -> Iterator[Span]:
    """Yield the codes of "recovery codes: …", in a line or in lines."""
    if not _CODES.search(text, name.start, name.end):
        return
    before = _BEFORE_CODES.match(text, name.end)
    place = name.end if before is None else before.end()
    for _ in range(_MAX_CODES):
        found = _CODE.match(text, place)
        if found is None or not (has_digit(found["code"]) and len(found["code"]) >= 6):
            return
        yield found.span("code")
        place = found.end()


def _codes_before(text: str, name: Name) -> Iterator[Span]:
    """Yield the codes of a line that says what they are at its end."""
    if not _CODES.search(text, name.start, name.end) or text[name.end - 1] != "s":
        return
    start = max(0, name.start - _MAX_LINE)
    start = text.rfind("\n", start, name.start) + 1 or start
    for found in _GROUPED_CODE.finditer(text, start, name.start):
        if has_digit(found[0]):
            yield found.span()


def _groups(text: str, name: Name) -> Iterator[Span]:
    """Yield a key that is spelled in groups: `ABCD EFGH IJKL MNOP`."""
    stop = name.end + _MAX_GAP + 64
    for found in islice(_GROUPS.finditer(text, name.end, stop), 1):
        is_near = found.start() - name.end <= _MAX_GAP
        if is_near and name.grade >= Grade.CODE and _MIXED.search(found[0]):
            yield found.span()
    digits = _ALL_DIGITS.search(text, name.end, stop)
    if digits is not None and digits.start() - name.end <= _MAX_GAP // 4:
        yield digits.span()


def _answers(text: str, name: Name) -> Iterator[Span]:
    found = _ANSWER.match(text, name.end)
    if found is not None and can_be_secret(found["value"], name.grade, Link.SAID):
        yield found.span("value")
