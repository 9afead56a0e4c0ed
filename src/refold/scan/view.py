"""One text and the derived forms that several detectors ask for, each made at most once."""

from __future__ import annotations

from typing import Final

_UPPER: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER: Final = b"abcdefghijklmnopqrstuvwxyz"
_LOWER_LETTERS: Final = bytes(
    byte if byte in _LOWER else byte + 32 if byte in _UPPER else 32 for byte in range(256)
)
"""Maps letters to lower case and everything else to blanks."""
_DISGUISES: Final = (("\u0130", "i"), ("\u0131", "i"), ("\u017f", "s"), ("\u212a", "k"))
"""The characters beyond ASCII that count as ASCII letters where case is ignored."""

_OUTLINE: Final = bytes(
    ord("0") if byte in b"0123456789"
    else ord("u") if byte in b"kKmMnNgGtThHsS"
    else ord("v") if byte in b"vV"
    else ord(" ") if byte == ord("\t")
    else byte
    for byte in range(256)
)  # fmt: skip


class TextView:
    """A text with its lines, its lower-cased form and its bytes, made when first asked for."""

    __slots__ = ("_lines", "_lower", "_outline", "_plain", "_plain_lower", "_words", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines: list[str] | None = None
        self._lower: str | None = None
        self._plain: bytes | None = None
        self._plain_lower: bytes | None = None
        self._outline: bytes | None = None
        self._words: frozenset[bytes] | None = None

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
        """The bytes with digits and some letters replaced."""
        if self._outline is None:
            self._outline = outline(self.plain)
        return self._outline

    @property
    def words(self) -> frozenset[bytes]:
        """The words of the text in lower case.

        A word goes from one character that is no ASCII letter to the next. What beyond ASCII may
        stand for a letter is taken as that letter and as none: this is for ruling out.
        """
        if self._words is None:
            self._words = words_in(self.plain)
            if not self.text.isascii() and (plainer := undisguised(self.text)) != self.text:
                self._words |= words_in(plain_bytes(plainer))
        return self._words


def plain_bytes(text: str) -> bytes:
    """Return one byte for each character of *text*: itself if it is ASCII, else a question mark."""
    return text.encode("ascii", "replace")


def encodable(text: str) -> str:
    """Replace lone surrogates: no provider's JSON can carry them."""
    return text.encode("utf-8", "replace").decode()


def words_in(plain: bytes) -> frozenset[bytes]:
    """Return the words of a text as bytes, in lower case: all runs of letters."""
    return frozenset(plain.translate(_LOWER_LETTERS).split())


def undisguised(text: str) -> str:
    """Return *text* with ASCII letters for the few others that count as such in any case."""
    for char, letter in _DISGUISES:
        text = text.replace(char, letter)
    return text


def outline(plain: bytes) -> bytes:
    """Return where numbers and measures may be: digits are 0, letters that begin units are u.

    The letter of versions is v whatever its case, and tabs are blanks.
    """
    return plain.translate(_OUTLINE)
