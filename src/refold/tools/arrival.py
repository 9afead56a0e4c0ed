"""Shortens a single tool result on arrival: once, before any model has seen it.

A hook starts a process for each result, so what only some results need is imported there.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from refold.checks import check_choice, check_whole
from refold.codecs import reencode
from refold.notation.marks import GAP
from refold.notation.notes import shortened_from
from refold.scan.tokens.estimate import estimate_tokens
from refold.tools.text_store import TextStore, show_short

PROFILES: Final = ("lossless", "standard")
_MIN_SAVING: Final = 0.1
"""A result that would not get this much shorter stays as it is: another notation is harder to read.
A guess, the same as in `CompressionManager`."""
_SEVERE: Final = re.compile(r"\b(?:ERROR|FATAL|CRITICAL|PANIC)\b")
_AROUND: Final = f" \t\r{GAP}"
"""What may surround a line in an excerpt: a short gap has no line of its own."""
_MOST_ERRORS: Final = 200
"""A text with more errors than this is little else: no excerpt is made of it."""


class ShortResult(NamedTuple):
    """A result in fewer tokens; its note has the handle of the whole."""

    text: str
    tokens_before: int
    tokens_after: int


def shorten_result(
    text: str, text_store: TextStore, *, profile: str, max_tokens: int, is_file: bool = False
) -> ShortResult | None:
    """Return the short form of *text*, whose whole is in the store then; `None` if it stays.

    With the profile `lossless` nothing is left out. With `standard` a result that would still take
    more than *max_tokens* becomes an excerpt, unless that would omit a line that reports an error.

    The text of a file (*is_file*) may be edited next, which requires its exact words. So it stays
    as it is unless a program wrote it, and it never becomes an excerpt.
    """
    check_choice("profile", profile, PROFILES)
    check_whole("max_tokens", max_tokens, least=1)
    if is_file and not _is_of_program(text):
        return None
    before = estimate_tokens(text)
    recoded = reencode(text, estimate_tokens)
    short, words = text if recoded is None else recoded.text, ""
    if profile == "standard" and not is_file and estimate_tokens(short) > max_tokens:
        from refold.fold.one_text import fold_text

        excerpt = fold_text(text, max_tokens, estimate_tokens)
        if excerpt is not None and _has_errors_of(text, excerpt):
            short, words = excerpt, shortened_from(before, "tokens")
    if short is text:
        return None
    text_now = show_short(short, text, words, text_store)
    after = estimate_tokens(text_now)
    if after > (1 - _MIN_SAVING) * before:
        return None
    text_store.keep(text)
    return ShortResult(text_now, before, after)


def _is_of_program(text: str) -> bool:
    from refold.fold.kinds import PROGRAM_KINDS, kind_of

    return kind_of(text) in PROGRAM_KINDS


def _has_errors_of(text: str, excerpt: str) -> bool:
    """Return whether every line of *text* that reports an error is in *excerpt*, whole."""
    from refold.fold.kinds import grade_lines
    from refold.fold.pieces import Grade

    lines = {line.strip(_AROUND) for line in excerpt.split("\n")}
    severe = (line for line in text.split("\n") if _SEVERE.search(line))
    if not all(line.strip(_AROUND) in lines for line in severe):
        return False
    errors = [
        text[start : text.find("\n", start) % (len(text) + 1)]
        for start, grade in grade_lines(text)
        if grade >= Grade.ERROR
    ]
    return len(errors) <= _MOST_ERRORS and all(error.strip() in excerpt for error in errors)
