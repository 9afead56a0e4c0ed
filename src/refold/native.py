"""The optional accelerator in C, `refold._scan`, or `None` where it was not built."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

__all__ = ["Items", "Names", "Scanner", "scanner"]

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Collection, Mapping


class Names(Protocol):
    """Finds the names in texts; a name that comes again may be the same string."""

    def find(self, text: str, /) -> tuple[str, ...]:
        """Return every name in *text* once, kind by kind, in reading order."""

    def count_survivors(
        self,
        said: list[tuple[str, ...]],
        said_in: list[int],
        shown: list[tuple[str, ...]],
        shown_in: list[int],
        /,
    ) -> tuple[int, int, int]:
        """Count the names *said*, those of them *shown*, and those shown where first said.

        All names were found here; in which messages is told for each text.
        """


class Items(Protocol):
    """Indexes the words and values of a conversation, text by text."""

    def add_text(
        self, turn: int, voice: int, text: str, ends: list[int], /
    ) -> tuple[list[int], list[tuple[int, ...]]]:
        """Take in a text: see `refold.plan.item_index`."""

    def columns(
        self, /
    ) -> tuple[dict[str, int], list[int], list[int], list[int], list[int], list[int], list[int]]:
        """Return the rows of all items, and the columns of `ItemStats` after that."""


class Scanner(Protocol):
    """The part that is written in C, in `csrc/`; each function has a form in Python, too.

    That form says what is right, and the tests hold the two against each other. Tables and words
    are handed over, so that they are said once, in Python.
    """

    def prefilter(
        self, text: str, symbols: bytes, lanes: bytes, slots: bytes, words: int, /
    ) -> bytes:
        """Return a bit for each shape and word in a text: see `refold.scan.prefilter`."""

    def needles(
        self, text: str, lower: str, heads: bytes, rows: bytes, /
    ) -> tuple[list[int], list[int]]:
        """Return which words a text holds, and where some of them are: `refold.scan.needles`."""

    def estimate_tokens(
        self, text: str, classes: bytes, pairs: bytes, scripts: bytes, first: int, /
    ) -> int:
        """Add up what the neighbours and scripts in a text weigh: `refold.scan.tokens.estimate`."""

    def names(
        self,
        tables: tuple[bytes, bytes, bytes],
        ideographs: str,
        rules: tuple[
            Callable[[str, int], re.Match[str] | None],
            Callable[[str], tuple[list[str], list[str]]],
        ],
        words: tuple[Collection[str], Collection[str]],
        /,
    ) -> Names:
        """Make what finds names: see `refold.scan.name_tables`."""

    def items(
        self,
        classes: bytes,
        longest: int,
        items_of: Mapping[str, list[str]],
        shapes: tuple[Callable[[str], int], int, Collection[str]],
        /,
    ) -> Items:
        """Make an index without items: see `refold.plan.item_index`."""


def _load() -> Scanner | None:
    try:
        return cast("Scanner", import_module("refold._scan"))
    except ImportError:
        return None


scanner: Final = _load()
"""The scanner, if it could be built."""
