"""Character classes for `re` that know more letters than A to Z.

The standard `re` has no class for capital letters. These are built for the scripts that have
capitals (Latin, Greek, Cyrillic, Armenian), whose code points do not change any more, so that the
same text gives the same result with every Python version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_CASED_BLOCKS: Final = ((0x41, 0x590), (0x1E00, 0x2000))


def _ranges(belongs: Callable[[str], bool]) -> str:
    """Spell all cased letters that belong as ranges of a character class."""
    pieces: list[str] = []
    for first, last in _CASED_BLOCKS:
        run: list[int] = []
        for code in range(first, last + 1):
            if code < last and chr(code).isalpha() and belongs(chr(code)):
                run.append(code)
            elif run:
                pieces.append(f"{chr(run[0])}-{chr(run[-1])}" if len(run) > 1 else chr(run[0]))
                run = []
    return "".join(pieces)


UPPER: Final = _ranges(str.isupper)
LOWER: Final = _ranges(str.islower)

IDEOGRAPHS: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Chinese characters and Japanese kana: written without spaces between words."""
