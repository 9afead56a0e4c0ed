"""One text and the derived forms that several detectors ask for, each made at most once."""

from __future__ import annotations

from typing import Final

from refold.native import mypyc_attr
from refold.text.scan import outline, plain_bytes

_ALL: Final = -1
"""Every bit: as long as nobody has looked, anything may be there."""


@mypyc_attr(acyclic=True)
class Notes:
    """What has been found out about a text, small enough to be kept for another look at it."""

    __slots__ = ("has_long_run", "seen", "signs")

    def __init__(self, signs: int = _ALL) -> None:
        self.signs: Final = signs
        """One bit for each detector that may find something."""
        self.seen: frozenset[bytes] | None = None
        """The words of the detectors' vocabulary that stand in the text."""
        self.has_long_run: bool | None = None
        """Whether there is a run long enough to be a key or encoded data."""


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
        """The bytes with digits and some letters replaced, see `refold.text.scan.outline`."""
        if self._outline is None:
            self._outline = outline(self.plain)
        return self._outline
