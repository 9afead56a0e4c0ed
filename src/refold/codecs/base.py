"""What a codec is, and the few things that several codecs share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from refold.errors import FormatError
from refold.rows import Needs

_WORD: Final = re.compile(r"[^\W\d_]{2,}|\d+")
_MAX_COUNT: Final = 99
"""The most that one number says: see `spell_count`."""


def same(text: str) -> str:
    """Return *text*: most codecs give it back to the letter."""
    return text


def is_any(_text: str) -> bool:
    """Return that any text will do."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """One way to write the same data in fewer tokens.

    `encode` returns `None` where it has nothing to do. `decode` undoes `encode` up to `normal`,
    which spells what counts as the same data; it raises `FormatError` for a text that `encode`
    could not have written. Whoever uses a codec compares `decode(encode(text))` with
    `normal(text)` every time, so that a text that looks like an encoded one is simply left alone.
    """

    name: str
    encode: Callable[[str], str | None]
    decode: Callable[[str], str]
    normal: Callable[[str], str] = same
    """Returns the form in which texts with the same data are equal; asked for by `needs`, too."""
    needs: Needs = Needs()  # noqa: RUF009 - it is immutable
    """What every text that it can shorten holds (`refold.rows.Needs`); by default, anything."""
    sees: Callable[[str], bool] = is_any
    """A cheap first test, for what `needs` cannot express."""
    reads_in_parts: bool = True
    """Whether each line of the new form can be understood without lines far above it."""
    on_one_line: bool = False
    """Whether it applies to a text without line breaks."""

    def applies_to(self, text: str) -> bool:
        """Return, after a cheap test, whether `encode` may find anything in *text*."""
        return self.needs(text) and self.sees(text)


def count_words(text: str) -> int:
    """Count the words and numbers of *text*: what a reader finds a value by."""
    return len(_WORD.findall(text))


def spell_count(count: int) -> str:
    """Spell a number of lines: as a sum, because three digits would look like a value."""
    full, part = divmod(count, _MAX_COUNT)
    return "+".join([str(part)] * (part > 0) + [str(_MAX_COUNT)] * full)


def read_count(spelling: str) -> int:
    """Read what `spell_count` wrote."""
    return sum(map(int, spelling.split("+")))


def unreadable(codec: str, line: str) -> FormatError:
    """Return the error for a line that the codec of that name did not write."""
    return FormatError(f"{codec}: cannot decode {line[:80]!r}; was the text edited?")
