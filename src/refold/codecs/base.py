"""What a codec is, and the few things that several codecs share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from refold.errors import FormatError

_WORD: Final = re.compile(r"[^\W\d_]{2,}|\d+")


def same(text: str) -> str:
    """Return *text*: most codecs give it back to the letter."""
    return text


@dataclass(frozen=True, slots=True)
class Codec:
    """One way to say the same in fewer tokens.

    `encode` returns `None` where it has nothing to do. `decode` undoes `encode` up to `normal`,
    which spells what counts as the same data; it raises `FormatError` for a text that `encode`
    could not have written. Whoever uses a codec compares `decode(encode(text))` with
    `normal(text)` every time, so that a text that looks like an encoded one is simply left alone.
    """

    name: str
    sees: Callable[[str], bool]
    """A cheap first test: may `encode` find anything?"""
    encode: Callable[[str], str | None]
    decode: Callable[[str], str]
    normal: Callable[[str], str] = same
    reads_in_parts: bool = True
    """Whether a line of the new form can be understood without others far above it."""
    on_one_line: bool = False
    """Whether it has a use for a text without line breaks."""


def count_words(text: str) -> int:
    """Count the words and numbers of *text*: what a reader finds a value by."""
    return len(_WORD.findall(text))


def unreadable(codec: str, line: str) -> FormatError:
    """Return the error for a line that the codec of that name did not write."""
    return FormatError(f"{codec}: cannot decode {line[:80]!r}; was the text edited?")


Rows = list[list[str]]


def cut_blocks(
    lines: list[str], belongs: Callable[[str], bool]
) -> Iterator[tuple[bool, list[str]]]:
    """Cut *lines* into runs that belong together and runs that do not."""
    run: list[str] = []
    is_block = False
    for line in lines:
        if belongs(line) != is_block:
            if run:
                yield is_block, run
            run, is_block = [], not is_block
        run.append(line)
    if run:
        yield is_block, run


def widths_of(rows: Rows) -> list[int]:
    """Return how wide the widest cell of each column is."""
    widths: list[int] = []
    for row in rows:
        widths += [0] * (len(row) - len(widths))
        for column, cell in enumerate(row):
            widths[column] = max(widths[column], len(cell))
    return widths
