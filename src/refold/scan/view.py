"""One text and the derived forms that several detectors ask for, each made at most once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from refold.scan.plain_bytes import outline, plain_bytes, undisguised, words_in


class Notes:
    """What a prefilter has found out about a text, kept for another look at it."""

    __slots__ = ("_declared", "_decode", "_words", "bits")

    def __init__(
        self,
        bits: int = 0,
        decode: Callable[[int], frozenset[bytes]] | None = None,
        declared: frozenset[bytes] | None = None,
    ) -> None:
        self.bits: Final = bits
        """What the scanner has seen, see `refold.scan.prefilter`; nothing without it."""
        self._decode: Final = decode
        self._declared: Final = declared
        """The only words that will be asked for, if known: all words of a text take more memory
        than the text."""
        self._words: frozenset[bytes] | None = None

    def words_of(self, view: TextView) -> frozenset[bytes]:
        """Return the words that the scanner has seen; without it, those that were declared."""
        if self._words is None:
            words = self._decode(self.bits) if self._decode else all_words(view)
            self._words = words if self._declared is None else words & self._declared
        return self._words


class TextView:
    """A text with its lines, its lower-cased form and its bytes, made when first asked for."""

    __slots__ = ("_lines", "_lower", "_outline", "_plain", "_plain_lower", "notes", "text")

    def __init__(self, text: str, notes: Notes | None = None) -> None:
        self.text = text
        self.notes = Notes() if notes is None else notes
        self._lines: list[str] | None = None
        self._lower: str | None = None
        self._plain: bytes | None = None
        self._plain_lower: bytes | None = None
        self._outline: bytes | None = None

    @property
    def lines(self) -> list[str]:
        """The text cut at line feeds; blank lines included."""
        if self._lines is None:
            self._lines = self.text.split("\n")
        return self._lines

    @property
    def lower(self) -> str:
        """The text in lower case, character by character: a place in it is one in the text."""
        if self._lower is None:
            # The dotted I is the one letter whose small form is more than one character.
            self._lower = "\u0130".join([part.lower() for part in self.text.split("\u0130")])
        return self._lower

    @property
    def plain_lower(self) -> bytes:
        """The lower-cased form as bytes, like `plain`; made faster than that form itself."""
        if self._plain_lower is None:
            # The Kelvin sign is the one character beyond ASCII whose small form is in it.
            is_odd = "\u212a" in self.text
            self._plain_lower = plain_bytes(self.lower) if is_odd else self.plain.lower()
        return self._plain_lower

    @property
    def plain(self) -> bytes:
        """The text as bytes, one for each character; those beyond ASCII are question marks."""
        if self._plain is None:
            self._plain = plain_bytes(self.text)
        return self._plain

    @property
    def outline(self) -> bytes:
        """The bytes with digits and some letters replaced: `refold.scan.plain_bytes.outline`."""
        if self._outline is None:
            self._outline = outline(self.plain)
        return self._outline

    @property
    def words(self) -> frozenset[bytes]:
        """The words of the text in lower case: at least those that a detector has declared.

        A word goes from one character that is no ASCII letter to the next. What beyond ASCII may
        stand for a letter is taken as that letter and as none: this is for ruling out.
        """
        return self.notes.words_of(self)


def all_words(view: TextView) -> frozenset[bytes]:
    """Return every word of a text in lower case, see `TextView.words`."""
    text, seen = view.text, words_in(view.plain)
    if text.isascii() or (plainer := undisguised(text)) == text:
        return seen
    return seen | words_in(plain_bytes(plainer))
