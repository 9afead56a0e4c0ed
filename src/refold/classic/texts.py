"""One text and what was learned about it: each pass over it is made once, when first needed.

Threads may share a view: each property returns what it has made, whatever others forget.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from refold.classic.words import TELLING, Words
from refold.scan.runs import Span

if TYPE_CHECKING:
    from refold.classic.sentences import Sentences

_WORD_BYTES: Final = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789_"
    else byte + 32 if 65 <= byte <= 90
    else 32
    for byte in range(256)
)  # fmt: skip
"""Maps words to lower case and everything else to blanks."""
_DOTTED_I: Final = "\u0130"
"""The one letter whose small form is more than one character."""
_ODD_CASES: Final = ((_DOTTED_I, "i"), ("\u0131", "i"), ("\u017f", "s"), ("\u212a", "k"))
"""The letters beyond ASCII that are an ASCII letter where case is ignored."""


class View:
    """A text, its derived forms, and what was found in it; equal texts share one."""

    __slots__ = (
        "_has_digits",
        "_lower",
        "_plain",
        "_words",
        "first_hard",
        "hard",
        "sentences",
        "text",
    )

    def __init__(self, text: str) -> None:
        self.text: Final = text
        self.hard: tuple[str, ...] | None = None
        """All hard reasons, if all were looked for."""
        self.first_hard: str | None = None
        """A hard reason, "" if there is none, `None` if nobody looked."""
        self.sentences: Sentences | None = None
        self._plain: bytes | None = None
        self._lower: str | None = None
        self._words: Words | None = None
        self._has_digits: bool | None = None

    @property
    def plain(self) -> bytes:
        """One byte for each character: itself if it is ASCII, else a question mark."""
        plain = self._plain
        if plain is None:
            plain = self._plain = self.text.encode("ascii", "replace")
        return plain

    @property
    def lower(self) -> str:
        """The text in lower case; a place in it is one in the text."""
        lower = self._lower
        if lower is None:
            lower = self.text.lower()
            if len(lower) != len(self.text):
                pieces = self.text.split(_DOTTED_I)
                lower = _DOTTED_I.join([piece.lower() for piece in pieces])
            self._lower = lower
        return lower

    @property
    def words(self) -> Words:
        """Those words of the text, in lower case, that any table asks for."""
        if self._words is None:
            plain = self.plain
            if not self.text.isascii():
                text = self.text
                for odd, letter in _ODD_CASES:
                    text = text.replace(odd, letter)
                plain = plain if text == self.text else text.encode("ascii", "replace")
            self._words = TELLING.intersection(plain.translate(_WORD_BYTES).split())
        return self._words

    @property
    def has_digits(self) -> bool:
        """Whether there is any digit of ASCII."""
        if self._has_digits is None:
            plain = self.plain
            self._has_digits = len(plain.translate(None, b"0123456789")) != len(plain)
        return self._has_digits

    def has(self, phrase: str) -> bool:
        """Tell whether *phrase*, in lower case, stands in the text as words of its own."""
        lower = self.lower
        at = lower.find(phrase)
        while at >= 0:
            end = at + len(phrase)
            if not (_is_letter(lower[at - 1 : at]) or _is_letter(lower[end : end + 1])):
                return True
            at = lower.find(phrase, at + 1)
        return False

    def runs(self, members: bytes, length: int) -> Iterator[Span]:
        """Yield the runs of at least *length* characters for which *members* has a 1."""
        mask = self.plain.translate(members)
        at = mask.find(b"\x01" * length)
        while at >= 0:
            end = mask.find(b"\x00", at)
            end = len(mask) if end < 0 else end
            yield at, end
            at = mask.find(b"\x01" * length, end)

    def forget(self) -> None:
        """Drop the derived forms, which take more memory than the text; findings stay."""
        self._plain = self._lower = self.sentences = None


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


def membership(characters: str) -> bytes:
    """Return the table with which `View.runs` finds runs of these ASCII *characters*."""
    members = characters.encode("ascii")
    return bytes([byte in members for byte in range(256)])
